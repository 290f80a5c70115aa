//! The newest messages of their kinds (reference-storage 4.7), by time and then id: ids alone are no order.

use crate::transcript::WithParts;
use annalist_schema::raw::Object;
use annalist_schema::{Json, Message};
use std::cmp::Ordering;

/// The newest messages of a stretch, as places in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latest {
    /// the newest of a person
    pub user: Option<usize>,
    /// the newest of an assistant
    pub assistant: Option<usize>,
    /// the newest of an assistant whose last step ended (`finish`)
    pub finished: Option<usize>,
    /// Parts that ask for work of their own (compaction, subtask) in messages newer than `finished`: message and part, in the
    /// order of the stretch. The last one is due first.
    pub tasks: Vec<(usize, usize)>,
}

/// Finds them in messages of any order.
#[must_use]
pub fn latest(messages: &[WithParts]) -> Latest {
    let infos: Vec<Info<'_>> = messages.iter().map(|message| Info::of(&message.info)).collect();
    let newest = |wanted: &dyn Fn(&Info<'_>) -> bool| {
        let mut best: Option<usize> = None;
        for (index, info) in infos.iter().enumerate().filter(|(_, info)| wanted(info)) {
            if best.is_none_or(|best| infos.get(best).is_some_and(|best| info.newer(best))) {
                best = Some(index);
            }
        }
        best
    };
    let finished = newest(&|info| matches!(info.message, Message::Assistant(_)) && info.finished);
    let mut tasks = Vec::new();
    for (index, (message, info)) in messages.iter().zip(&infos).enumerate() {
        if finished.and_then(|finished| infos.get(finished)).is_some_and(|finished| !info.newer(finished)) {
            continue;
        }
        let parts = message.parts.iter().enumerate();
        let due = parts.filter(|(_, part)| matches!(kind(part).as_deref(), Some("compaction" | "subtask")));
        tasks.extend(due.map(|(part, _)| (index, part)));
    }
    Latest {
        user: newest(&|info| matches!(info.message, Message::User(_))),
        assistant: newest(&|info| matches!(info.message, Message::Assistant(_))),
        finished,
        tasks,
    }
}

fn kind(part: &Json<'_>) -> Option<String> {
    part.as_object()?.text("type").map(std::borrow::Cow::into_owned)
}

/// What the comparison needs of a message.
struct Info<'m> {
    message: Message<'m>,
    created: f64,
    id: String,
    finished: bool,
}

impl<'m> Info<'m> {
    fn of(info: &'m Json<'_>) -> Self {
        let object = info.as_object().unwrap_or_default();
        let time = object.get("time").and_then(Json::as_object).unwrap_or_default();
        Info {
            created: time.get("created").and_then(Json::as_number).map_or(0.0, |created| created.as_f64()),
            id: object.text("id").unwrap_or_default().into_owned(),
            finished: truthy(&object, "finish"),
            message: Message::from_object(object),
        }
    }

    fn newer(&self, other: &Self) -> bool {
        match self.created.total_cmp(&other.created) {
            Ordering::Equal => self.id > other.id,
            order => order == Ordering::Greater,
        }
    }
}

/// Whether JavaScript would take a field for true.
pub(crate) fn truthy(object: &Object<'_>, key: &str) -> bool {
    use annalist_schema::raw::Kind;
    object.get(key).is_some_and(|json| match json.kind() {
        Kind::Null => false,
        Kind::Bool => json.as_bool() == Some(true),
        Kind::Number => json.as_number().is_some_and(|number| number.as_f64() != 0.0),
        Kind::String => json.as_str() != "\"\"",
        Kind::Array | Kind::Object => true,
    })
}
