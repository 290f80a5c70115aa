//! A server on a fresh file, and a client that writes HTTP by hand: what is on the wire is what is tested.

use annalist_schema::raw::{Json, Object};
use annalist_server::{Options, Places, Server};
use annalist_store::{Create, Store};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

pub(crate) struct Room {
    pub(crate) address: SocketAddr,
    pub(crate) folder: PathBuf,
    pub(crate) store: Store,
    end: Option<oneshot::Sender<()>>,
    serving: JoinHandle<std::io::Result<()>>,
    _home: TempDir,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.head.lines().skip(1).find_map(|line| {
            let (given, value) = line.split_once(':')?;
            given.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
        })
    }

    pub(crate) fn object(&self) -> Object<'_> {
        Object::parse(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }

    pub(crate) fn list(&self) -> Vec<Json<'static>> {
        let json = Json::parse(self.body.clone()).unwrap();
        json.into_array().unwrap()
    }

    pub(crate) fn text(&self, key: &str) -> String {
        self.object().text(key).unwrap_or_default().into_owned()
    }
}

impl Room {
    pub(crate) async fn new() -> Self {
        Room::with(|_| {}).await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut Options)) -> Self {
        let home = tempfile::tempdir().unwrap();
        let at = home.path().canonicalize().unwrap();
        let folder = at.join("work");
        fs::create_dir_all(&folder).unwrap();
        let places = Places {
            home: at.clone(),
            state: at.join("state"),
            config: at.join("config"),
            config_file: None,
            config_content: Some("{\"model\":\"chat/m1\"}".to_owned()),
        };
        let mut options = Options::new(folder.clone(), places);
        options.port = 0;
        change(&mut options);
        let store = Store::open(&at.join("record.db"), Create::IfMissing).unwrap();
        let server = Server::bind(store.clone(), options).await.unwrap();
        let address = server.address();
        let (end, ended) = oneshot::channel::<()>();
        let serving = tokio::spawn(server.run(async {
            ended.await.ok();
        }));
        Room { address, folder, store, end: Some(end), serving, _home: home }
    }

    /// Tells the server to end, and waits until it did.
    pub(crate) async fn end(mut self) -> std::io::Result<()> {
        self.tell_to_end();
        self.serving.await.unwrap()
    }

    pub(crate) fn tell_to_end(&mut self) {
        self.end.take().unwrap().send(()).unwrap();
    }

    /// Sends bytes as they are and reads until the server closes.
    pub(crate) async fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(bytes).await.unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        answer(&all)
    }

    pub(crate) async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request.push_str(&format!("host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        self.raw(&[request.as_bytes(), body].concat()).await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], b"").await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        self.ask("POST", path, &[("content-type", "application/json")], body.as_bytes()).await
    }

    /// A new session's id.
    pub(crate) async fn session(&self) -> String {
        let made = self.post("/session", "{\"title\":\"one\"}").await;
        assert_eq!(made.status, 200, "{}", made.body);
        made.text("id")
    }

    /// A prompt with one text; the message's id.
    pub(crate) async fn say(&self, session: &str, text: &str) -> String {
        let body = format!("{{\"noReply\":true,\"parts\":[{{\"type\":\"text\",\"text\":{}}}]}}", Json::text(text));
        let said = self.post(&format!("/session/{session}/message"), &body).await;
        assert_eq!(said.status, 200, "{}", said.body);
        let said = said.object();
        let info = said.get("info").and_then(Json::as_object).unwrap();
        info.text("id").unwrap().into_owned()
    }

    /// Everything in the record that a request could change.
    pub(crate) fn everything(&self) -> String {
        let mut all = String::new();
        let sessions = self.store.sessions(&annalist_store::query::SessionFilter::default()).unwrap().sessions;
        for session in sessions {
            let id = session.object().text("id").unwrap().into_owned();
            all.push_str(&session.to_text());
            all.push_str(&format!("{:?}", self.store.read(|view| view.sequence(&id)).unwrap()));
            self.store
                .stream(&id, |message| {
                    all.push_str(&format!("{:?}{:?}", message.info, message.parts));
                    annalist_store::Flow::Continue
                })
                .unwrap();
        }
        all
    }

    pub(crate) fn write(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.folder.join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        fs::write(&path, content).unwrap();
        path
    }
}

fn answer(bytes: &[u8]) -> Answer {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_else(|| panic!("no answer: {text:?}"));
    let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunked(body) } else { body.to_owned() };
    Answer { status, head: head.to_owned(), body }
}

fn unchunked(mut text: &str) -> String {
    let mut out = String::new();
    while let Some((size, rest)) = text.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size, 16) else { break };
        if size == 0 {
            break;
        }
        out.push_str(rest.get(..size).unwrap_or(rest));
        text = rest.get(size + 2..).unwrap_or_default();
    }
    out
}

/// An event stream that is read line by line.
pub(crate) struct Stream {
    stream: TcpStream,
    read: String,
}

impl Stream {
    pub(crate) async fn open(room: &Room, path: &str) -> Self {
        let mut stream = TcpStream::connect(room.address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", room.address);
        stream.write_all(request.as_bytes()).await.unwrap();
        Stream { stream, read: String::new() }
    }

    /// Reads on until a text has come; all that was read so far, and nothing if the stream ended before.
    pub(crate) async fn until(&mut self, wanted: &str) -> Option<&str> {
        let mut buffer = [0; 4096];
        while !self.read.contains(wanted) {
            let count = self.stream.read(&mut buffer).await.unwrap();
            if count == 0 {
                return None;
            }
            self.read.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        Some(&self.read)
    }

    /// Reads to the end.
    pub(crate) async fn rest(mut self) -> String {
        assert!(self.until("this never comes").await.is_none());
        self.read
    }
}
