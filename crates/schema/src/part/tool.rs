//! The part `tool`: one call of a tool and what became of it. The steps between its states are in `tool_run.rs`.

use super::FilePart;
use crate::raw::Object;
use std::borrow::Cow;

object! {
    /// One call of a tool (reference-storage 2.2).
    pub struct ToolPart {
        /// The provider's id of the call; may be empty, and may stand twice in one message.
        required "callID" call_id / set_call_id: Cow<'_, str>,
        /// The tool's name.
        required "tool" tool / set_tool: Cow<'_, str>,
        /// What became of the call.
        required "state" state / set_state: ToolState<'_>,
        /// By provider; must go back to it unchanged.
        optional "metadata" metadata / set_metadata: Object<'_>,
    }
}

tagged! {
    /// What became of a call.
    pub enum ToolState by "status", "tool status" {
        "pending" => Pending(ToolPending),
        "running" => Running(ToolRunning),
        "completed" => Completed(ToolCompleted),
        "error" => Error(ToolError),
    }
}

object! {
    /// The model is still writing the call.
    pub struct ToolPending {
        /// Empty so far.
        required "input" input / set_input: Object<'_>,
        /// The input's text as far as it has come; the reference never fills it.
        required "raw" raw / set_raw: Cow<'_, str>,
    }
}

object! {
    /// The tool runs.
    pub struct ToolRunning {
        /// What the model asked for.
        required "input" input / set_input: Object<'_>,
        /// What the tool is doing, for people.
        optional "title" title / set_title: Cow<'_, str>,
        /// Anything, by the tool.
        optional "metadata" metadata / set_metadata: Object<'_>,
        /// When it started.
        required "time" time / set_time: ToolRunningTime<'_>,
    }
}

object! {
    /// When a running tool started.
    pub struct ToolRunningTime {
        /// ms
        required "start" start / set_start: u64,
    }
}

object! {
    /// The tool answered.
    pub struct ToolCompleted {
        /// What the model asked for.
        required "input" input / set_input: Object<'_>,
        /// The answer.
        required "output" output / set_output: Cow<'_, str>,
        /// What the tool did, for people; may be empty.
        required "title" title / set_title: Cow<'_, str>,
        /// Anything, by the tool.
        required "metadata" metadata / set_metadata: Object<'_>,
        /// When it started and ended.
        required "time" time / set_time: ToolCompletedTime<'_>,
        /// Files of the answer.
        optional "attachments" attachments / set_attachments: Vec<FilePart<'_>>,
    }
}

object! {
    /// When a completed call started, ended and was compacted.
    pub struct ToolCompletedTime {
        /// ms
        required "start" start / set_start: u64,
        /// ms
        required "end" end / set_end: u64,
        /// ms; from then on a model is shown a placeholder instead of the output. The output itself stays.
        optional "compacted" compacted / set_compacted: u64,
    }
}

object! {
    /// The tool failed, was refused or was interrupted.
    pub struct ToolError {
        /// What the model asked for.
        required "input" input / set_input: Object<'_>,
        /// What went wrong; the model is shown it.
        required "error" error / set_error: Cow<'_, str>,
        /// Anything, by the tool. `interrupted: true` tells an abort from a failure.
        optional "metadata" metadata / set_metadata: Object<'_>,
        /// When it started and failed.
        required "time" time / set_time: ToolErrorTime<'_>,
    }
}

object! {
    /// When a failed call started and failed; the same ms for one that never ran.
    pub struct ToolErrorTime {
        /// ms
        required "start" start / set_start: u64,
        /// ms
        required "end" end / set_end: u64,
    }
}

impl ToolPart<'static> {
    /// A call whose input the model is still writing.
    #[must_use]
    pub fn pending(call_id: &str, tool: &str) -> Self {
        Self::with_state(call_id, tool, ToolState::start_pending(Object::new(), ""))
    }

    /// A call that runs, from its start in ms.
    #[must_use]
    pub fn running(call_id: &str, tool: &str, input: Object<'_>, start: i64) -> Self {
        Self::with_state(call_id, tool, ToolState::start_running(input, start))
    }

    fn with_state(call_id: &str, tool: &str, state: ToolState<'_>) -> Self {
        let mut part = ToolPart::from_object(Object::tagged("type", "tool"));
        part.set_call_id(call_id.into()).set_tool(tool.into()).set_state(state);
        part
    }
}

impl ToolState<'_> {
    /// Whether the call waits or runs: what a process leaves behind that dies.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(self, ToolState::Pending(_) | ToolState::Running(_))
    }

    /// What the model asked for, in whatever state; nothing if it is no object.
    #[must_use]
    pub fn input(&self) -> Option<Object<'_>> {
        self.object().get("input").and_then(crate::raw::Json::as_object)
    }
}
