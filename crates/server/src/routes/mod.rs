//! The routes: one table, from which the router and the document (`/doc`) are made. A file a group of paths.

mod experimental;
mod global;
mod message;
mod permission;
mod project;
mod prompt;
mod run;
mod session;
mod sync;

use crate::app::App;
use crate::error::{Problem, Where};
use crate::openapi;
use crate::query::{self, Query};
use crate::request::{self, Ask, Takes};
use crate::shape::Shape;
use annalist_schema::raw::Json;
use axum::Router;
use axum::body::Body;
use axum::extract::{RawPathParams, Request};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter};
use std::future::Future;
use std::pin::Pin;

/// What a route does, later.
pub(crate) type Handling = Pin<Box<dyn Future<Output = Result<Response, Problem>> + Send>>;

/// A route.
pub(crate) struct Route {
    pub(crate) verb: Verb,
    /// With its parameters as `{name}`.
    pub(crate) path: &'static str,
    /// The reference's operation id, from which the official SDK's method names come.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    /// The parameters of the path with the prefix that each must have.
    pub(crate) params: &'static [(&'static str, &'static str)],
    pub(crate) query: &'static [Asked],
    pub(crate) takes: Takes,
    pub(crate) gives: Gives,
    /// Statuses beside those that any route may answer.
    pub(crate) errors: &'static [u16],
    pub(crate) handle: fn(Ask) -> Handling,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Verb {
    Get,
    Post,
    Patch,
    Delete,
}

impl Verb {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Verb::Get => "get",
            Verb::Post => "post",
            Verb::Patch => "patch",
            Verb::Delete => "delete",
        }
    }

    fn filter(self) -> MethodFilter {
        match self {
            Verb::Get => MethodFilter::GET,
            Verb::Post => MethodFilter::POST,
            Verb::Patch => MethodFilter::PATCH,
            Verb::Delete => MethodFilter::DELETE,
        }
    }
}

/// A member of the query.
pub(crate) struct Asked {
    pub(crate) name: &'static str,
    pub(crate) shape: AskedShape,
}

pub(crate) enum AskedShape {
    Text,
    /// any number; what is none counts as no bound
    Number,
    /// a whole number of zero and more
    Count,
    Words(&'static [&'static str]),
    Id(&'static str),
}

pub(crate) const fn asked(name: &'static str, shape: AskedShape) -> Asked {
    Asked { name, shape }
}

/// What a route answers when all is well.
pub(crate) enum Gives {
    Json(Shape),
    /// an event stream
    Events,
    /// nothing, with 204
    Nothing,
}

/// All groups.
pub(crate) const GROUPS: &[&[Route]] = &[
    global::ROUTES,
    project::ROUTES,
    session::ROUTES,
    message::ROUTES,
    prompt::ROUTES,
    run::ROUTES,
    permission::ROUTES,
    experimental::ROUTES,
    sync::ROUTES,
];

/// All routes.
pub(crate) fn all() -> impl Iterator<Item = &'static Route> {
    GROUPS.iter().flat_map(|group| group.iter())
}

/// The document.
pub(crate) fn document() -> String {
    openapi::document(all())
}

/// The router. Each path is served with a slash at its end too.
pub(crate) fn router(app: &App) -> Router {
    let mut router: Router<App> = Router::new();
    for route in all() {
        let handle = move |axum::extract::State(app): axum::extract::State<App>, params: RawPathParams, request: Request| {
            dispatch(route, app, params, request)
        };
        router = router.route(route.path, MethodRouter::new().on(route.verb.filter(), handle));
        router = router.route(&format!("{}/", route.path), MethodRouter::new().on(route.verb.filter(), handle));
    }
    router.fallback(no_route).method_not_allowed_fallback(no_route).with_state(app.clone())
}

async fn no_route(method: Method, uri: axum::http::Uri) -> Problem {
    let path = uri.path();
    Problem::NotFound(if path == "/api" || path.starts_with("/api/") {
        "The second generation of the interface (/api) is not served".to_owned()
    } else {
        format!("There is no {method} {path}; /doc lists what there is")
    })
}

async fn dispatch(route: &'static Route, app: App, params: RawPathParams, request: Request) -> Response {
    serve(route, app, params, request).await.unwrap_or_else(|problem| problem.into_response())
}

async fn serve(route: &'static Route, app: App, params: RawPathParams, request: Request) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();
    let params: Vec<(String, String)> = params.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    for (name, prefix) in route.params {
        let value = params.iter().find(|(given, _)| given == name).map_or("", |(_, value)| value);
        if !value.starts_with(prefix) {
            return Err(Problem::bad(Where::Params, starting(prefix, value, name)));
        }
    }
    let query = Query::parse(head.uri.query().unwrap_or_default());
    for asked in route.query {
        if let Some(value) = query.get(asked.name) {
            fits(asked, value).map_err(|message| Problem::bad(Where::Query, message))?;
        }
    }
    let body = request::body(route.takes, &head.headers, body, app.options.body_limit).await?;
    (route.handle)(Ask { app, params, query, headers: head.headers, uri: head.uri, body }).await
}

fn starting(prefix: &str, value: &str, name: &str) -> String {
    format!("Expected a string starting with \"{prefix}\", got {}\n  at [\"{name}\"]", Json::text(value))
}

fn fits(asked: &Asked, value: &str) -> Result<(), String> {
    let name = asked.name;
    match asked.shape {
        AskedShape::Text | AskedShape::Number => Ok(()),
        AskedShape::Id(prefix) if value.starts_with(prefix) => Ok(()),
        AskedShape::Id(prefix) => Err(starting(prefix, value, name)),
        AskedShape::Words(words) if words.contains(&value) => Ok(()),
        AskedShape::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            Err(format!("Expected {}, got {}\n  at [\"{name}\"]", words.join(" | "), Json::text(value)))
        }
        AskedShape::Count => {
            let number = query::number(value);
            if number.is_nan() {
                Err(format!("Expected an integer, got NaN\n  at [\"{name}\"]"))
            } else if number.fract() != 0.0 || number.is_infinite() {
                Err(format!("Expected an integer, got {value}\n  at [\"{name}\"]"))
            } else if number < 0.0 {
                Err(format!("Expected a value greater than or equal to 0, got {value}\n  at [\"{name}\"]"))
            } else {
                Ok(())
            }
        }
    }
}

/// An answer of JSON that is there as text.
pub(crate) fn json(text: String) -> Response {
    let mut response = Response::new(Body::from(text));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// `true`: what the reference answers to whatever has no other answer.
pub(crate) fn yes() -> Response {
    json("true".to_owned())
}

/// 204
pub(crate) fn nothing() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

/// Joins texts of JSON into an array.
pub(crate) fn array(items: impl Iterator<Item = String>) -> String {
    let mut out = String::from("[");
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(&item);
    }
    out.push(']');
    out
}
