//! Columns that may hold anything, read without failing.

use crate::row::{Cell, Stamp};
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};
use std::borrow::Cow;

pub(super) fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(i) => Cell::Int(i),
        ValueRef::Real(r) => Cell::Real(r),
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Cell::Text(text.to_owned()),
            Err(_) => Cell::Bytes(bytes.to_owned()),
        },
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_owned()),
    }
}

/// A text column; whatever else stands in it is spelled out, so that the row can still be named.
pub(super) fn text(value: ValueRef<'_>) -> Cow<'_, str> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => String::from_utf8_lossy(bytes),
        ValueRef::Integer(i) => Cow::Owned(i.to_string()),
        ValueRef::Real(r) => Cow::Owned(r.to_string()),
        ValueRef::Null => Cow::Borrowed(""),
    }
}

/// A data column: bytes, whatever they are.
pub(super) fn bytes(value: ValueRef<'_>) -> Cow<'_, [u8]> {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Cow::Borrowed(bytes),
        other => Cow::Owned(text(other).into_owned().into_bytes()),
    }
}

pub(super) fn stamp(value: ValueRef<'_>) -> Stamp {
    match value {
        ValueRef::Integer(ms) => Stamp::Whole(ms),
        ValueRef::Real(ms) => Stamp::Real(ms),
        ValueRef::Text(bytes) => Stamp::Whole(std::str::from_utf8(bytes).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0)),
        ValueRef::Null | ValueRef::Blob(_) => Stamp::Whole(0),
    }
}

impl ToSql for Stamp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Stamp::Whole(ms) => ms.to_sql(),
            Stamp::Real(ms) => ms.to_sql(),
        }
    }
}
