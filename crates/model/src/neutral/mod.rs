//! Messages of no provider: what a history says, before any protocol has its way (reference 1.1-1.4).
//!
//! Everything borrows from the stored texts. [`to_model_messages`] is what the reference makes of a history;
//! [`crate::transform`] and [`crate::repair`] then change it for the provider, and [`crate::wire`] writes it.

mod assistant;
mod history;
mod media;
mod tool;
mod user;

pub use history::{Settings, to_model_messages};
pub use media::{Data, File};
pub(crate) use tool::INTERRUPTED;
pub(crate) use user::attached;

use crate::text::Text;
use annalist_schema::Json;
use std::borrow::Cow;

/// Who says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The program.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// The results of the calls before it.
    Tool,
}

/// One message of a conversation.
#[derive(Debug, Clone)]
pub struct ModelMessage<'a> {
    /// Who says it.
    pub role: Role,
    /// The stored message that it comes from; empty for one that was made up.
    pub message: Cow<'a, str>,
    /// What is said, in order.
    pub content: Vec<Content<'a>>,
    /// The provider is to keep the conversation up to here for the next request.
    pub cache: bool,
}

/// A piece of a message.
#[derive(Debug, Clone)]
pub struct Content<'a> {
    /// What it is.
    pub block: Block<'a>,
    /// The stored part that it comes from; empty for one that was made up.
    pub part: Cow<'a, str>,
    /// What the provider said about it, by provider: an object, to go back to the one that made it and to no other.
    pub metadata: Option<Json<'a>>,
    /// Thoughts that are of the same item as those before them, which is sent once.
    pub continues: bool,
}

/// What a piece of a message is.
#[derive(Debug, Clone)]
pub enum Block<'a> {
    /// Text.
    Text(Text<'a>),
    /// The model's thoughts.
    Reasoning(Text<'a>),
    /// A file, of a person.
    File(File<'a>),
    /// The model calls a tool.
    ToolCall(ToolCall<'a>),
    /// What a tool answered.
    ToolResult(ToolResult<'a>),
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct ToolCall<'a> {
    /// The call's id.
    pub id: Cow<'a, str>,
    /// The tool.
    pub name: Cow<'a, str>,
    /// What it is asked, any JSON.
    pub input: Json<'a>,
    /// The provider ran it itself.
    pub provider_executed: bool,
}

/// The answer to a call.
#[derive(Debug, Clone)]
pub struct ToolResult<'a> {
    /// The call's id.
    pub id: Cow<'a, str>,
    /// The tool.
    pub name: Cow<'a, str>,
    /// What it answered.
    pub output: Output<'a>,
}

/// What a tool answered.
#[derive(Debug, Clone)]
pub enum Output<'a> {
    /// Text.
    Text(Text<'a>),
    /// It failed, and this is why.
    Error(Text<'a>),
    /// Text and files.
    Content(Vec<Item<'a>>),
}

/// A piece of a tool's answer.
#[derive(Debug, Clone)]
pub enum Item<'a> {
    /// Text.
    Text(Text<'a>),
    /// A file.
    File(File<'a>),
}

impl<'a> ModelMessage<'a> {
    /// A message of the program's own.
    #[must_use]
    pub fn text(role: Role, text: impl Into<Cow<'a, str>>) -> Self {
        ModelMessage::new(role, Cow::Borrowed(""), vec![Content::new(Block::Text(Text::plain(text)), Cow::Borrowed(""))])
    }

    pub(crate) fn new(role: Role, message: Cow<'a, str>, content: Vec<Content<'a>>) -> Self {
        ModelMessage { role, message, content, cache: false }
    }
}

impl<'a> Content<'a> {
    /// A piece without metadata.
    #[must_use]
    pub fn new(block: Block<'a>, part: Cow<'a, str>) -> Self {
        Content { block, part, metadata: None, continues: false }
    }

    pub(crate) fn with(mut self, metadata: Option<Json<'a>>) -> Self {
        self.metadata = metadata;
        self
    }

    /// A member of what a provider said about it.
    #[must_use]
    pub fn metadata_of(&self, provider: &str, key: &str) -> Option<Json<'_>> {
        let all = self.metadata.as_ref()?.as_object()?;
        let own = all.get(provider)?.clone().into_object()?;
        own.get(key).filter(|json| json.kind() != annalist_schema::raw::Kind::Null).cloned().map(Json::into_static)
    }

    /// A text among what a provider said about it; nothing if it is empty.
    #[must_use]
    pub fn text_of(&self, provider: &str, key: &str) -> Option<String> {
        self.metadata_of(provider, key).and_then(Json::into_string).map(Cow::into_owned).filter(|text| !text.is_empty())
    }
}
