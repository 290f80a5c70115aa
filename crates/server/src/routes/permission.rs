//! Questions to a person: `/permission`, `/question`. Nothing asks yet, so there are none to list and none to answer.

use super::global::FOLDER;
use super::{Gives, Handling, Route, Verb, json};
use crate::error::Problem;
use crate::request::{Ask, Takes};
use crate::shape::{Shape, may, need};
use axum::http::StatusCode;

const REPLY: Shape = Shape::Words(&["once", "always", "reject"]);

pub(super) const ROUTES: &[Route] = &[
    list("/permission", "permission.list", "The permissions that are asked for"),
    list("/question", "question.list", "The questions that wait for an answer"),
    reply(
        "/permission/{requestID}/reply",
        "permission.reply",
        "Answers a request for permission",
        &[("requestID", "per")],
        Takes::Json(Shape::Object(&[need("reply", REPLY), may("message", Shape::Text)])),
        |ask| Box::pin(async move { Err(unknown(&ask, "requestID", "PermissionNotFoundError", "Permission")) }),
    ),
    reply(
        "/session/{sessionID}/permissions/{permissionID}",
        "permission.respond",
        "Answers a request for permission (older form)",
        &[("sessionID", "ses"), ("permissionID", "per")],
        Takes::Json(Shape::Object(&[need("response", REPLY)])),
        |ask| Box::pin(async move { Err(unknown(&ask, "permissionID", "PermissionNotFoundError", "Permission")) }),
    ),
    reply(
        "/question/{requestID}/reply",
        "question.reply",
        "Answers a question",
        &[("requestID", "que")],
        Takes::Json(Shape::Object(&[need("answers", Shape::List(&Shape::List(&Shape::Text)))])),
        |ask| Box::pin(async move { Err(unknown(&ask, "requestID", "QuestionNotFoundError", "Question")) }),
    ),
    reply(
        "/question/{requestID}/reject",
        "question.reject",
        "Refuses to answer a question",
        &[("requestID", "que")],
        Takes::Nothing,
        |ask| Box::pin(async move { Err(unknown(&ask, "requestID", "QuestionNotFoundError", "Question")) }),
    ),
];

const fn list(path: &'static str, id: &'static str, summary: &'static str) -> Route {
    Route {
        verb: Verb::Get,
        path,
        id,
        summary,
        params: &[],
        query: &[FOLDER],
        takes: Takes::Nothing,
        gives: Gives::Json(Shape::List(&Shape::Record)),
        errors: &[],
        handle: |_| Box::pin(async { Ok(json("[]".to_owned())) }),
    }
}

const fn reply(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    params: &'static [(&'static str, &'static str)],
    takes: Takes,
    handle: fn(Ask) -> Handling,
) -> Route {
    Route {
        verb: Verb::Post,
        path,
        id,
        summary,
        params,
        query: &[],
        takes,
        gives: Gives::Json(Shape::Bool),
        errors: &[404],
        handle,
    }
}

fn unknown(ask: &Ask, param: &str, tag: &'static str, what: &str) -> Problem {
    let id = ask.param(param).to_owned();
    let message = format!("{what} request not found: {id}");
    Problem::Tagged { status: StatusCode::NOT_FOUND, tag, field: Some(("requestID", id)), message }
}
