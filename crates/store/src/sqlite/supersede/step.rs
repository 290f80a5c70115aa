//! What one event does to which id.

use super::super::project;
use annalist_schema::Json;
use annalist_schema::raw::Object;

/// The optional columns that a `session.updated` writes and that one without them would leave as they are: a bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sqlite) struct Carries(pub(in crate::sqlite) u32);

impl Carries {
    /// Whether everything that `other` writes is written by this one too.
    pub(in crate::sqlite) fn covers(self, other: Carries) -> bool {
        other.0 & !self.0 == 0
    }
}

/// An event, as far as emptying is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sqlite) enum Step {
    /// A snapshot of a message.
    Message {
        /// the message
        id: String,
    },
    /// A snapshot of a part.
    Part {
        /// the part
        id: String,
        /// its message
        message: String,
        /// it counts towards the session's usage, so none of its snapshots is ever emptied
        finish: bool,
    },
    /// A message went, and its parts with it.
    MessageRemoved {
        /// the message
        id: String,
    },
    /// A part went.
    PartRemoved {
        /// the part
        id: String,
    },
    /// A snapshot of the session.
    Session(Carries),
    /// The session came (again), or went with all it had.
    Boundary,
    /// It has no rows, or its projector would refuse it: as if it were not there.
    Nothing,
    /// A version of a known event that only a newer program knows. What it does to the ids before it nobody can say.
    Unknown,
}

impl Step {
    /// Looks at an event of a session's log.
    pub(in crate::sqlite) fn of(session: &str, kind: &str, data: &Object<'_>) -> Step {
        if !project::projected().any(|known| known == kind) {
            let ours = ["session.", "message."].iter().any(|group| kind.starts_with(group)) && !kind.starts_with("session.next.");
            return if ours { Step::Unknown } else { Step::Nothing };
        }
        if data.text("sessionID").as_deref() != Some(session) {
            return Step::Nothing;
        }
        let named = |key: &str| data.text(key).map(std::borrow::Cow::into_owned);
        let found = match kind {
            "message.updated.1" => inner(data, "info").and_then(|info| Some(Step::Message { id: info.text("id")?.into_owned() })),
            "message.part.updated.1" => inner(data, "part").and_then(|part| {
                Some(Step::Part {
                    id: part.text("id")?.into_owned(),
                    message: part.text("messageID")?.into_owned(),
                    finish: part.text("type").as_deref() == Some("step-finish"),
                })
            }),
            "message.removed.1" => named("messageID").map(|id| Step::MessageRemoved { id }),
            "message.part.removed.1" => named("partID").map(|id| Step::PartRemoved { id }),
            "session.updated.1" => {
                inner(data, "info").and_then(|info| Some(Step::Session(Carries(project::session_carries(kind, &info).ok()?))))
            }
            "session.created.1" | "session.deleted.1" => Some(Step::Boundary),
            _ => None,
        };
        found.unwrap_or(Step::Nothing)
    }

    /// The same, of stored bytes; nothing if they are no JSON object.
    pub(in crate::sqlite) fn of_bytes(session: &str, kind: &str, data: &[u8]) -> Option<Step> {
        Some(Step::of(session, kind, &Object::parse(std::str::from_utf8(data).ok()?).ok()?))
    }
}

fn inner<'o>(data: &'o Object<'_>, key: &str) -> Option<Object<'o>> {
    data.get(key).and_then(Json::as_object)
}
