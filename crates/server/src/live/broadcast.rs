//! A teller that looks for itself: around each write of this server it reads what came into the session's log.
//!
//! It stands in for the record's own bus: it hears of no other process, keeps nothing for those who come back, and knows
//! one bound for all. Nothing beside this file knows of it.

use super::{Frame, Frames, Later, Live, Scope};
use crate::error::Problem;
use annalist_schema::event::{EventFrame, GlobalFrame, Payload, SessionDeleted, SyncEvent, SyncPayload};
use annalist_schema::raw::{Json, Object};
use annalist_schema::{DurableEvent, Event, Field as _, PassingEvent, Session, id};
use annalist_store::backend::Flow;
use annalist_store::log::is_emptied;
use annalist_store::{Store, backend};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::broadcast;
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::BroadcastStream;

/// Events that wait for a slow subscriber before it is cut off.
const WAITING: usize = 4_096;

/// What was told: the frame for its folder, and those for everywhere.
struct Told {
    folder: String,
    frame: Arc<str>,
    everywhere: Vec<Arc<str>>,
}

pub(crate) struct Broadcast {
    told: broadcast::Sender<Arc<Told>>,
    /// The number of the last event that was told, of each session written while somebody listened.
    last: Mutex<HashMap<String, i64>>,
}

/// An event of the log with what its frames need.
struct Row {
    id: String,
    seq: i64,
    event: DurableEvent<'static>,
}

impl Broadcast {
    pub(crate) fn new() -> Self {
        Broadcast { told: broadcast::Sender::new(WAITING), last: Mutex::default() }
    }

    fn last(&self) -> MutexGuard<'_, HashMap<String, i64>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn heard(&self) -> bool {
        self.told.receiver_count() > 0
    }

    fn tell(&self, folder: &str, project: Option<&str>, event: EventFrame<'_>, sync: Option<SyncPayload<'_>>) {
        let frame = event.to_text().into();
        let mut everywhere = vec![global(folder, project, Payload::Event(event))];
        everywhere.extend(sync.map(|sync| global(folder, project, Payload::Sync(sync))));
        // Nobody listens: nothing is lost.
        self.told.send(Arc::new(Told { folder: folder.to_owned(), frame, everywhere })).ok();
    }

    fn tell_row(&self, row: &Row, folder: &str, project: &str) {
        let session = row.event.aggregate_id().map(Cow::into_owned).unwrap_or_default();
        let sync = SyncEvent::new(&row.id, u64::try_from(row.seq).unwrap_or(0), &session, &row.event);
        let frame = EventFrame::new(&row.id, &Event::Durable(row.event.clone()));
        self.tell(folder, Some(project), frame, Some(SyncPayload::new(sync)));
    }

    async fn tell_new(&self, store: &Store, session: &str, from: i64) -> Result<(), Problem> {
        let (at, id) = (store.clone(), session.to_owned());
        let read = tokio::task::spawn_blocking(move || at.read(|view| news(view, &id, from)));
        let (rows, folder, project) = read.await.map_err(Problem::internal)??;
        let mut last = self.last();
        for row in rows {
            // Two writes to one session may end in either order; each event is told once, in the order of the log.
            let known = last.entry(session.to_owned()).or_insert(from);
            if row.seq > *known {
                *known = row.seq;
                self.tell_row(&row, &folder, &project);
            }
        }
        Ok(())
    }
}

impl Live for Broadcast {
    fn subscribe(&self, scope: Scope) -> Frames {
        let told = BroadcastStream::new(self.told.subscribe());
        // An error says that the subscriber lags: its stream ends.
        let told = told.take_while(Result::is_ok).filter_map(Result::ok);
        match scope {
            Scope::Folder(folder) => {
                let wanted = told.filter(move |told| told.folder == folder);
                Box::pin(wanted.map(|told| Frame { position: None, data: Arc::clone(&told.frame) }))
            }
            Scope::All => {
                // One event is two frames here; they are sent as one, each with its own end.
                Box::pin(told.map(|told| Frame { position: None, data: told.everywhere.join("\n\ndata: ").into() }))
            }
        }
    }

    fn passing(&self, folder: &str, project: Option<&str>, event: PassingEvent<'_>) {
        if self.heard() {
            let frame = EventFrame::new(&id::new(id::Kind::Event), &Event::Passing(event));
            self.tell(folder, project, frame, None);
        }
    }

    fn before<'a>(&'a self, store: &'a Store, session: &'a str) -> Later<'a, Result<(), Problem>> {
        Box::pin(async move {
            if self.heard() && !self.last().contains_key(session) {
                let (store, id) = (store.clone(), session.to_owned());
                let read = tokio::task::spawn_blocking(move || store.read(|view| view.sequence(&id)));
                let seq = read.await.map_err(Problem::internal)??.unwrap_or(-1);
                self.last().entry(session.to_owned()).or_insert(seq);
            }
            Ok(())
        })
    }

    fn after<'a>(&'a self, store: &'a Store, session: &'a str) -> Later<'a, Result<(), Problem>> {
        Box::pin(async move {
            if !self.heard() {
                // What is written now is not told later.
                self.last().clear();
                return Ok(());
            }
            let from = self.last().get(session).copied();
            match from {
                Some(from) => self.tell_new(store, session, from).await,
                None => Ok(()),
            }
        })
    }

    fn made<'a>(&'a self, store: &'a Store, session: &'a str) -> Later<'a, Result<(), Problem>> {
        Box::pin(async move { if self.heard() { self.tell_new(store, session, -1).await } else { Ok(()) } })
    }

    fn deleted(&self, info: &Session<'_>, seq: i64) {
        let Ok(event) = SessionDeleted::new(info) else { return };
        let row = Row { id: id::new(id::Kind::Event), seq, event: event.into() };
        let text = |key: &str| info.object().text(key).map(Cow::into_owned).unwrap_or_default();
        self.last().remove(&text("id"));
        if self.heard() {
            self.tell_row(&row, &text("directory"), &text("projectID"));
        }
    }
}

/// The events of a session behind `from`, its folder and its project.
fn news(view: &dyn backend::Snapshot, session: &str, from: i64) -> Result<(Vec<Row>, String, String), annalist_store::Error> {
    let mut rows = Vec::new();
    view.events(session, from, &mut |row| {
        // What replaced it comes later.
        if is_emptied(&row.kind, &row.data) {
            return Flow::Continue;
        }
        // An event whose data is no object is passed over, as by a replay.
        if let Ok(data) = annalist_schema::raw::utf8(&row.data).and_then(Object::parse) {
            let event = DurableEvent::from_versioned(row.kind.into_owned(), data.into_static());
            rows.push(Row { id: row.id.into_owned(), seq: row.seq, event });
        }
        Flow::Continue
    })?;
    let info = view.session(session)?;
    let text = |cell: Option<&annalist_store::row::Cell>| cell.and_then(|cell| cell.text()).unwrap_or_default().to_owned();
    let folder = text(info.as_ref().map(|row| &row.directory));
    let project = text(info.as_ref().map(|row| &row.project_id));
    Ok((rows, folder, project))
}

fn global(folder: &str, project: Option<&str>, payload: Payload<'_>) -> Arc<str> {
    let mut frame = GlobalFrame::default();
    frame.set_directory(Some(folder.into())).set_project(project.map(Into::into));
    let payload: Json<'static> = payload.to_json();
    frame.object_mut().set("payload", payload);
    frame.to_text().into()
}
