//! Events: what happened, as the log keeps it and as subscribers hear it.
//!
//! The two tables below are the only lists of events. A durable one is stored, numbered and replayed; a passing one is
//! only told. An event of neither table (`session.next.*`, those of later versions) is `Unknown`, and is kept as it is.

mod frame;
mod message;
mod notice;
mod permission;
mod server;
mod session;
mod todo;

pub use frame::{EventFrame, GlobalFrame, Payload, SyncEvent, SyncPayload};
pub use message::{MessagePartDelta, MessagePartRemoved, MessagePartUpdated, MessageRemoved, MessageUpdated};
pub use notice::{CommandExecuted, FileEdited, ProjectUpdated};
pub use permission::{PermissionAsked, PermissionReplied};
pub use server::{GlobalDisposed, ServerConnected, ServerHeartbeat, ServerInstanceDisposed};
pub use session::{
    SessionCompacted, SessionCreated, SessionDeleted, SessionDiff, SessionError, SessionIdle, SessionStatusChanged, SessionUpdated,
};
pub use todo::TodoUpdated;

use crate::field::{Path, Problem, Wrong};
use crate::raw::Object;
use std::borrow::Cow;

/// An event that a table does not know: its type and its data as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct UnknownEvent<'a> {
    /// The type, with its version where the log has one.
    pub event_type: Cow<'a, str>,
    /// The data.
    pub data: Object<'a>,
}

/// A table of events: each line is `"wire.type" => Variant(View),`. A `durable enum` has the version of its type behind
/// it, `"wire.type" @ 1`.
macro_rules! events {
    (
        $(#[$meta:meta])*
        pub durable enum $name:ident {
            $( $wire:literal @ $version:literal => $variant:ident($view:ident) ),* $(,)?
        }
    ) => {
        events! {
            $(#[$meta])*
            pub enum $name {
                $( $wire => $variant($view), )*
            }
        }

        impl $name<'_> {
            /// The versioned types this version writes and replays.
            pub const VERSIONED: &'static [&'static str] = &[$( concat!($wire, ".", $version) ),*];

            fn split_version(versioned: &str) -> Option<&'static str> {
                match versioned {
                    $( concat!($wire, ".", $version) => Some($wire), )*
                    _ => None,
                }
            }

            /// The type as the log has it, `<type>.<version>`.
            #[must_use]
            pub fn versioned_type(&self) -> &str {
                match self {
                    $( Self::$variant(_) => concat!($wire, ".", $version), )*
                    Self::Unknown(event) => &event.event_type,
                }
            }
        }
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $wire:literal => $variant:ident($view:ident) ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name<'a> {
            $( #[doc = concat!("`", $wire, "`")] $variant($view<'a>), )*
            /// Anything else, carried along as it is.
            Unknown(UnknownEvent<'a>),
        }

        impl<'a> $name<'a> {
            /// The types of this table, without versions.
            pub const TYPES: &'static [&'static str] = &[$($wire),*];

            /// Tells an event by its type without a version; never fails.
            #[must_use]
            pub fn from_type(event_type: impl Into<Cow<'a, str>>, data: Object<'a>) -> Self {
                let event_type = event_type.into();
                match &*event_type {
                    $( $wire => Self::$variant($view::from_object(data)), )*
                    _ => Self::Unknown(UnknownEvent { event_type, data }),
                }
            }

            /// The type without a version; for an unknown event the type as given.
            #[must_use]
            pub fn event_type(&self) -> &str {
                match self {
                    $( Self::$variant(_) => $wire, )*
                    Self::Unknown(event) => &event.event_type,
                }
            }

            /// The data.
            #[must_use]
            pub fn data(&self) -> &Object<'a> {
                match self {
                    $( Self::$variant(view) => view.object(), )*
                    Self::Unknown(event) => &event.data,
                }
            }

            /// The data itself.
            #[must_use]
            pub fn into_data(self) -> Object<'a> {
                match self {
                    $( Self::$variant(view) => view.into_object(), )*
                    Self::Unknown(event) => event.data,
                }
            }

            /// The same event with texts of its own.
            #[must_use]
            pub fn into_static(self) -> $name<'static> {
                match self {
                    $( Self::$variant(view) => $name::$variant(view.into_static()), )*
                    Self::Unknown(event) => $name::Unknown(UnknownEvent {
                        event_type: Cow::Owned(event.event_type.into_owned()),
                        data: event.data.into_static(),
                    }),
                }
            }

            /// Everything in the data that does not fit the model, at every level; empty for a sound event.
            #[must_use]
            pub fn problems(&self) -> Vec<Problem> {
                let mut path = Path::default();
                match self {
                    $( Self::$variant(view) => view.check_fields(&mut path), )*
                    Self::Unknown(event) => path.within("type", |path| {
                        path.report(Wrong::Unknown { what: "event type", value: event.event_type.clone().into_owned() });
                    }),
                }
                path.into_problems()
            }
        }

        $(
            impl<'a> From<$view<'a>> for $name<'a> {
                fn from(value: $view<'a>) -> Self {
                    Self::$variant(value)
                }
            }
        )*
    };
}

events! {
    /// An event of the log (reference-storage 3.1): its aggregate is the session named in `sessionID`.
    pub durable enum DurableEvent {
        "session.created" @ 1 => SessionCreated(SessionCreated),
        "session.updated" @ 1 => SessionUpdated(SessionUpdated),
        "session.deleted" @ 1 => SessionDeleted(SessionDeleted),
        "message.updated" @ 1 => MessageUpdated(MessageUpdated),
        "message.removed" @ 1 => MessageRemoved(MessageRemoved),
        "message.part.updated" @ 1 => MessagePartUpdated(MessagePartUpdated),
        "message.part.removed" @ 1 => MessagePartRemoved(MessagePartRemoved),
    }
}

events! {
    /// An event that is told and not stored.
    pub enum PassingEvent {
        "message.part.delta" => MessagePartDelta(MessagePartDelta),
        "session.diff" => SessionDiff(SessionDiff),
        "session.error" => SessionError(SessionError),
        "session.status" => SessionStatusChanged(SessionStatusChanged),
        "session.idle" => SessionIdle(SessionIdle),
        "session.compacted" => SessionCompacted(SessionCompacted),
        "todo.updated" => TodoUpdated(TodoUpdated),
        "permission.asked" => PermissionAsked(PermissionAsked),
        "permission.replied" => PermissionReplied(PermissionReplied),
        "command.executed" => CommandExecuted(CommandExecuted),
        "file.edited" => FileEdited(FileEdited),
        "project.updated" => ProjectUpdated(ProjectUpdated),
        "server.connected" => ServerConnected(ServerConnected),
        "server.heartbeat" => ServerHeartbeat(ServerHeartbeat),
        "server.instance.disposed" => ServerInstanceDisposed(ServerInstanceDisposed),
        "global.disposed" => GlobalDisposed(GlobalDisposed),
    }
}

impl<'a> DurableEvent<'a> {
    /// Tells an event by its type with a version, as a row of the log has it; never fails. Another version of a known
    /// type is as unknown as another type.
    #[must_use]
    pub fn from_versioned(versioned: impl Into<Cow<'a, str>>, data: Object<'a>) -> Self {
        let versioned = versioned.into();
        match Self::split_version(&versioned) {
            Some(event_type) => Self::from_type(event_type, data),
            None => Self::Unknown(UnknownEvent { event_type: versioned, data }),
        }
    }

    /// The session that the event is of; nothing if the data does not say.
    #[must_use]
    pub fn aggregate_id(&self) -> Option<Cow<'_, str>> {
        self.data().text("sessionID")
    }
}

/// An event of either kind, as subscribers hear it.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// It is in the log.
    Durable(DurableEvent<'a>),
    /// It is not, or nothing is known about it.
    Passing(PassingEvent<'a>),
}

impl<'a> Event<'a> {
    /// Tells an event by its type without a version; never fails.
    #[must_use]
    pub fn from_type(event_type: impl Into<Cow<'a, str>>, properties: Object<'a>) -> Self {
        let event_type = event_type.into();
        if DurableEvent::TYPES.contains(&&*event_type) {
            Event::Durable(DurableEvent::from_type(event_type, properties))
        } else {
            Event::Passing(PassingEvent::from_type(event_type, properties))
        }
    }

    /// The type without a version.
    #[must_use]
    pub fn event_type(&self) -> &str {
        match self {
            Event::Durable(event) => event.event_type(),
            Event::Passing(event) => event.event_type(),
        }
    }

    /// The data.
    #[must_use]
    pub fn data(&self) -> &Object<'a> {
        match self {
            Event::Durable(event) => event.data(),
            Event::Passing(event) => event.data(),
        }
    }

    /// The same event with texts of its own.
    #[must_use]
    pub fn into_static(self) -> Event<'static> {
        match self {
            Event::Durable(event) => Event::Durable(event.into_static()),
            Event::Passing(event) => Event::Passing(event.into_static()),
        }
    }

    /// Everything in the data that does not fit the model, at every level; empty for a sound event.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        match self {
            Event::Durable(event) => event.problems(),
            Event::Passing(event) => event.problems(),
        }
    }
}
