//! A request from a history, all steps in order.

use crate::describe::Model;
use crate::neutral::{ModelMessage, Role, Settings, to_model_messages};
use crate::repair::{Report, repair};
use crate::transform::{finish, transform};
use crate::wire::{self, Count, Options};
use annalist_schema::Json;
use std::io::{self, Write};

/// A request, ready to be written. It borrows the history that it was made from.
#[derive(Debug)]
pub struct Request<'a> {
    /// The conversation, in the provider's order.
    pub messages: Vec<ModelMessage<'a>>,
    /// What was changed so that the provider accepts it.
    pub report: Report,
}

impl<'a> Request<'a> {
    /// A request of system prompts and a history: messages after `filter_compacted`, each the text of its info and the
    /// texts of its parts. Never fails.
    pub fn new<'j, P>(
        system: impl IntoIterator<Item = &'a str>,
        history: impl IntoIterator<Item = (&'a Json<'j>, P)>,
        model: &Model,
        settings: &Settings,
    ) -> Self
    where
        'j: 'a,
        P: IntoIterator<Item = &'a Json<'j>>,
    {
        let mut messages = to_model_messages(history, model, settings);
        let system = system.into_iter().filter(|text| !text.is_empty()).map(|text| ModelMessage::text(Role::System, text));
        messages.splice(0..0, system);
        Request::of(messages, model, settings)
    }

    /// A request of neutral messages.
    #[must_use]
    pub fn of(mut messages: Vec<ModelMessage<'a>>, model: &Model, settings: &Settings) -> Self {
        transform(&mut messages, model);
        let report = if settings.as_reference { Report::default() } else { repair(&mut messages, model) };
        finish(&mut messages, model);
        Request { messages, report }
    }

    /// Writes the body.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, model: &Model, options: &Options<'_>, to: &mut dyn Write) -> io::Result<()> {
        wire::write(&self.messages, model, options, to)
    }

    /// How large the body is.
    #[must_use]
    pub fn count(&self, model: &Model, options: &Options<'_>) -> Count {
        wire::count(&self.messages, model, options)
    }
}
