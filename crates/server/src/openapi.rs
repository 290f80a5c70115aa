//! The document at `/doc` (OpenAPI 3.1), made from the route table.

use crate::request::Takes;
use crate::routes::{Asked, AskedShape, Gives, Route};
use crate::shape::{Shape, list, may, need, schema};
use annalist_schema::raw::{Json, Object};
use annalist_store::session::VERSION;

const BAD_REQUEST: Shape = Shape::Named(
    "BadRequest",
    &Shape::Object(&[
        may("_tag", Shape::Text),
        may("name", Shape::Text),
        may("data", Shape::Object(&[need("message", Shape::Text), may("kind", Shape::Text)])),
    ]),
);
const NAMED: Shape = Shape::Named(
    "Error",
    &Shape::Object(&[
        may("_tag", Shape::Text),
        may("name", Shape::Text),
        may("message", Shape::Text),
        may("data", Shape::Object(&[need("message", Shape::Text), may("ref", Shape::Text)])),
    ]),
);

/// Writes the document.
pub(crate) fn document<'r>(routes: impl Iterator<Item = &'r Route>) -> String {
    let mut named = Object::new();
    let mut paths = Object::new();
    for route in routes {
        let mut path = paths.get(route.path).and_then(Json::as_object).map(Object::into_static).unwrap_or_default();
        path.set(route.verb.word(), operation(route, &mut named));
        paths.set(route.path, path);
    }
    let mut info = Object::new();
    info.set_text("title", "annalist");
    info.set_text("description", "The session API of OpenCode, served from Annalist's record");
    info.set_text("version", VERSION);
    let mut basic = Object::tagged("type", "http");
    basic.set_text("scheme", "basic");
    let mut schemes = Object::new();
    schemes.set("basic", basic);
    let mut components = Object::new();
    components.set("schemas", named);
    components.set("securitySchemes", schemes);
    let mut document = Object::tagged("openapi", "3.1.0");
    document.set("info", info);
    document.set("paths", paths);
    document.set("components", components);
    document.to_text()
}

fn operation(route: &Route, named: &mut Object<'static>) -> Object<'static> {
    let mut operation = Object::new();
    operation.set_text("operationId", route.id);
    operation.set_text("summary", route.summary);
    let params = route.params.iter().map(|(name, prefix)| parameter("path", name, schema(&Shape::Id(prefix), named)));
    let params: Vec<Json<'static>> = params.collect();
    let queries = route.query.iter().map(|asked| parameter("query", asked.name, asked_schema(asked)));
    operation.set("parameters", list(params.into_iter().chain(queries)));
    if let Takes::Json(shape) | Takes::Loose(shape) = &route.takes {
        let mut body = Object::new();
        body.set("required", matches!(route.takes, Takes::Json(_)));
        body.set("content", content("application/json", schema(shape, named)));
        operation.set("requestBody", body);
    }
    operation.set("responses", responses(route, named));
    operation
}

fn parameter(place: &str, name: &str, schema: Object<'static>) -> Json<'static> {
    let mut parameter = Object::tagged("name", name);
    parameter.set_text("in", place);
    parameter.set("required", place == "path");
    parameter.set("schema", schema);
    parameter.into()
}

fn asked_schema(asked: &Asked) -> Object<'static> {
    let shape = match asked.shape {
        AskedShape::Text => Shape::Text,
        AskedShape::Number => Shape::Number,
        AskedShape::Count => Shape::Count,
        AskedShape::Words(words) => Shape::Words(words),
        AskedShape::Id(prefix) => Shape::Id(prefix),
    };
    schema(&shape, &mut Object::new())
}

fn responses(route: &Route, named: &mut Object<'static>) -> Object<'static> {
    let mut responses = Object::new();
    let mut answer = |status: &str, description: &str, content: Option<Object<'static>>| {
        let mut response = Object::tagged("description", description);
        if let Some(content) = content {
            response.set("content", content);
        }
        responses.set(status, response);
    };
    match &route.gives {
        Gives::Json(shape) => answer("200", "The answer", Some(content("application/json", schema(shape, named)))),
        Gives::Events => {
            let events = content("text/event-stream", schema(&Shape::Text, named));
            answer("200", "A frame an event, `data:` with a line of JSON", Some(events));
        }
        Gives::Nothing => answer("204", "Done", None),
    }
    let mut errors = vec![400_u16, 401, 403, 500, 503];
    if !matches!(route.takes, Takes::Nothing) {
        errors.extend([413, 415]);
    }
    errors.extend(route.errors);
    errors.sort_unstable();
    errors.dedup();
    for status in errors {
        let (description, shape) = match status {
            400 => ("The request does not fit", Some(&BAD_REQUEST)),
            401 => ("A user and a password are needed", None),
            403 => ("The request is addressed to another server", Some(&NAMED)),
            404 => ("It is not there", Some(&NAMED)),
            409 => ("Somebody else was first", Some(&NAMED)),
            410 => ("It was deleted", Some(&NAMED)),
            413 => ("The body is too large", Some(&NAMED)),
            415 => ("The body is no JSON by its media type", Some(&NAMED)),
            501 => ("This version cannot do it", Some(&NAMED)),
            503 => ("The database cannot be written now", Some(&NAMED)),
            _ => ("Something went wrong here; the log knows the reference", Some(&NAMED)),
        };
        answer(&status.to_string(), description, shape.map(|shape| content("application/json", schema(shape, named))));
    }
    responses
}

fn content(media: &str, schema: Object<'static>) -> Object<'static> {
    let mut typed = Object::new();
    typed.set("schema", schema);
    let mut content = Object::new();
    content.set(media, typed);
    content
}
