//! Clients that are cut off and come back (design G8).

use crate::support::Room;
use annalist_schema::raw::{Json, Object};
use annalist_schema::{Message, Part, id};
use annalist_store::folder::{self, Remember};
use annalist_store::log::is_emptied;
use annalist_store::session::{NewSession, SessionPatch};
use annalist_store::{Create, Durability, Flow, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// One frame of a stream.
pub(crate) struct Told {
    pub(crate) place: Option<String>,
    pub(crate) kind: String,
    pub(crate) event: Object<'static>,
}

impl Told {
    fn properties(&self) -> Object<'_> {
        self.event.get("properties").and_then(Json::as_object).unwrap()
    }
}

/// A client that reads frames.
pub(crate) struct Client {
    stream: TcpStream,
    read: String,
    bytes: Vec<u8>,
}

impl Client {
    pub(crate) async fn open(room: &Room, path: &str, last: Option<&str>) -> Self {
        let mut stream = TcpStream::connect(room.address).await.unwrap();
        let last = last.map(|last| format!("last-event-id: {last}\r\n")).unwrap_or_default();
        // Of version 1.0, so that the body comes as it is.
        let request = format!("GET {path} HTTP/1.0\r\nhost: {}\r\n{last}\r\n", room.address);
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut client = Client { stream, read: String::new(), bytes: vec![0; 64 << 10] };
        let head = client.piece("\r\n\r\n").await.unwrap();
        assert!(head.contains(" 200 "), "{head}");
        assert_eq!(client.next().await.unwrap().kind, "server.connected");
        client
    }

    async fn piece(&mut self, end: &str) -> Option<String> {
        loop {
            if let Some(at) = self.read.find(end) {
                let piece = self.read[..at].to_owned();
                self.read.drain(..at + end.len());
                return Some(piece);
            }
            let count = self.stream.read(&mut self.bytes).await.ok().filter(|count| *count > 0)?;
            self.read.push_str(std::str::from_utf8(&self.bytes[..count]).unwrap());
        }
    }

    /// The next frame; nothing at the end.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        let piece = self.piece("\n\n").await?;
        let mut place = None;
        let mut event = None;
        for line in piece.lines() {
            match line.split_once(": ") {
                Some(("id", value)) => place = Some(value.to_owned()),
                Some(("data", value)) => event = Some(Object::parse(value).unwrap().into_static()),
                _ => panic!("{line}"),
            }
        }
        let event = event.unwrap();
        let kind = event.text("type").unwrap_or_default().into_owned();
        Some(Told { place, kind, event })
    }

    /// The next frame of a type.
    pub(crate) async fn until(&mut self, kind: &str) -> Told {
        loop {
            let told = self.next().await.unwrap_or_else(|| panic!("the stream ended before {kind}"));
            if told.kind == kind {
                return told;
            }
        }
    }
}

fn user(session: &str) -> Message<'static> {
    let id = id::new(id::Kind::Message);
    let text = format!(
        r#"{{"id":"{id}","role":"user","sessionID":"{session}","time":{{"created":{}}},"agent":"build","model":{{"providerID":"p","modelID":"m"}}}}"#,
        id::now_ms()
    );
    Message::from_object(Object::parse(&text).unwrap().into_static())
}

fn part(text: &str) -> Part<'static> {
    let mut part = Object::tagged("type", "text");
    part.set_text("text", text);
    Part::from_object(part)
}

fn finish(cost: i64) -> Part<'static> {
    let text = format!(
        r#"{{"type":"step-finish","reason":"stop","cost":{cost},"tokens":{{"input":1,"output":2,"reasoning":0,"cache":{{"read":0,"write":0}}}}}}"#
    );
    Part::from_object(Object::parse(&text).unwrap().into_static())
}

fn id_of(object: &Object<'_>) -> String {
    object.text("id").unwrap().into_owned()
}

/// Writes about so many events: turns whose text grows, titles, removals, forks, imports and deletions.
fn write(store: &Store, at: &Path, events: u32) {
    let folder = || folder::resolve(at, Remember::No).unwrap();
    let mut sessions: Vec<String> = Vec::new();
    let mut written = 0;
    for round in 0_u32.. {
        if written >= events {
            break;
        }
        if round % 7 == 0 || sessions.is_empty() {
            sessions.push(id_of(store.create_session(NewSession::new(folder())).wait().unwrap().object()));
        }
        let session = sessions[round as usize % sessions.len()].clone();
        let said = store.create_message(user(&session), vec![part("a question"), finish(1), part("")]).wait().unwrap();
        let message = id_of(&said.info.as_object().unwrap());
        let growing = id_of(&said.parts[2].as_object().unwrap());
        for length in 1..=20 {
            let change = move |part: &mut Part<'static>| part.object_mut().set_text("text", &"word ".repeat(length));
            store.update_part_with(&session, &message, &growing, change).wait().unwrap();
        }
        store.patch_session(&session, vec![SessionPatch::Title(format!("title {round}"))]).wait().unwrap();
        written += 26;
        match round % 11 {
            3 => {
                store.remove_part(&session, &message, &growing).wait().unwrap();
            }
            5 => {
                store.remove_message(&session, &message).wait().unwrap();
            }
            7 => sessions.push(id_of(store.fork_session(&session, None).wait().unwrap().session.object())),
            9 if sessions.len() > 2 => {
                store.delete_session(&session).unwrap();
                sessions.retain(|other| *other != session);
            }
            10 => {
                let mut document = Vec::new();
                store.export(&session, false, &mut document).unwrap();
                store.delete_session(&session).unwrap();
                store.import(String::from_utf8(document).unwrap(), folder()).unwrap();
            }
            _ => {}
        }
    }
    let last = sessions.last().unwrap();
    store.patch_session(last, vec![SessionPatch::Title("the end".to_owned())]).wait().unwrap();
}

/// What a client makes of the events.
#[derive(Default)]
struct State {
    sessions: BTreeMap<String, Object<'static>>,
    messages: BTreeMap<String, Object<'static>>,
    parts: BTreeMap<String, Object<'static>>,
}

impl State {
    fn apply(&mut self, told: &Told) {
        let properties = told.properties();
        let inner = |key: &str| properties.get(key).and_then(Json::as_object).map(Object::into_static);
        let named = |key: &str| properties.text(key).unwrap().into_owned();
        let of = |object: &Object<'_>, key: &str, value: &str| object.text(key).as_deref() == Some(value);
        match told.kind.as_str() {
            "session.created" | "session.updated" => {
                let info = inner("info").unwrap();
                self.sessions.insert(id_of(&info), info);
            }
            "session.deleted" => {
                let session = named("sessionID");
                self.sessions.remove(&session);
                self.messages.retain(|_, message| !of(message, "sessionID", &session));
                self.parts.retain(|_, part| !of(part, "sessionID", &session));
            }
            "message.updated" => {
                let info = inner("info").unwrap();
                self.messages.insert(id_of(&info), info);
            }
            "message.removed" => {
                let message = named("messageID");
                self.messages.remove(&message);
                self.parts.retain(|_, part| !of(part, "messageID", &message));
            }
            "message.part.updated" => {
                let part = inner("part").unwrap();
                self.parts.insert(id_of(&part), part);
            }
            "message.part.removed" => {
                self.parts.remove(&named("partID"));
            }
            other => panic!("{other}"),
        }
    }

    /// Equal to what is read now, usage counted from the steps (reference-storage 1.9).
    fn check(&self, store: &Store) {
        let fresh = store.sessions(&annalist_store::query::SessionFilter::default()).unwrap().sessions;
        let ids: BTreeSet<String> = fresh.iter().map(|session| id_of(session.object())).collect();
        assert_eq!(ids, self.sessions.keys().cloned().collect());
        let (mut messages, mut parts) = (0, 0);
        for session in fresh {
            let id = id_of(session.object());
            assert_eq!(session.object().text("title"), self.sessions[&id].text("title"));
            let mut cost = 0.0;
            store
                .stream(&id, |read| {
                    let info = read.info.as_object().unwrap();
                    let message = Json::from(self.messages[&id_of(&info)].clone());
                    assert!(read.info.same_value(&message), "{} is not {message}", read.info);
                    messages += 1;
                    for part in &read.parts {
                        let object = part.as_object().unwrap();
                        let told = Json::from(self.parts[&id_of(&object)].clone());
                        assert!(part.same_value(&told), "{part} is not {told}");
                        cost += object.get("cost").and_then(Json::as_number).map_or(0.0, |cost| cost.as_f64());
                        parts += 1;
                    }
                    Flow::Continue
                })
                .unwrap();
            let shown = session.object().get("cost").and_then(Json::as_number).map_or(0.0, |cost| cost.as_f64());
            assert!((shown - cost).abs() < 1e-6, "{shown} is not {cost}");
        }
        assert_eq!((messages, parts), (self.messages.len(), self.parts.len()));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_is_cut_off_a_hundred_times_misses_nothing() {
    let room = Room::new().await;
    let mut client = Client::open(&room, "/event", None).await;
    let (store, folder) = (room.store.clone(), room.folder.clone());
    let writing = tokio::task::spawn_blocking(move || write(&store, &folder, 5_000));

    let mut state = State::default();
    let mut seen = BTreeSet::new();
    let (mut newest, mut last, mut cuts, mut left) = (String::new(), None, 0, 1_u64);
    loop {
        if left == 0 && cuts < 100 {
            client = Client::open(&room, "/event", last.as_deref()).await;
            cuts += 1;
            left = u64::from(rand::random_range(1..=90_u8));
        }
        let told = client.next().await.expect("the stream goes on");
        left = left.saturating_sub(1);
        let event = id_of(&told.event);
        assert!(event > newest, "{} {event} comes behind {newest}", told.kind);
        newest.clone_from(&event);
        seen.insert(event);
        last = told.place.clone();
        assert!(last.is_some(), "{} says where it stands", told.kind);
        state.apply(&told);
        if told
            .properties()
            .get("info")
            .and_then(Json::as_object)
            .is_some_and(|info| info.text("title").as_deref() == Some("the end"))
        {
            break;
        }
    }
    writing.await.unwrap();
    assert_eq!(cuts, 100);
    state.check(&room.store);
    // Nothing that is in the log now was left out.
    for session in state.sessions.keys() {
        let mut missing = Vec::new();
        room.store
            .read(|view| {
                view.events(session, -1, &mut |row| {
                    if !is_emptied(&row.kind, &row.data) && !seen.contains(&*row.id) {
                        missing.push(format!("{} {}", row.seq, row.kind));
                    }
                    Flow::Continue
                })
            })
            .unwrap();
        assert_eq!(missing, [""; 0], "of {session}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_place_that_is_none_is_answered_with_a_reset() {
    let room = Room::new().await;
    room.session().await;
    for (place, reason) in [("nonsense", "malformed"), ("7", "malformed"), ("999999.evt_1", "ahead"), ("1.evt_other", "unknown")] {
        for path in ["/event", "/global/event"] {
            let mut stream = TcpStream::connect(room.address).await.unwrap();
            let request = format!("GET {path} HTTP/1.0\r\nhost: {}\r\nlast-event-id: {place}\r\n\r\n", room.address);
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut read = String::new();
            let mut buffer = [0; 1024];
            while !read.contains("\"read again what you show") && !read.contains("what you show\"") {
                let count = stream.read(&mut buffer).await.unwrap();
                assert!(count > 0, "{place}: {read}");
                read.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
            }
            assert!(read.contains("\"type\":\"server.reset\""), "{read}");
            assert!(read.contains(&format!("\"reason\":\"{reason}\"")), "{place}: {read}");
        }
    }
    // And from the place that comes with it one goes on.
    let mut client = Client::open(&room, "/event", Some("nonsense")).await;
    let place = client.until("server.reset").await.place.unwrap();
    drop(client);
    let session = room.session().await;
    let mut client = Client::open(&room, "/event", Some(&place)).await;
    let told = client.until("session.created").await;
    assert_eq!(told.properties().text("sessionID").unwrap(), session);
}

/// Another store on the file is another process, as far as this one can tell.
#[tokio::test(flavor = "multi_thread")]
async fn what_others_write_is_told_too() {
    let room = Room::new().await;
    let mut client = Client::open(&room, "/event", None).await;
    let file = room.folder.parent().unwrap().join("record.db");
    let folder = room.folder.clone();
    let other = tokio::task::spawn_blocking(move || {
        let store = Store::open(&file, Create::Never).unwrap();
        let at = folder::resolve(&folder, Remember::No).unwrap();
        let session = id_of(store.create_session(NewSession::new(at)).wait().unwrap().object());
        store.create_message(user(&session), vec![part("from elsewhere")]).wait().unwrap();
        (store, session)
    });
    let (store, session) = other.await.unwrap();
    for kind in ["session.created", "message.updated", "message.part.updated"] {
        client.until(kind).await;
    }
    let gone = session.clone();
    tokio::task::spawn_blocking(move || store.delete_session(&gone).unwrap()).await.unwrap();
    let told = client.until("session.deleted").await;
    assert_eq!(told.properties().text("sessionID").unwrap(), session);
}

/// An event and a sign of life may come at the same moment; the event must not wait for a further one.
#[tokio::test(flavor = "multi_thread")]
async fn no_event_waits_behind_a_sign_of_life() {
    let room = Room::with(|options| options.heartbeat = std::time::Duration::from_millis(1)).await;
    let session = room.session().await;
    let mut client = Client::open(&room, "/event", None).await;
    for round in 0..1_000 {
        let title = format!("title {round}");
        room.store.patch_session(&session, vec![SessionPatch::Title(title)]).await.unwrap();
        client.until("session.updated").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fork_of_five_thousand_messages_cuts_nobody_off() {
    let room = Room::new().await;
    let session = room.session().await;
    let (store, of) = (room.store.clone(), session.clone());
    let filled = tokio::task::spawn_blocking(move || {
        let queued: Vec<_> = (0..5_000).map(|_| store.create_message(user(&of), vec![part("one of many")])).collect();
        queued.into_iter().for_each(|one| drop(one.wait().unwrap()));
    });
    filled.await.unwrap();
    let mut client = Client::open(&room, "/event", None).await;
    let fork = room.post(&format!("/session/{session}/fork"), "{}").await;
    assert_eq!(fork.status, 200, "{}", fork.body);
    let (mut messages, mut parts) = (0, 0);
    while parts < 5_000 {
        let told = client.next().await.expect("nobody is cut off");
        messages += u32::from(told.kind == "message.updated");
        parts += u32::from(told.kind == "message.part.updated");
    }
    assert_eq!(messages, 5_000);
}

/// Memory of this process, in bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4_096
}

/// `ANNALIST_LONG_TESTS=1` makes it 100,000.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_never_reads_costs_its_bound_and_nothing_else() {
    let events: u32 = if std::env::var_os("ANNALIST_LONG_TESTS").is_some() { 100_000 } else { 5_000 };
    let room = Room::new().await;
    let session = room.session().await;
    let message = user(&session);
    let id = id_of(message.object());
    room.store.create_message(message, Vec::new()).await.unwrap();
    let mut silent = Vec::new();
    for path in ["/event", "/global/event"].repeat(10) {
        let mut stream = TcpStream::connect(room.address).await.unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", room.address).as_bytes()).await.unwrap();
        // The answer has begun: it is subscribed.
        stream.readable().await.unwrap();
        silent.push(stream);
    }
    let mut client = Client::open(&room, "/event", None).await;
    let before = resident();
    let (go, mut read_so_far) = tokio::sync::watch::channel(0_u32);
    let store = room.store.clone();
    let writing = tokio::spawn(async move {
        let text = "x".repeat(20_000);
        for number in 0..events {
            let mut new = part(&text);
            new.set_identity(&annalist_schema::id::new(annalist_schema::id::Kind::Part), &session, &id);
            let id_of_part = id_of(new.object());
            store.update_part(new, Durability::Process).await.unwrap();
            store.update_part_delta(&session, &id, &id_of_part, "text", "y");
            // Never further ahead than the reader may fall behind.
            read_so_far.wait_for(|read| number < read + 1_000).await.unwrap();
        }
    });
    let (mut parts, mut deltas) = (0, 0);
    while parts < events || deltas < events {
        let told = client.next().await.expect("the one that reads is not cut off");
        parts += u32::from(told.kind == "message.part.updated");
        deltas += u32::from(told.kind == "message.part.delta");
        go.send_replace(parts.min(deltas));
    }
    writing.await.unwrap();
    let grown = resident().saturating_sub(before);
    // 100 MB were told, to each of 21. Caches of the record are in it.
    assert!(grown < 192 << 20, "{} MB", grown >> 20);
    drop(silent);
}
