//! Files that the provider takes one by one and not all together. The oldest go first.

use super::files::{no_room, visit};
use super::{Change, Report};
use crate::describe::Model;
use crate::image;
use crate::neutral::{Block, Data, File, Item, ModelMessage, Output};
use crate::rules::Rule;
use crate::rules::limits::{self, Media};
use crate::wire::{self, Options};

pub(super) fn repair(messages: &mut [ModelMessage<'_>], model: &Model, report: &mut Report) {
    let limits = limits::media(model);
    let (mut files, mut images) = (0, 0);
    visit(messages, |_, file| {
        files += 1;
        images += usize::from(is_image(file, &limits));
        None
    });
    if files == 0 {
        return;
    }
    if let Some((many, most)) = limits.pixels_of_many {
        let mut left = images;
        take(messages, Rule::MediaPixels, report, |file| {
            let goes = left > many && is_image(file, &limits) && side(file) > most;
            left -= usize::from(goes);
            goes
        });
        images = left;
    }
    if images > limits.images_count {
        take(messages, Rule::MediaCount, report, |file| {
            let goes = images > limits.images_count && is_image(file, &limits);
            images -= usize::from(goes);
            goes
        });
    }
    // Counting writes the whole body to nowhere; most conversations are far too small to need it.
    if roughly(messages) > limits.request_bytes / 2 {
        let mut bytes = wire::count(messages, model, &Options::default()).bytes;
        take(messages, Rule::MediaTotal, report, |file| {
            let goes = bytes > limits.request_bytes - SPARE;
            if goes {
                bytes = bytes.saturating_sub(file.len() as u64);
            }
            goes
        });
    }
}

/// Room for what a request says beside the conversation, tools above all.
const SPARE: u64 = 1024 * 1024;

/// Replaces the files that go.
fn take<'a>(messages: &mut [ModelMessage<'a>], rule: Rule, report: &mut Report, mut goes: impl FnMut(&File<'a>) -> bool) {
    visit(messages, |place, file| {
        if !goes(file) {
            return None;
        }
        let text = no_room(file);
        report.add(rule, place.message, place.part, Change::Replaced { by: text.to_str().into_owned() });
        Some(text)
    });
}

fn is_image(file: &File<'_>, limits: &Media) -> bool {
    limits.images.contains(&&*file.media_type) && matches!(file.data, Data::Base64(_))
}

fn side(file: &File<'_>) -> u32 {
    match &file.data {
        Data::Base64(data) => image::look(data).pixels.map_or(0, |(width, height)| width.max(height)),
        Data::Url(_) => 0,
    }
}

/// About the bytes of a body, from the lengths alone.
fn roughly(messages: &[ModelMessage<'_>]) -> u64 {
    let content = messages.iter().flat_map(|message| &message.content);
    let bytes = content.map(|content| match &content.block {
        Block::Text(text) | Block::Reasoning(text) => text.len(),
        Block::File(file) => file.len(),
        Block::ToolCall(call) => call.input.as_str().len(),
        Block::ToolResult(result) => match &result.output {
            Output::Text(text) | Output::Error(text) => text.len(),
            Output::Content(items) => items
                .iter()
                .map(|item| match item {
                    Item::Text(text) => text.len(),
                    Item::File(file) => file.len(),
                })
                .sum(),
        },
    });
    bytes.map(|bytes| bytes as u64 + 200).sum()
}
