//! What sessions are doing. It is kept in memory alone: a process that died is not busy (user reports C54, C55), and a status
//! is never guessed from rows.

use annalist_schema::event::{SessionIdle, SessionStatusChanged};
use annalist_schema::{PassingEvent, SessionStatus};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What the sessions of this process are doing. A session that is not named is idle.
#[derive(Default)]
pub struct Statuses {
    active: Mutex<BTreeMap<String, SessionStatus<'static>>>,
    /// Held while a change is told, so that changes are told in the order in which they were made.
    telling: Mutex<()>,
}

impl Statuses {
    /// All sessions idle.
    #[must_use]
    pub fn new() -> Self {
        Statuses::default()
    }

    /// What a session is doing.
    #[must_use]
    pub fn get(&self, session: &str) -> SessionStatus<'static> {
        self.lock().get(session).cloned().unwrap_or_else(SessionStatus::idle)
    }

    /// The sessions that are not idle, by id.
    #[must_use]
    pub fn active(&self) -> Vec<(String, SessionStatus<'static>)> {
        self.lock().iter().map(|(session, status)| (session.clone(), status.clone())).collect()
    }

    /// Sets it and tells `publish`: `session.status`, and `session.idle` behind it if that is what it is. As in the reference
    /// (reference-engine 4.3) the same status is told again each time it is set.
    ///
    /// `publish` may read statuses, and must not set one.
    pub fn set(&self, session: &str, status: SessionStatus<'static>, publish: &dyn Fn(PassingEvent<'static>)) {
        let _in_order = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = matches!(status, SessionStatus::Idle(_));
        if idle {
            self.lock().remove(session);
        } else {
            self.lock().insert(session.to_owned(), status.clone());
        }
        let mut changed = SessionStatusChanged::default();
        changed.set_session_id(session.into()).set_status(status);
        publish(changed.into());
        if idle {
            let mut event = SessionIdle::default();
            event.set_session_id(session.into());
            publish(event.into());
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, SessionStatus<'static>>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn every_set_is_told_and_idle_drops_the_entry() {
        let statuses = Statuses::new();
        let told = RefCell::new(Vec::new());
        let set = |session: &str, status| {
            statuses.set(session, status, &|event| {
                // The change is there before anybody hears of it.
                let now = statuses.get(session).tag().map(|tag| tag.into_owned());
                told.borrow_mut().push((event.event_type().to_owned(), event.data().to_text(), now.unwrap_or_default()));
            });
        };
        set("ses_1", SessionStatus::busy());
        set("ses_1", SessionStatus::busy());
        set("ses_2", SessionStatus::retry(2, "overloaded", 5));
        let active = statuses.active();
        assert_eq!(
            active.iter().map(|(id, status)| (id.as_str(), status.to_text())).collect::<Vec<_>>(),
            [
                ("ses_1", r#"{"type":"busy"}"#.to_owned()),
                ("ses_2", r#"{"type":"retry","attempt":2,"message":"overloaded","next":5}"#.to_owned()),
            ]
        );
        set("ses_1", SessionStatus::idle());
        set("ses_3", SessionStatus::idle());
        assert_eq!(statuses.active().len(), 1);
        assert_eq!(statuses.get("ses_1"), SessionStatus::idle());

        let busy = r#"{"sessionID":"ses_1","status":{"type":"busy"}}"#;
        let retry = r#"{"sessionID":"ses_2","status":{"type":"retry","attempt":2,"message":"overloaded","next":5}}"#;
        let expected = [
            ("session.status", busy, "busy"),
            ("session.status", busy, "busy"),
            ("session.status", retry, "retry"),
            ("session.status", r#"{"sessionID":"ses_1","status":{"type":"idle"}}"#, "idle"),
            ("session.idle", r#"{"sessionID":"ses_1"}"#, "idle"),
            ("session.status", r#"{"sessionID":"ses_3","status":{"type":"idle"}}"#, "idle"),
            ("session.idle", r#"{"sessionID":"ses_3"}"#, "idle"),
        ];
        let told = told.into_inner();
        assert_eq!(told.iter().map(|(kind, data, now)| (kind.as_str(), data.as_str(), now.as_str())).collect::<Vec<_>>(), expected);
    }
}
