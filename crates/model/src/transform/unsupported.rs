//! Files of kinds that the model does not take (reference 1.6, 1).

use crate::describe::Model;
use crate::neutral::{Block, ModelMessage, Role};
use crate::text::Text;

pub(super) fn replace(messages: &mut [ModelMessage<'_>], model: &Model) {
    for message in messages.iter_mut().filter(|message| message.role == Role::User) {
        for content in &mut message.content {
            let Block::File(file) = &content.block else { continue };
            let Some(kind) = unsupported(&file.media_type, model) else { continue };
            let name = file.name.as_deref().map_or_else(|| kind.to_owned(), |name| format!("\"{name}\""));
            content.block = Block::Text(cannot_read(&name, &format!("this model does not support {kind} input")));
        }
    }
}

/// What the model and, through it, the person is told instead.
pub(crate) fn cannot_read(name: &str, why: &str) -> Text<'static> {
    Text::plain(format!("ERROR: Cannot read {name} ({why}). Inform the user."))
}

/// The kind of a media type, if the model takes none of it.
fn unsupported(media_type: &str, model: &Model) -> Option<&'static str> {
    let takes = &model.capabilities.input;
    let (kind, taken) = match media_type.split('/').next().unwrap_or_default() {
        "image" => ("image", takes.image),
        "audio" => ("audio", takes.audio),
        "video" => ("video", takes.video),
        _ if media_type == "application/pdf" => ("pdf", takes.pdf),
        _ => return None,
    };
    (!taken).then_some(kind)
}
