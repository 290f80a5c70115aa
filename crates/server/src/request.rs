//! A request on its way to a route: what the route table already knows of it, and the body, checked.

use crate::app::App;
use crate::error::{Problem, Where};
use crate::query::Query;
use crate::shape::{self, Nulls, Shape};
use annalist_schema::raw::{Json, Object, utf8};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Uri, header};
use std::time::Duration;
use tokio_stream::StreamExt as _;

/// Levels of arrays and objects in a body, at most. More than any program writes, and what SQLite's own JSON functions take.
pub(crate) const DEEPEST: usize = 1_000;

/// A client that sends more than the limit is read on for so many times the limit, so that it hears the answer instead of
/// a broken connection.
const READ_ON: u64 = 4;

/// How long a body may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// How a route takes its body.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Takes {
    Nothing,
    /// JSON of a shape; what does not fit is told in words.
    Json(Shape),
    /// The same, read by hand in the reference: blank is `{}`, `null` is no value, and a misfit is told by its tag alone.
    Loose(Shape),
}

/// A request.
pub(crate) struct Ask {
    pub(crate) app: App,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) query: Query,
    pub(crate) headers: HeaderMap,
    pub(crate) uri: Uri,
    /// The body; an empty object where the route takes none.
    pub(crate) body: Object<'static>,
}

impl Ask {
    /// A part of the path; the table has made sure that it is there and has its prefix.
    pub(crate) fn param(&self, name: &str) -> &str {
        self.params.iter().find(|(given, _)| given == name).map_or("", |(_, value)| value)
    }

    /// A member of the body that says something: `null` is as good as none.
    pub(crate) fn field(&self, name: &str) -> Option<&Json<'static>> {
        self.body.get(name).filter(|json| json.as_str() != "null")
    }

    /// A string member of the body.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.field(name).and_then(Json::as_text).map(std::borrow::Cow::into_owned)
    }
}

/// Members that say nothing (`null`) left out, also those inside the objects named: typed bodies take `null` for absent.
pub(crate) fn without_nulls(object: &Object<'_>, inside: &[&str]) -> Object<'static> {
    let mut object = object.borrowed().into_static();
    object.retain(|_, value| value.as_str() != "null");
    for name in inside {
        if let Some(inner) = object.get(name).and_then(Json::as_object).map(|inner| without_nulls(&inner, &[])) {
            object.set(name, inner);
        }
    }
    object
}

/// Reads and checks a body.
pub(crate) async fn body(takes: Takes, headers: &HeaderMap, body: Body, limit: u64) -> Result<Object<'static>, Problem> {
    let (shape, loose) = match takes {
        Takes::Nothing => return Ok(Object::new()),
        Takes::Json(shape) => (shape, false),
        Takes::Loose(shape) => (shape, true),
    };
    if !loose && let Some(given) = foreign(headers) {
        return Err(Problem::MediaType(given));
    }
    let bytes = tokio::time::timeout(PATIENCE, read(headers, body, limit)).await;
    let bytes = bytes.map_err(|_| Problem::bad(Where::Body, "The body did not arrive in time"))??;
    parse(&bytes, &shape, loose)
}

fn parse(bytes: &[u8], shape: &Shape, loose: bool) -> Result<Object<'static>, Problem> {
    let refuse = |kind, message: String| if loose { Problem::Refused } else { Problem::bad(kind, message) };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return if loose { Ok(Object::new()) } else { Err(refuse(Where::Payload, "Expected object, got undefined".to_owned())) };
    }
    let json = utf8(bytes).and_then(Json::parse).map_err(|e| refuse(Where::Body, format!("The body is not JSON: {e}")))?;
    if json.depth() > DEEPEST {
        return Err(refuse(Where::Body, format!("The body is nested more than {DEEPEST} levels deep")));
    }
    let nulls = if loose { Nulls::Refused } else { Nulls::Absent };
    shape::check(shape, &json, nulls).map_err(|message| refuse(Where::Payload, message))?;
    Ok(json.into_object().map(Object::into_static).unwrap_or_default())
}

/// The media type of a body that says it is something else than JSON.
fn foreign(headers: &HeaderMap) -> Option<String> {
    let given = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    let essence = given.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    (essence != "application/json" && !essence.ends_with("+json")).then(|| given.to_owned())
}

async fn read(headers: &HeaderMap, body: Body, limit: u64) -> Result<Bytes, Problem> {
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    // Who asks before sending hears at once; others would find the connection closed under them.
    let asks = headers.contains_key(header::EXPECT);
    let mut large = announced.is_some_and(|length| length > limit);
    if large && asks {
        return Err(Problem::TooLarge { limit });
    }
    let mut bytes =
        Vec::with_capacity(if large { 0 } else { announced.and_then(|n| usize::try_from(n).ok()).unwrap_or(0).min(1 << 20) });
    let mut arrived = 0_u64;
    let mut frames = body.into_data_stream();
    while let Some(frame) = frames.next().await {
        let frame = frame.map_err(|_| Problem::bad(Where::Body, "The body broke off"))?;
        arrived = arrived.saturating_add(frame.len() as u64);
        if arrived > limit {
            large = true;
            bytes = Vec::new();
        }
        if arrived > limit.saturating_mul(READ_ON) {
            break;
        }
        if !large {
            bytes.extend_from_slice(&frame);
        }
    }
    if large { Err(Problem::TooLarge { limit }) } else { Ok(Bytes::from(bytes)) }
}
