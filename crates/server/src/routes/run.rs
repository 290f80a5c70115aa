//! What takes a model: answers, shell, commands, compaction. This version keeps conversations and does not lead them.

use super::session::{of_session, read};
use super::{Handling, Route, Verb};
use crate::error::Problem;
use crate::request::{Ask, Takes};
use crate::shape::{Shape, may, need};
use crate::shapes;
use annalist_store::Store;

/// What a request that needs a model is told.
pub(super) const NO_MODEL: &str = "This version does not run models; send the prompt with \"noReply\": true to keep it";

const SUMMARIZE: Shape = Shape::Object(&[need("providerID", Shape::Text), need("modelID", Shape::Text), may("auto", Shape::Bool)]);
const INIT: Shape =
    Shape::Object(&[need("modelID", Shape::Text), need("providerID", Shape::Text), need("messageID", Shape::Id("msg"))]);
const COMMAND: Shape = Shape::Object(&[
    may("messageID", Shape::Id("msg")),
    may("agent", Shape::Text),
    may("model", Shape::Text),
    need("arguments", Shape::Text),
    need("command", Shape::Text),
    may("variant", Shape::Text),
]);
const SHELL: Shape = Shape::Object(&[
    may("messageID", Shape::Id("msg")),
    need("agent", Shape::Text),
    may("model", shapes::MODEL),
    need("command", Shape::Text),
]);

pub(super) const ROUTES: &[Route] = &[
    later("/session/{sessionID}/summarize", "session.summarize", "Sums a session up", SUMMARIZE, Shape::Bool),
    later("/session/{sessionID}/init", "session.init", "Writes instructions for the project", INIT, Shape::Bool),
    later("/session/{sessionID}/command", "session.command", "Runs a command", COMMAND, shapes::MESSAGE_WITH_PARTS),
    later("/session/{sessionID}/shell", "session.shell", "Runs a shell command", SHELL, shapes::MESSAGE_WITH_PARTS),
];

const fn later(path: &'static str, id: &'static str, summary: &'static str, takes: Shape, gives: Shape) -> Route {
    let mut route = of_session(Verb::Post, path, id, summary, Takes::Json(takes), gives, not_yet);
    route.errors = &[404, 501];
    route
}

fn not_yet(ask: Ask) -> Handling {
    Box::pin(async move {
        read(&ask, Store::session).await?;
        Err(Problem::NotImplemented(NO_MODEL))
    })
}
