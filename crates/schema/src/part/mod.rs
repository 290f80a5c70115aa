//! The parts of a message. One file a part type, named as on the wire; this table is the only list of them.

mod agent;
mod compaction;
mod file;
mod patch;
mod reasoning;
mod retry;
mod snapshot;
mod step_finish;
mod step_start;
mod subtask;
mod text;
mod tool;
mod tool_run;

pub use agent::{AgentPart, AgentSource};
pub use compaction::CompactionPart;
pub use file::{
    FilePart, FilePosition, FileSource, FileSourceFile, FileSourceResource, FileSourceSymbol, FileSourceText, SymbolRange,
};
pub use patch::PatchPart;
pub use reasoning::ReasoningPart;
pub use retry::{RetryPart, RetryTime};
pub use snapshot::SnapshotPart;
pub use step_finish::StepFinishPart;
pub use step_start::StepStartPart;
pub use subtask::SubtaskPart;
pub use text::{PartTime, TextPart};
pub use tool::{
    ToolCompleted, ToolCompletedTime, ToolError, ToolErrorTime, ToolPart, ToolPending, ToolRunning, ToolRunningTime, ToolState,
};
pub use tool_run::{IllegalStep, ToolStep};

tagged! {
    /// One part of a message (reference-storage 2.2).
    ///
    /// On the wire a part carries `id`, `messageID` and `sessionID`; in a row those are columns and absent from the data.
    pub enum Part by "type", "part type" {
        "text" => Text(TextPart),
        "reasoning" => Reasoning(ReasoningPart),
        "file" => File(FilePart),
        "tool" => Tool(ToolPart),
        "agent" => Agent(AgentPart),
        "subtask" => Subtask(SubtaskPart),
        "step-start" => StepStart(StepStartPart),
        "step-finish" => StepFinish(StepFinishPart),
        "snapshot" => Snapshot(SnapshotPart),
        "patch" => Patch(PatchPart),
        "retry" => Retry(RetryPart),
        "compaction" => Compaction(CompactionPart),
    }
    identity {
        /// The part's id.
        "id" id / set_id: Part,
        /// The session it is in.
        "sessionID" session_id / set_session_id: Session,
        /// The message it is of.
        "messageID" message_id / set_message_id: Message,
    }
}

impl Part<'_> {
    /// Sets the three ids, in the places they have or at the end.
    pub fn set_identity(&mut self, id: &str, session_id: &str, message_id: &str) -> &mut Self {
        self.set_id(id.into()).set_session_id(session_id.into()).set_message_id(message_id.into())
    }
}
