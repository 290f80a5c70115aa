//! What a subscriber is sent: deliveries of the record's bus as frames of the wire (reference-storage 3.5).
//!
//! On `/event` an event is one frame; on `/global/event` it is wrapped in its folder and project, and one of the log is told
//! twice, live and then as `sync`. The `id:` line stands on the last frame of an event of the log: who was cut off before it
//! asks for that event again.

use super::homes::{Home, Homes};
use super::{Live, Scope};
use annalist_schema::event::{EventFrame, GlobalFrame, Payload, SyncEvent, SyncPayload};
use annalist_schema::raw::Object;
use annalist_schema::{DurableEvent, Event, Field as _, PassingEvent, id};
use annalist_store::bus::{Also, Change, Notice, Subject};
use annalist_store::log::Logged;
use annalist_store::{Delivery, Error, Interest, Passing, Reset, Start, Subscription};
use std::sync::Arc;

/// Bytes of frames that are made at a time.
const BATCH: usize = 64 << 10;

/// One subscriber of the record.
pub(crate) struct Frames {
    live: Arc<Live>,
    scope: Scope,
    events: Subscription,
}

/// What came of a look.
pub(crate) struct Batch {
    /// frames, as they are sent
    pub(crate) text: String,
    /// nothing comes after it
    pub(crate) over: bool,
}

impl Frames {
    /// Subscribes. Blocks.
    pub(crate) fn open(live: &Arc<Live>, scope: Scope, start: Start) -> Result<Self, Error> {
        let also = match &scope {
            Scope::All => None,
            Scope::Folder(folder) => Some(of_folder(Arc::clone(&live.homes), folder)),
        };
        let interest = Interest { also, bound: live.bound, ..Interest::all() };
        Ok(Frames { events: live.store.catch_up(interest, start)?, live: Arc::clone(live), scope })
    }

    /// Waits until there may be something.
    pub(crate) async fn ready(&mut self) -> Result<(), Error> {
        self.events.ready().await
    }

    /// Whether it fell too far behind: nothing more will come.
    pub(crate) fn is_lagged(&self) -> bool {
        self.events.is_lagged()
    }

    /// The frames that are there now, some at a time; none if there is nothing. Blocks: it reads the log.
    pub(crate) fn look(&mut self) -> Batch {
        let mut batch = Batch { text: String::new(), over: false };
        while batch.text.len() < BATCH && !batch.over {
            match self.events.try_next() {
                Ok(Some(Delivery::Lagged)) => batch.over = true,
                Ok(Some(delivery)) => {
                    if let Err(error) = self.tell(&delivery, &mut batch.text) {
                        tracing::warn!("an event stream ends: {error}");
                        batch.over = true;
                    }
                }
                Ok(None) => break,
                // Told once; the stream goes on with what this process writes.
                Err(error @ Error::Watching { .. }) => tracing::warn!("{error}"),
                Err(error) => {
                    tracing::warn!("an event stream ends: {error}");
                    batch.over = true;
                }
            }
        }
        batch
    }

    fn tell(&self, delivery: &Delivery, out: &mut String) -> Result<(), Error> {
        match delivery {
            Delivery::Event(event) => self.event(event, out),
            Delivery::Notice(notice) => self.notice(notice, out),
            Delivery::Passing(passing) => {
                self.passing(passing, out);
                Ok(())
            }
            Delivery::Reset(reset) => {
                self.reset(*reset, out);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn wants(&self, home: Option<&Home>) -> bool {
        match &self.scope {
            Scope::All => true,
            // A session that nobody knows any more: who never had it is not harmed by hearing that it went.
            Scope::Folder(folder) => home.is_none_or(|home| *home.folder == **folder),
        }
    }

    fn event(&self, row: &Logged, out: &mut String) -> Result<(), Error> {
        // Data that is no object is passed over, as by a replay.
        let Ok(data) = annalist_schema::raw::utf8(&row.data).and_then(Object::parse) else { return Ok(()) };
        let home = self.live.homes.of_event(&self.live.store, &row.session, &data)?;
        if self.wants(home.as_deref()) {
            let event = DurableEvent::from_versioned(row.kind.as_str(), data);
            self.durable(&row.id, Some(row.seq), &row.session, event, home.as_deref(), out);
        }
        Ok(())
    }

    fn durable(&self, id: &str, seq: Option<i64>, session: &str, event: DurableEvent<'_>, home: Option<&Home>, out: &mut String) {
        let place = self.events.position().map(ToString::to_string);
        let sync = seq
            .filter(|_| self.scope == Scope::All)
            .map(|seq| SyncPayload::new(SyncEvent::new(id, u64::try_from(seq).unwrap_or(0), session, &event)));
        let frame = EventFrame::new(id, &Event::Durable(event));
        match &self.scope {
            Scope::Folder(_) => write(place.as_deref(), &frame.to_text(), out),
            Scope::All => {
                let live = global(home, Payload::Event(frame));
                match sync {
                    None => write(place.as_deref(), &live, out),
                    Some(sync) => {
                        write(None, &live, out);
                        write(place.as_deref(), &global(home, Payload::Sync(sync)), out);
                    }
                }
            }
        }
    }

    fn notice(&self, notice: &Notice, out: &mut String) -> Result<(), Error> {
        let homes = &self.live.homes;
        let told = notice.data.as_deref().and_then(|text| Object::parse(text).ok());
        let data = match (told, notice.change) {
            (Some(data), _) => data,
            (None, Change::Created) => match self.live.store.session(&notice.session) {
                Ok(info) => about(&notice.session, info.into_object()),
                // It went again meanwhile, which is told next.
                Err(Error::NotFound { .. }) => return Ok(()),
                Err(error) => return Err(error),
            },
            (None, Change::Deleted) => {
                let mut info = Object::new();
                info.set_text("id", &notice.session);
                about(&notice.session, info)
            }
        };
        let home = homes.of_event(&self.live.store, &notice.session, &data)?;
        if self.wants(home.as_deref()) {
            let event = DurableEvent::from_type(notice.change.event_type(), data);
            self.durable(&notice.id, notice.seq, &notice.session, event, home.as_deref(), out);
        }
        Ok(())
    }

    fn passing(&self, passing: &Passing, out: &mut String) {
        let frame = EventFrame::new(&passing.id, &Event::Passing(passing.event.clone()));
        match &self.scope {
            Scope::Folder(_) => write(None, &frame.to_text(), out),
            Scope::All => {
                let known = passing.session.as_deref().and_then(|session| self.live.homes.get(session));
                let home = known.or_else(|| {
                    let folder = passing.folder.as_deref()?;
                    Some(Arc::new(Home { folder: folder.into(), project: "".into() }))
                });
                write(None, &global(home.as_deref(), Payload::Event(frame)), out);
            }
        }
    }

    /// Nobody's silence: what the client shows has to be read anew, and from where it can go on is said with it.
    fn reset(&self, reset: Reset, out: &mut String) {
        let mut data = Object::new();
        data.set_text(
            "reason",
            match reset {
                Reset::Malformed => "malformed",
                Reset::Ahead => "ahead",
                Reset::Unknown => "unknown",
            },
        );
        data.set_text("message", &format!("{reset}; read again what you show"));
        let frame = EventFrame::new(&id::new(id::Kind::Event), &Event::Passing(PassingEvent::from_type("server.reset", data)));
        let text = match &self.scope {
            Scope::Folder(_) => frame.to_text(),
            Scope::All => global(None, Payload::Event(frame)),
        };
        write(self.events.position().map(ToString::to_string).as_deref(), &text, out);
    }
}

/// What may be of a folder: asked before anything waits. A session's own events are let through, for it may have moved.
fn of_folder(homes: Arc<Homes>, folder: &str) -> Also {
    let folder: Box<str> = folder.into();
    Arc::new(move |subject: &Subject<'_>| match (subject.folder, subject.session) {
        (Some(of), _) => of == &*folder,
        (None, Some(session)) => {
            subject.event_type.starts_with("session.") || homes.get(session).is_none_or(|home| home.folder == folder)
        }
        (None, None) => true,
    })
}

fn about(session: &str, info: Object<'static>) -> Object<'static> {
    let mut data = Object::new();
    data.set_text("sessionID", session);
    data.set("info", info);
    data
}

fn global(home: Option<&Home>, payload: Payload<'_>) -> String {
    let mut frame = GlobalFrame::default();
    if let Some(home) = home {
        frame.set_directory(Some((&*home.folder).into()));
        frame.set_project(Some(&*home.project).filter(|project| !project.is_empty()).map(Into::into));
    }
    frame.object_mut().set("payload", payload.to_json());
    frame.to_text()
}

/// One frame, as it is sent.
pub(super) fn write(place: Option<&str>, data: &str, out: &mut String) {
    if let Some(place) = place {
        out.push_str("id: ");
        out.push_str(place);
        out.push('\n');
    }
    out.push_str("data: ");
    out.push_str(data);
    out.push_str("\n\n");
}
