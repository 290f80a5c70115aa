//! An object split into its members.

use super::scan::{self, Malformed};
use super::{Json, unescape, write_string};
use std::borrow::Cow;
use std::fmt;

/// One member of an [`Object`]: a key and the text of its value.
#[derive(Clone, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Between the quotes and still escaped, so that a key no Rust string can hold survives too.
    key: Cow<'a, str>,
    value: Json<'a>,
}

impl<'a> Entry<'a> {
    /// The key, unescaped.
    #[must_use]
    pub fn key(&self) -> Cow<'_, str> {
        unescape(&self.key).0
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &Json<'a> {
        &self.value
    }

    /// The value itself.
    #[must_use]
    pub fn into_value(self) -> Json<'a> {
        self.value
    }

    fn is(&self, name: &str) -> bool {
        if memchr::memchr(b'\\', self.key.as_bytes()).is_none() { self.key == name } else { self.key() == name }
    }
}

/// A JSON object, split into keys and raw values, in the order of the text.
///
/// Of a key that stands twice the last value counts, as in JavaScript; both are written again. White space between the
/// members is not kept, white space inside nested values is.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Object<'a> {
    entries: Vec<Entry<'a>>,
}

impl<'a> Object<'a> {
    /// An object without members.
    #[must_use]
    pub fn new() -> Self {
        Object { entries: Vec::new() }
    }

    /// An object with one member, a string: where everything that carries a tag starts.
    #[must_use]
    pub fn tagged(key: &str, tag: &str) -> Object<'static> {
        let mut object = Object::new();
        object.set_text(key, tag);
        object
    }

    /// Splits a text, checking all of it in the same pass.
    ///
    /// # Errors
    /// [`Malformed`] if it is not JSON, or not an object.
    pub fn parse(text: &'a str) -> Result<Self, Malformed> {
        let members = scan::members(text)?;
        let entries =
            members.into_iter().map(|m| Entry { key: Cow::Borrowed(&text[m.key]), value: Json::trusted(&text[m.value]) }).collect();
        Ok(Object { entries })
    }

    /// The members in order.
    #[must_use]
    pub fn entries(&self) -> &[Entry<'a>] {
        &self.entries
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value under a key.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        self.entries.iter().rev().find(|e| e.is(name)).map(|e| &e.value)
    }

    /// Whether the key is there, with whatever value.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The string under a key, unescaped; nothing if it is absent or no string.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name).and_then(Json::as_text)
    }

    /// Sets a key: in its place if it was there (as JavaScript does), at the end otherwise.
    pub fn set(&mut self, name: &str, value: impl Into<Json<'a>>) {
        let value = value.into();
        let mut seen = false;
        let mut value = Some(value);
        self.entries.retain_mut(|entry| {
            if !entry.is(name) {
                return true;
            }
            if let Some(value) = value.take() {
                entry.value = value;
            }
            !std::mem::replace(&mut seen, true)
        });
        if let Some(value) = value {
            let mut key = String::with_capacity(name.len() + 2);
            write_string(&mut key, name);
            let key = key[1..key.len() - 1].to_owned();
            self.entries.push(Entry { key: Cow::Owned(key), value });
        }
    }

    /// Sets a key to a string.
    pub fn set_text(&mut self, name: &str, value: &str) {
        self.set(name, Json::text(value));
    }

    /// Removes a key; gives the value that counted.
    pub fn remove(&mut self, name: &str) -> Option<Json<'a>> {
        let mut removed = None;
        self.entries.retain_mut(|entry| {
            let same = entry.is(name);
            if same {
                removed = Some(std::mem::replace(&mut entry.value, Json::null()));
            }
            !same
        });
        removed
    }

    /// Keeps the members whose (unescaped) key and value pass.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &Json<'a>) -> bool) {
        self.entries.retain(|entry| keep(&entry.key(), &entry.value));
    }

    /// Appends a member of another object, key and value untouched.
    pub fn push(&mut self, entry: Entry<'a>) {
        self.entries.push(entry);
    }

    /// The members themselves.
    #[must_use]
    pub fn into_entries(self) -> Vec<Entry<'a>> {
        self.entries
    }

    /// Appends the object's text.
    pub fn write(&self, out: &mut String) {
        self.write_without(&[], out);
    }

    /// Appends the object's text, leaving out some keys.
    pub fn write_without(&self, names: &[&str], out: &mut String) {
        out.push('{');
        let mut first = true;
        for entry in self.entries.iter().filter(|e| !names.iter().any(|n| e.is(n))) {
            if !std::mem::take(&mut first) {
                out.push(',');
            }
            out.push('"');
            out.push_str(&entry.key);
            out.push_str("\":");
            out.push_str(entry.value.as_str());
        }
        out.push('}');
    }

    /// The bytes that its text has at most.
    #[must_use]
    pub fn size(&self) -> usize {
        self.entries.iter().map(|e| e.key.len() + e.value.as_str().len() + 4).sum::<usize>() + 2
    }

    /// The object's text.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut out = String::with_capacity(self.size());
        self.write(&mut out);
        out
    }

    /// The same object with texts of its own.
    #[must_use]
    pub fn into_static(self) -> Object<'static> {
        let entries = self.entries.into_iter().map(|e| Entry { key: Cow::Owned(e.key.into_owned()), value: e.value.into_static() });
        Object { entries: entries.collect() }
    }

    /// A borrowed copy: the keys and values are not copied.
    #[must_use]
    pub fn borrowed(&self) -> Object<'_> {
        let entries = self.entries.iter().map(|e| Entry { key: Cow::Borrowed(&*e.key), value: e.value.borrowed() });
        Object { entries: entries.collect() }
    }
}

impl fmt::Debug for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_text())
    }
}
