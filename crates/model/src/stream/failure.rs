//! Why an answer did not become whole.

use crate::usage::Usage;
use annalist_schema::Json;
use std::fmt;

/// Why an answer did not become whole. [`crate::error::from_stream`] makes the error of a message out of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Failure {
    /// The provider says so, in the stream or in place of it.
    Provider {
        /// In its words, as the reference would see it: the `error` of a chunk, or the whole chunk where it has none.
        error: Json<'static>,
    },
    /// An event is not what its protocol has.
    Malformed {
        /// How so.
        what: String,
        /// The first 2,000 bytes of it.
        data: String,
    },
    /// The connection ended before the answer did. What was said up to there is true; calls that were not whole are not
    /// calls.
    Cut {
        /// What the provider had counted by then.
        usage: Usage,
    },
    /// What came is not a stream of events at all.
    NotAStream {
        /// The first 64 KiB of it.
        body: String,
    },
    /// A line, or an event of many lines, is longer than allowed.
    TooLong {
        /// In bytes.
        limit: usize,
    },
    /// The provider lost its own connection to the model (`finish_reason: network_error`).
    NetworkError,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Provider { error } => write!(f, "the provider answers with an error: {error}"),
            Failure::Malformed { what, data } => write!(f, "the provider's stream is malformed ({what}): {data}"),
            Failure::Cut { .. } => f.write_str("the provider's stream ended before the answer did"),
            Failure::NotAStream { body } => write!(f, "the provider answers with something else than a stream of events: {body}"),
            Failure::TooLong { limit } => write!(f, "the provider's stream has an event of more than {limit} bytes"),
            // What the reference says.
            Failure::NetworkError => f.write_str("Provider finish_reason: network_error"),
        }
    }
}

impl std::error::Error for Failure {}

/// The beginning of a text, cut between characters.
pub(super) fn beginning(text: &str, bytes: usize) -> String {
    text[..text.floor_char_boundary(bytes)].to_owned()
}
