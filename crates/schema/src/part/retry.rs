//! The part `retry`: a request failed and was tried again. The reference knows it and never makes it.

use crate::message::ApiError;

object! {
    /// A request that was tried again (reference-storage 2.2).
    pub struct RetryPart {
        /// Which attempt it was.
        required "attempt" attempt / set_attempt: u64,
        /// What the provider answered.
        required "error" error / set_error: ApiError<'_>,
        /// When.
        required "time" time / set_time: RetryTime<'_>,
    }
}

object! {
    /// When a request was tried again.
    pub struct RetryTime {
        /// ms
        required "created" created / set_created: u64,
    }
}
