//! The parts of a message. One file a part type, named as on the wire; this table is the only list of them.

mod text;

pub use text::{PartTime, TextPart};

tagged! {
    /// One part of a message (reference-storage 2.2).
    ///
    /// On the wire a part carries `id`, `messageID` and `sessionID`; in a row those are columns and absent from the data.
    pub enum Part by "type", "part type" {
        "text" => Text(TextPart),
    }
}
