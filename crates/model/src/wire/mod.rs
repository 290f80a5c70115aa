//! The bodies of the four protocols, written into a writer.

mod anthropic;
mod chat;
mod count;
mod google;
mod responses;
mod result;

pub(crate) use anthropic::is_thought;
pub use count::{Count, count};
pub(crate) use google::is_said;
pub(crate) use responses::{encrypted, item_id};

use crate::describe::{Model, Protocol};
use crate::json::Out;
use crate::neutral::ModelMessage;
use annalist_schema::Json;
use std::io::{self, Write};

/// A tool that the model may call.
#[derive(Debug, Clone)]
pub struct Tool<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it is for.
    pub description: &'a str,
    /// The JSON schema of its input.
    pub input_schema: Json<'a>,
}

/// What a request says beside the conversation.
#[derive(Debug, Clone, Default)]
pub struct Options<'a> {
    /// The tools that the model may call, in the order in which they are sent.
    pub tools: &'a [Tool<'a>],
    /// It must call one of them.
    pub must_call: bool,
    /// The most tokens to answer with.
    pub max_output_tokens: Option<u64>,
    /// Of the sampling.
    pub temperature: Option<f64>,
    /// Of the sampling.
    pub top_p: Option<f64>,
    /// Of the sampling.
    pub top_k: Option<u64>,
    /// What requests of one conversation have in common, for the provider's cache: the session's id.
    pub cache_key: Option<&'a str>,
}

impl Options<'_> {
    /// The reference's limit of an answer: the model's, at most 32,000 tokens (reference 1.5).
    #[must_use]
    pub fn max_output_tokens_of(model: &Model) -> u64 {
        const CAP: u64 = 32_000;
        if model.limits.output == 0 { CAP } else { model.limits.output.min(CAP) }
    }
}

/// Writes the body of a request.
///
/// # Errors
/// Those of the writer.
pub fn write(messages: &[ModelMessage<'_>], model: &Model, options: &Options<'_>, to: &mut dyn Write) -> io::Result<()> {
    // Most pieces are a few bytes; the large ones pass the buffer by.
    let mut to = io::BufWriter::with_capacity(16 * 1024, to);
    let mut out = Out::new(&mut to);
    match model.protocol {
        Protocol::Chat => chat::write(messages, model, options, &mut out)?,
        Protocol::Responses => responses::write(messages, model, options, &mut out)?,
        Protocol::Anthropic => anthropic::write(messages, model, options, &mut out)?,
        Protocol::Google => google::write(messages, model, options, &mut out)?,
    }
    to.flush()
}

/// Members of the body that this crate writes, unless the model's options have them.
struct Body<'o, 'w> {
    out: &'o mut Out<'w>,
    model: &'o Model,
    /// Members that were written with the model's own in them.
    merged: Vec<&'static str>,
}

impl<'o, 'w> Body<'o, 'w> {
    fn open(out: &'o mut Out<'w>, model: &'o Model) -> io::Result<Self> {
        out.open_object()?;
        Ok(Body { out, model, merged: Vec::new() })
    }

    fn member(&mut self, key: &str, write: impl FnOnce(&mut Out<'w>) -> io::Result<()>) -> io::Result<()> {
        if self.model.options.has(key) {
            return Ok(());
        }
        write(self.out.key(key)?)
    }

    /// A member that has the model's own in it.
    fn always(&mut self, key: &'static str, write: impl FnOnce(&mut Out<'w>) -> io::Result<()>) -> io::Result<()> {
        self.merged.push(key);
        write(self.out.key(key)?)
    }

    fn number(&mut self, key: &str, value: Option<impl ToString>) -> io::Result<()> {
        match value {
            Some(value) => self.member(key, |out| out.value(&value.to_string())),
            None => Ok(()),
        }
    }

    fn flag(&mut self, key: &str) -> io::Result<()> {
        self.member(key, |out| out.value("true"))
    }

    /// The model's own options, and the end.
    fn close(self) -> io::Result<()> {
        for entry in self.model.options.entries().iter().filter(|entry| !self.merged.contains(&&*entry.key())) {
            self.out.key(&entry.key())?.value(entry.value().as_str())?;
        }
        self.out.close_object()
    }
}

/// A float that JSON can say.
fn finite(value: Option<f64>) -> Option<String> {
    value.filter(|value| value.is_finite()).map(|value| annalist_schema::Number::from_f64(value).to_string())
}
