//! Reading one field out of a raw object, and saying what is wrong with it.

use crate::id;
use crate::raw::{Entry, Json, Kind, Malformed, Number, Object, write_string};
use std::borrow::Cow;
use std::fmt::Write as _;
use std::marker::PhantomData;

/// What can be wrong with a value. The value itself is untouched and goes on in the raw object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Wrong {
    /// A required field is absent.
    #[error("is missing")]
    Missing,
    /// `null` where the model has no null. Optional fields read as absent.
    #[error("is null")]
    Null,
    /// A value of another JSON type.
    #[error("is {found}, not {wanted}")]
    Type {
        /// what the model has here
        wanted: &'static str,
        /// what stands here
        found: Kind,
    },
    /// Below zero where only counts and times stand.
    #[error("is negative ({value})")]
    Negative {
        /// the number as spelled
        value: String,
    },
    /// Not a whole number where only whole numbers stand.
    #[error("is not a whole number ({value})")]
    Fractional {
        /// the number as spelled
        value: String,
    },
    /// Too large to be a finite double, or for the integers of the model.
    #[error("is out of range ({value})")]
    OutOfRange {
        /// the number as spelled
        value: String,
    },
    /// Text with half a surrogate pair; it reads with U+FFFD in its place.
    #[error("has half a surrogate pair in it")]
    LoneSurrogate,
    /// An id of another kind.
    #[error("is {found:?} and should start with {wanted:?}")]
    Prefix {
        /// the prefix of the kind
        wanted: &'static str,
        /// the id
        found: String,
    },
    /// A part type, role, tool status, error name ... that this version does not know. The value is kept as it is.
    #[error("is {value:?}, an unknown {what}")]
    Unknown {
        /// what kind of name it is
        what: &'static str,
        /// the name
        value: String,
    },
    /// No JSON at all.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

/// A [`Wrong`] with its place, such as `state.time.start`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at} {wrong}")]
pub struct Problem {
    /// Keys and indexes from the object asked, joined with dots; empty for the object itself.
    pub at: String,
    /// What is wrong there.
    #[source]
    pub wrong: Wrong,
}

impl Problem {
    /// A problem of the field `at`.
    #[must_use]
    pub fn new(at: &str, wrong: Wrong) -> Self {
        Problem { at: at.to_owned(), wrong }
    }
}

/// The place being checked, and what was found so far.
#[derive(Debug, Default)]
pub struct Path {
    at: String,
    found: Vec<Problem>,
}

impl Path {
    /// Reports the current place.
    pub fn report(&mut self, wrong: Wrong) {
        self.found.push(Problem { at: self.at.clone(), wrong });
    }

    /// Goes into a key or index for the time of `check`.
    pub fn within(&mut self, step: &str, check: impl FnOnce(&mut Path)) {
        let before = self.at.len();
        if before > 0 {
            self.at.push('.');
        }
        self.at.push_str(step);
        check(self);
        self.at.truncate(before);
    }

    /// What was reported.
    #[must_use]
    pub fn into_problems(self) -> Vec<Problem> {
        self.found
    }
}

/// A type that a field's raw value can be read as, written from and checked for.
pub trait Field<'a>: Sized {
    /// Reads the value. What can be borrowed from `json` is.
    ///
    /// # Errors
    /// What makes it unreadable as this type.
    fn read(json: Json<'a>) -> Result<Self, Wrong>;

    /// Appends the value as JSON.
    fn write(&self, out: &mut String);

    /// Reports everything that is wrong with the value, at every level below it.
    fn check(json: Json<'a>, path: &mut Path) {
        if let Err(wrong) = Self::read(json) {
            path.report(wrong);
        }
    }

    /// The value as raw JSON.
    fn to_json(&self) -> Json<'static> {
        let mut out = String::new();
        self.write(&mut out);
        Json::trusted(out)
    }
}

pub(crate) fn mismatch(wanted: &'static str, found: Kind) -> Wrong {
    match found {
        Kind::Null => Wrong::Null,
        found => Wrong::Type { wanted, found },
    }
}

impl<'a> Field<'a> for Cow<'a, str> {
    fn read(json: Json<'a>) -> Result<Self, Wrong> {
        let kind = json.kind();
        json.into_string().ok_or_else(|| mismatch("a string", kind))
    }

    fn write(&self, out: &mut String) {
        write_string(out, self);
    }

    fn check(json: Json<'a>, path: &mut Path) {
        let lone = json.has_lone_surrogate();
        match Self::read(json) {
            Err(wrong) => path.report(wrong),
            Ok(_) if lone => path.report(Wrong::LoneSurrogate),
            Ok(_) => {}
        }
    }
}

/// Reads an id and looks at its prefix.
pub(crate) fn read_id<'a>(kind: id::Kind, json: Json<'a>) -> Result<Cow<'a, str>, Wrong> {
    let given = <Cow<'a, str> as Field<'a>>::read(json)?;
    id::check(kind, &given).map(|()| given)
}

impl<'a> Field<'a> for bool {
    fn read(json: Json<'a>) -> Result<Self, Wrong> {
        json.as_bool().ok_or_else(|| mismatch("a boolean", json.kind()))
    }

    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

/// Any finite number.
impl<'a> Field<'a> for Number<'a> {
    fn read(json: Json<'a>) -> Result<Self, Wrong> {
        let kind = json.kind();
        let number = json.into_number().ok_or_else(|| mismatch("a number", kind))?;
        if number.as_f64().is_finite() { Ok(number) } else { Err(Wrong::OutOfRange { value: number.as_str().to_owned() }) }
    }

    fn write(&self, out: &mut String) {
        out.push_str(self.as_str());
    }
}

/// A whole number of zero and more: what the reference calls a non-negative integer (times, attempts, offsets).
impl<'a> Field<'a> for u64 {
    fn read(json: Json<'a>) -> Result<Self, Wrong> {
        let number = Number::read(json)?;
        if let Some(whole) = number.as_u64() {
            return Ok(whole);
        }
        let value = number.as_str().to_owned();
        Err(if number.as_f64() < 0.0 {
            Wrong::Negative { value }
        } else if number.as_f64().fract() != 0.0 {
            Wrong::Fractional { value }
        } else {
            Wrong::OutOfRange { value }
        })
    }

    fn write(&self, out: &mut String) {
        // Writing to a String cannot fail.
        write!(out, "{self}").ok();
    }
}

/// A count of tokens. The reference's schema takes any finite number and real files hold negative and fractional ones;
/// those read, are reported by `problems()`, and clamp in sums.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count<'a>(Number<'a>);

impl<'a> Count<'a> {
    /// The number as spelled.
    #[must_use]
    pub fn number(&self) -> &Number<'a> {
        &self.0
    }

    /// The count for sums: never below zero, fractions cut off.
    #[must_use]
    pub fn clamped(&self) -> u64 {
        // A float cast saturates at both ends.
        self.0.as_u64().unwrap_or_else(|| self.0.as_f64() as u64)
    }
}

impl From<u64> for Count<'static> {
    fn from(value: u64) -> Self {
        Count(Number::from(value))
    }
}

impl<'a> Field<'a> for Count<'a> {
    fn read(json: Json<'a>) -> Result<Self, Wrong> {
        Number::read(json).map(Count)
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }

    fn check(json: Json<'a>, path: &mut Path) {
        if let Err(wrong) = u64::read(json) {
            path.report(wrong);
        }
    }
}

/// A time in ms that may have a fraction; the reference takes any finite number of zero and more where a user's message
/// says when it was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Millis<'a>(Number<'a>);

impl<'a> Millis<'a> {
    /// The number as spelled.
    #[must_use]
    pub fn number(&self) -> &Number<'a> {
        &self.0
    }

    /// Whole ms since 1970, the fraction cut off.
    #[must_use]
    pub fn whole(&self) -> i64 {
        // A float cast saturates at both ends.
        self.0.as_i64().unwrap_or_else(|| self.0.as_f64() as i64)
    }
}

impl From<i64> for Millis<'static> {
    fn from(value: i64) -> Self {
        Millis(Number::from(value))
    }
}

impl<'a> Field<'a> for Millis<'a> {
    fn read(json: Json<'a>) -> Result<Self, Wrong> {
        let number = Number::read(json)?;
        if number.as_f64() < 0.0 { Err(Wrong::Negative { value: number.as_str().to_owned() }) } else { Ok(Millis(number)) }
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }
}

/// Any value, as it stands.
impl<'a> Field<'a> for Json<'a> {
    fn read(json: Json<'a>) -> Result<Self, Wrong> {
        Ok(json)
    }

    fn write(&self, out: &mut String) {
        out.push_str(self.as_str());
    }
}

/// An object of any members: `metadata`, a tool's input, a JSON schema.
impl<'a> Field<'a> for Object<'a> {
    fn read(json: Json<'a>) -> Result<Self, Wrong> {
        let kind = json.kind();
        json.into_object().ok_or_else(|| mismatch("an object", kind))
    }

    fn write(&self, out: &mut String) {
        Object::write(self, out);
    }
}

/// A list. One element that cannot be read makes the whole list unreadable; the raw elements stay reachable.
impl<'a, T: Field<'a>> Field<'a> for Vec<T> {
    fn read(json: Json<'a>) -> Result<Self, Wrong> {
        elements(json)?.into_iter().map(T::read).collect()
    }

    fn write(&self, out: &mut String) {
        out.push('[');
        for (index, element) in self.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            element.write(out);
        }
        out.push(']');
    }

    fn check(json: Json<'a>, path: &mut Path) {
        match elements(json) {
            Err(wrong) => path.report(wrong),
            Ok(elements) => {
                for (index, element) in elements.into_iter().enumerate() {
                    path.within(&index.to_string(), |path| T::check(element, path));
                }
            }
        }
    }
}

/// An object whose members are all of one type, such as the headers of an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Map<'a, T> {
    object: Object<'a>,
    of: PhantomData<T>,
}

impl<'a, T> Map<'a, T> {
    /// A map over raw members; nothing is checked.
    #[must_use]
    pub fn from_object(object: Object<'a>) -> Self {
        Map { object, of: PhantomData }
    }

    /// The raw members.
    #[must_use]
    pub fn object(&self) -> &Object<'a> {
        &self.object
    }

    /// The value under a key.
    ///
    /// # Errors
    /// If it is there and of another shape.
    pub fn get<'b>(&'b self, name: &str) -> Result<Option<T>, Problem>
    where
        T: Field<'b>,
    {
        self.object.get(name).map(|json| T::read(json.borrowed()).map_err(|wrong| Problem::new(name, wrong))).transpose()
    }

    /// The members that can be read, in order; others are passed over.
    pub fn iter<'b>(&'b self) -> impl Iterator<Item = (Cow<'b, str>, T)>
    where
        T: Field<'b>,
    {
        let read = |entry: &'b Entry<'a>| T::read(entry.value().borrowed()).ok().map(|value| (entry.key(), value));
        self.object.entries().iter().filter_map(read)
    }
}

impl<'a, T: Field<'a>> Field<'a> for Map<'a, T> {
    fn read(json: Json<'a>) -> Result<Self, Wrong> {
        Object::read(json).map(Self::from_object)
    }

    fn write(&self, out: &mut String) {
        self.object.write(out);
    }

    fn check(json: Json<'a>, path: &mut Path) {
        match Object::read(json) {
            Err(wrong) => path.report(wrong),
            Ok(object) => {
                for entry in object.into_entries() {
                    let key = entry.key().into_owned();
                    path.within(&key, |path| T::check(entry.into_value(), path));
                }
            }
        }
    }
}

fn elements(json: Json<'_>) -> Result<Vec<Json<'_>>, Wrong> {
    let kind = json.kind();
    json.into_array().ok_or_else(|| mismatch("an array", kind))
}
