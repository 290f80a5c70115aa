//! Compaction: an agent writes down what matters of a history, and the model is shown that instead (reference-engine 5).

mod conversation;
mod overflow;
mod question;
mod tail;

pub use conversation::conversation;
pub use overflow::{OUTPUT_CAP, Window, is_overflow, max_output, usable};
pub use question::{AFTER_OVERFLOW, GO_ON, WHAT_DID_WE_DO, question};
pub use tail::{Tail, tail};

/// `compaction` of the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// whether a session that fills its window is compacted without being asked
    pub auto: bool,
    /// whether outputs of old tool calls are left out of requests
    pub prune: bool,
    /// whole turns that are kept word for word, at most; 0 keeps none
    pub tail_turns: Option<u64>,
    /// tokens of the newest turns that are kept word for word
    pub preserve_recent_tokens: Option<u64>,
    /// tokens kept free of a model's `limit.input`
    pub reserved: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { auto: true, prune: false, tail_turns: None, preserve_recent_tokens: None, reserved: None }
    }
}
