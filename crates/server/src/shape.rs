//! What a JSON value should look like: one table that checks requests and writes their schemas into the document.
//!
//! A value that does not fit is described in the words of the reference, since people search for them: `Missing key`,
//! `Expected string | null, got 5`, and the place under it. Keys that a shape does not name are no problem; what becomes of
//! them is the route's affair.

mod check;
mod schema;

pub(crate) use check::{Nulls, check};
pub(crate) use schema::{list, schema};

/// A shape.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// anything
    Any,
    Text,
    Bool,
    /// a finite number
    Number,
    /// a whole number of zero and more
    Count,
    /// a string with the prefix of an id
    Id(&'static str),
    /// one of some strings
    Words(&'static [&'static str]),
    /// an object of any members
    Record,
    /// an object whose members all have one shape
    Map(&'static Shape),
    List(&'static Shape),
    /// a list of at least one
    Some(&'static Shape),
    Object(&'static [Field]),
    /// told apart by a string member; the first word is how the reference names the whole, nothing if it spells it out
    Tagged {
        name: Option<&'static str>,
        tag: &'static str,
        variants: &'static [(&'static str, &'static [Field])],
    },
    /// a shape with a name of its own: in the reference's words, and in the document
    Named(&'static str, &'static Shape),
}

/// A member of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) required: bool,
}

/// A member that must be there.
pub(crate) const fn need(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, required: true }
}

/// A member that may be left out.
pub(crate) const fn may(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, required: false }
}
