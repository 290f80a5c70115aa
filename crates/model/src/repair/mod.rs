//! Changes that make a conversation one that the provider accepts, each told in a report.

use crate::describe::Model;
use crate::neutral::ModelMessage;

/// What was changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {}

/// Repairs.
pub fn repair(_: &mut Vec<ModelMessage<'_>>, _: &Model) -> Report { Report {} }
