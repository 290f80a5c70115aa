//! The steps of a tool call, for whoever runs tools.
//!
//! ```text
//! start -> pending -> running -> completed -> completed (compacted)
//!       \-> running \         \-> error
//!                    \-> error
//! ```
//!
//! Reading is not bound to this: a stored state is taken as it is.

use super::{FilePart, ToolCompleted, ToolError, ToolPending, ToolRunning, ToolState};
use crate::field::Field;
use crate::id::unsigned_ms;
use crate::raw::{Json, Object, write_pretty};
use std::borrow::Cow;

/// One step of a tool call. Times are ms since 1970.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolStep<'a> {
    /// The call is complete and the tool starts. For a tool that already runs only the input is replaced, as in the
    /// reference (reference-engine 3.2, tool-call).
    Run {
        /// what the model asked for
        input: Object<'a>,
        /// ms
        start: i64,
    },
    /// A running tool tells what it does. What is `None` stays as it was.
    Progress {
        /// for people
        title: Option<Cow<'a, str>>,
        /// replaces what stood there
        metadata: Option<Object<'a>>,
    },
    /// The tool answered.
    Complete {
        /// the answer
        output: Cow<'a, str>,
        /// for people, may be empty
        title: Cow<'a, str>,
        /// replaces what stood there
        metadata: Object<'a>,
        /// ms
        end: i64,
        /// files of the answer; none leaves the field away
        attachments: Vec<FilePart<'a>>,
    },
    /// The tool failed, was refused or was interrupted.
    Fail {
        /// what the model is told
        error: Cow<'a, str>,
        /// replaces what stood there; `None` leaves it
        metadata: Option<Object<'a>>,
        /// ms; also the start of a call that never ran
        end: i64,
    },
    /// From now on a model is shown a placeholder instead of the output.
    Compact {
        /// ms
        at: i64,
    },
}

/// A step that a tool call cannot take. The state it was asked of is unchanged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a tool call cannot go from {} to {to}", .from.as_deref().unwrap_or("its start"))]
pub struct IllegalStep {
    /// The status it has; nothing for a call that does not exist yet.
    pub from: Option<String>,
    /// The status asked for.
    pub to: String,
}

impl ToolStep<'_> {
    fn target(&self) -> &'static str {
        match self {
            ToolStep::Run { .. } | ToolStep::Progress { .. } => "running",
            ToolStep::Complete { .. } | ToolStep::Compact { .. } => "completed",
            ToolStep::Fail { .. } => "error",
        }
    }
}

impl ToolState<'static> {
    /// A call whose input is still being written; `raw` is its text so far.
    #[must_use]
    pub fn start_pending(input: Object<'_>, raw: &str) -> Self {
        let mut state = ToolPending::from_object(Object::tagged("status", "pending"));
        state.set_input(input).set_raw(raw.into());
        state.into()
    }

    /// A call that runs from `start` (ms).
    #[must_use]
    pub fn start_running(input: Object<'_>, start: i64) -> Self {
        let mut state = ToolRunning::from_object(Object::tagged("status", "running"));
        state.set_input(input).object_mut().set("time", time_from(start));
        state.into()
    }
}

impl ToolState<'_> {
    /// The state after a step. Fields that this version does not know are carried along.
    ///
    /// # Errors
    /// [`IllegalStep`]; `self` is untouched in any case.
    pub fn step(&self, step: ToolStep<'_>) -> Result<ToolState<'static>, IllegalStep> {
        let mut next = self.object().borrowed().into_static();
        let target = step.target();
        next.set_text("status", target);
        Ok(match (self, step) {
            (ToolState::Pending(_), ToolStep::Run { input, start }) => {
                next.remove("raw");
                next.set("input", input);
                next.set("time", time_from(start));
                ToolRunning::from_object(next).into()
            }
            (ToolState::Running(_), ToolStep::Run { input, start: _ }) => {
                next.set("input", input);
                ToolRunning::from_object(next).into()
            }
            (ToolState::Running(_), ToolStep::Progress { title, metadata }) => {
                let mut next = ToolRunning::from_object(next);
                if title.is_some() {
                    next.set_title(title);
                }
                if metadata.is_some() {
                    next.set_metadata(metadata);
                }
                next.into()
            }
            (ToolState::Running(_), ToolStep::Complete { output, title, metadata, end, attachments }) => {
                end_time(&mut next, end);
                let mut next = ToolCompleted::from_object(next);
                next.set_output(output).set_title(title).set_metadata(metadata);
                next.set_attachments((!attachments.is_empty()).then_some(attachments));
                next.into()
            }
            (ToolState::Pending(_) | ToolState::Running(_), ToolStep::Fail { error, metadata, end }) => {
                next.remove("raw");
                next.remove("title");
                end_time(&mut next, end);
                let mut next = ToolError::from_object(next);
                next.set_error(error);
                if metadata.is_some() {
                    next.set_metadata(metadata);
                }
                next.into()
            }
            (ToolState::Completed(_), ToolStep::Compact { at }) if !self.time().has("compacted") => {
                let mut time = self.time().into_static();
                time.set("compacted", unsigned_ms(at).to_json());
                next.set("time", time);
                ToolCompleted::from_object(next).into()
            }
            _ => return Err(self.illegal(target)),
        })
    }

    /// Whether a call in state `from` (nothing: a new call) may be in state `to` next.
    ///
    /// Besides the steps of [`ToolState::step`] a state may be written again unchanged, so that a write whose answer was
    /// lost can be repeated.
    ///
    /// # Errors
    /// [`IllegalStep`].
    pub fn check_step(from: Option<&ToolState<'_>>, to: &ToolState<'_>) -> Result<(), IllegalStep> {
        let legal = match (from, to) {
            (None, ToolState::Pending(_) | ToolState::Running(_)) => true,
            (None, _) => false,
            (Some(from), to) if same_members(from.object(), to.object(), &[]) => true,
            (Some(ToolState::Pending(_)), ToolState::Running(_) | ToolState::Error(_)) => true,
            (Some(from @ ToolState::Running(_)), ToolState::Running(_)) => same_members(&from.time(), &to.time(), &[]),
            (Some(ToolState::Running(_)), ToolState::Completed(_) | ToolState::Error(_)) => true,
            (Some(from @ ToolState::Completed(_)), ToolState::Completed(_)) => {
                !from.time().has("compacted")
                    && same_members(from.object(), to.object(), &["time"])
                    && same_members(&from.time(), &to.time(), &["compacted"])
            }
            _ => false,
        };
        if legal {
            return Ok(());
        }
        let name = to.status();
        Err(from.map_or_else(|| IllegalStep { from: None, to: name.clone() }, |from| from.illegal(&name)))
    }

    fn illegal(&self, to: &str) -> IllegalStep {
        IllegalStep { from: Some(self.status()), to: to.to_owned() }
    }

    fn status(&self) -> String {
        self.tag().map_or_else(|| "no status".to_owned(), Cow::into_owned)
    }

    fn time(&self) -> Object<'_> {
        self.object().get("time").and_then(Json::as_object).unwrap_or_default()
    }
}

fn time_from(start: i64) -> Object<'static> {
    let mut time = Object::new();
    time.set("start", unsigned_ms(start).to_json());
    time
}

/// Ends the time of a state, beginning it too where nothing ran.
fn end_time(state: &mut Object<'static>, end: i64) {
    let mut time = state.get("time").and_then(Json::as_object).unwrap_or_default().into_static();
    if !time.has("start") {
        time.set("start", unsigned_ms(end).to_json());
    }
    time.set("end", unsigned_ms(end).to_json());
    state.set("time", time);
}

/// Whether two objects have the same members, in any order and layout, apart from some keys.
fn same_members(a: &Object<'_>, b: &Object<'_>, except: &[&str]) -> bool {
    let among = |these: &Object<'_>, those: &Object<'_>| {
        these.entries().iter().filter(|entry| !except.contains(&&*entry.key())).all(|entry| {
            let key = entry.key();
            matches!((these.get(&key), those.get(&key)), (Some(this), Some(that)) if same_value(this, that))
        })
    };
    among(a, b) && among(b, a)
}

/// Equal but for white space: a client may have laid it out anew.
fn same_value(a: &Json<'_>, b: &Json<'_>) -> bool {
    let laid_out = |json: &Json<'_>| {
        let mut out = Vec::new();
        write_pretty(json.as_str(), 0, &mut out).map(|()| out).ok()
    };
    a == b || laid_out(a) == laid_out(b)
}
