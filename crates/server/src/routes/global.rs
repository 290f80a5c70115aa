//! What is about the server: `/global/*`, `/event`, `/doc`.

use super::{Asked, AskedShape, Gives, Handling, Route, Verb, asked, json};
use crate::folder;
use crate::live::{self, Scope};
use crate::request::{Ask, Takes};
use crate::shape::{Shape, need};
use annalist_schema::raw::Object;
use annalist_store::session::VERSION;

/// The folder of a request, which all but a few routes take.
pub(super) const FOLDER: Asked = asked("directory", AskedShape::Text);

const HEALTH: Shape = Shape::Object(&[need("healthy", Shape::Bool), need("version", Shape::Text)]);

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/global/health",
        id: "global.health",
        summary: "Whether the server is well, and the version of OpenCode that it stands for",
        params: &[],
        query: &[],
        takes: Takes::Nothing,
        gives: Gives::Json(HEALTH),
        errors: &[],
        handle: |ask| Box::pin(health(ask)),
    },
    Route {
        verb: Verb::Get,
        path: "/global/event",
        id: "global.event",
        summary: "What happens, in all folders",
        params: &[],
        query: &[],
        takes: Takes::Nothing,
        gives: Gives::Events,
        errors: &[],
        handle: |ask| Box::pin(async move { live::respond(&ask, Scope::All).await }),
    },
    Route {
        verb: Verb::Get,
        path: "/event",
        id: "event.subscribe",
        summary: "What happens in one folder",
        params: &[],
        query: &[FOLDER],
        takes: Takes::Nothing,
        gives: Gives::Events,
        errors: &[],
        handle: events,
    },
    Route {
        verb: Verb::Get,
        path: "/doc",
        id: "doc",
        summary: "This document",
        params: &[],
        query: &[],
        takes: Takes::Nothing,
        gives: Gives::Json(Shape::Record),
        errors: &[],
        handle: |ask| Box::pin(async move { Ok(json(ask.app.document.clone())) }),
    },
];

async fn health(_: Ask) -> Result<axum::response::Response, crate::error::Problem> {
    let mut health = Object::new();
    health.set("healthy", true);
    health.set_text("version", VERSION);
    Ok(json(health.to_text()))
}

fn events(ask: Ask) -> Handling {
    Box::pin(async move {
        let folder = folder::of(&ask).await?;
        live::respond(&ask, Scope::Folder(folder.directory)).await
    })
}
