//! `/session/{sessionID}/message` and the parts below it: reading, changing and removing.

use super::session::{SESSION, of_session, read};
use super::{AskedShape, Gives, Handling, Route, Verb, array, asked, json, yes};
use crate::error::{Problem, Where};
use crate::query;
use crate::request::{self, Ask, Takes};
use crate::shape::{Shape, may, need};
use crate::shapes;
use annalist_schema::Part;
use annalist_schema::raw::Json;
use annalist_store::query::{Cursor, Direction, MessageRange};
use annalist_store::row::{MessageRow, PartRow};
use annalist_store::{Durability, Error, Flow, Snapshot, hydrate, transcript};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::Response;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

const MESSAGE: &[(&str, &str)] = &[("sessionID", "ses"), ("messageID", "msg")];
const PART: &[(&str, &str)] = &[("sessionID", "ses"), ("messageID", "msg"), ("partID", "prt")];
const REVERT: Shape = Shape::Object(&[need("messageID", Shape::Id("msg")), may("partID", Shape::Id("prt"))]);

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/session/{sessionID}/message",
        id: "session.messages",
        summary: "A session's messages, oldest first: all, or the newest `limit` of those before `before`",
        params: SESSION,
        query: &[asked("limit", AskedShape::Count), asked("before", AskedShape::Text)],
        takes: Takes::Nothing,
        gives: Gives::Json(shapes::MESSAGES),
        errors: &[404],
        handle: |ask| Box::pin(messages(ask)),
    },
    Route {
        verb: Verb::Get,
        path: "/session/{sessionID}/message/{messageID}",
        id: "session.message",
        summary: "A message with its parts",
        params: MESSAGE,
        query: &[],
        takes: Takes::Nothing,
        gives: Gives::Json(shapes::MESSAGE_WITH_PARTS),
        errors: &[404],
        handle: message,
    },
    Route {
        verb: Verb::Delete,
        path: "/session/{sessionID}/message/{messageID}",
        id: "session.deleteMessage",
        summary: "Removes a message with its parts; true also if there was none",
        params: MESSAGE,
        query: &[],
        takes: Takes::Nothing,
        gives: Gives::Json(Shape::Bool),
        errors: &[404, 409],
        handle: delete_message,
    },
    Route {
        verb: Verb::Patch,
        path: "/session/{sessionID}/message/{messageID}/part/{partID}",
        id: "part.update",
        summary: "Writes a part whole, new or not",
        params: PART,
        query: &[],
        takes: Takes::Json(shapes::PART),
        gives: Gives::Json(shapes::PART),
        errors: &[404, 409, 410],
        handle: patch_part,
    },
    Route {
        verb: Verb::Delete,
        path: "/session/{sessionID}/message/{messageID}/part/{partID}",
        id: "part.delete",
        summary: "Removes a part; true also if there was none",
        params: PART,
        query: &[],
        takes: Takes::Nothing,
        gives: Gives::Json(Shape::Bool),
        errors: &[404],
        handle: delete_part,
    },
    Route {
        verb: Verb::Get,
        path: "/session/{sessionID}/diff",
        id: "session.diff",
        summary: "What the turn of a person's message changed",
        params: SESSION,
        query: &[asked("messageID", AskedShape::Id("msg"))],
        takes: Takes::Nothing,
        gives: Gives::Json(shapes::DIFFS),
        errors: &[],
        handle: diff,
    },
    of_session(
        Verb::Post,
        "/session/{sessionID}/revert",
        "session.revert",
        "Marks the end of a session as undone, from a message or a part on",
        Takes::Json(REVERT),
        shapes::SESSION,
        revert,
    ),
    of_session(
        Verb::Post,
        "/session/{sessionID}/unrevert",
        "session.unrevert",
        "Takes the mark back",
        Takes::Nothing,
        shapes::SESSION,
        unrevert,
    ),
];

async fn messages(ask: Ask) -> Result<Response, Problem> {
    let before = ask.query.filled("before");
    // A count was checked; zero is all, as in the reference.
    let limit = ask.query.get("limit").map(|limit| query::number(limit) as u32).filter(|limit| *limit > 0);
    if before.is_some() && limit.is_none() {
        return Err(Problem::Refused);
    }
    let before = before.map(Cursor::decode).transpose()?;
    let Some(limit) = limit else {
        return Ok(json(read(&ask, |store, id| store.read(|view| all(view, id))).await?));
    };
    let (text, older) = read(&ask, move |store, id| store.read(|view| newest(view, id, limit, before))).await?;
    let mut response = json(text);
    if let Some(cursor) = older {
        let cursor = cursor.encode();
        let headers = response.headers_mut();
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Link, X-Next-Cursor"));
        for (name, value) in [
            (header::LINK, format!("<{}>; rel=\"next\"", next(&ask, limit, &cursor))),
            (HeaderName::from_static("x-next-cursor"), cursor),
        ] {
            headers.insert(name, HeaderValue::from_str(&value).map_err(Problem::internal)?);
        }
    }
    Ok(response)
}

/// All messages, written into one buffer as they are read.
fn all(view: &dyn Snapshot, session: &str) -> Result<String, Error> {
    let mut out = String::from("[");
    transcript::visit(view, &MessageRange::oldest_first(session), &mut |message, parts| {
        if out.len() > 1 {
            out.push(',');
        }
        write(message, parts, &mut out);
        Flow::Continue
    })?;
    out.push(']');
    if out.len() == 2 && view.session(session)?.is_none() {
        return Err(Error::NotFound { what: "Session", id: session.to_owned() });
    }
    Ok(out)
}

/// The newest messages, and where those before them begin.
fn newest(view: &dyn Snapshot, session: &str, limit: u32, before: Option<Cursor>) -> Result<(String, Option<Cursor>), Error> {
    let range = MessageRange {
        session,
        direction: Direction::NewestFirst,
        beyond: before,
        // The one too many only says that there are more.
        limit: Some(limit.saturating_add(1)),
    };
    let mut texts: Vec<String> = Vec::new();
    let (mut last, mut more) = (None, false);
    transcript::visit(view, &range, &mut |message, parts| {
        if texts.len() == limit as usize {
            more = true;
            return Flow::Stop;
        }
        let mut text = String::new();
        write(message, parts, &mut text);
        texts.push(text);
        last = Some(Cursor { id: message.id.to_string(), time: message.created });
        Flow::Continue
    })?;
    if texts.is_empty() && view.session(session)?.is_none() {
        return Err(Error::NotFound { what: "Session", id: session.to_owned() });
    }
    Ok((array(texts.into_iter().rev()), last.filter(|_| more)))
}

fn write(message: &MessageRow<'_>, parts: &[PartRow<'_>], out: &mut String) {
    out.push_str("{\"info\":");
    out.push_str(hydrate::message(message).as_str());
    out.push_str(",\"parts\":[");
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        out.push_str(hydrate::part(part).as_str());
    }
    out.push_str("]}");
}

/// What `URLSearchParams` leaves as it is.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'*').remove(b'-').remove(b'.').remove(b'_');

/// This request's address with another place.
fn next(ask: &Ask, limit: u32, cursor: &str) -> String {
    let limit = limit.to_string();
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for (name, value) in ask.query.pairs() {
        let value = match name.as_str() {
            "limit" => limit.as_str(),
            "before" => cursor,
            _ => value,
        };
        pairs.push((name, value));
    }
    if !pairs.iter().any(|(name, _)| *name == "before") {
        pairs.push(("before", cursor));
    }
    let encode = |text: &str| utf8_percent_encode(text, PLAIN).to_string().replace("%20", "+");
    let query: Vec<String> = pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    let host = ask.headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("localhost");
    format!("http://{host}{}?{}", ask.uri.path(), query.join("&"))
}

fn message(ask: Ask) -> Handling {
    Box::pin(async move {
        let id = ask.param("messageID").to_owned();
        let message = read(&ask, move |store, session| store.get(session, &id)).await?;
        Ok(json(with_parts(&message)))
    })
}

/// A message with its parts as one JSON object.
pub(super) fn with_parts(message: &transcript::WithParts) -> String {
    let parts = array(message.parts.iter().map(|part| part.as_str().to_owned()));
    format!("{{\"info\":{},\"parts\":{parts}}}", message.info.as_str())
}

fn delete_message(ask: Ask) -> Handling {
    Box::pin(async move {
        let (session, message) = (ask.param("sessionID"), ask.param("messageID"));
        ask.app.write(|store| store.remove_message(session, message)).await?;
        Ok(yes())
    })
}

fn patch_part(ask: Ask) -> Handling {
    Box::pin(async move {
        let named = [("id", "partID"), ("sessionID", "sessionID"), ("messageID", "messageID")];
        if named.iter().any(|(key, param)| ask.body.text(key).as_deref() != Some(ask.param(param))) {
            return Err(Problem::Refused);
        }
        let part = Part::from_object(request::without_nulls(&ask.body, &["time", "model"]));
        let part = ask.app.write(|store| store.update_part(part, Durability::Power)).await?;
        Ok(json(part.object().to_text()))
    })
}

fn delete_part(ask: Ask) -> Handling {
    Box::pin(async move {
        let (session, message, part) = (ask.param("sessionID"), ask.param("messageID"), ask.param("partID"));
        ask.app.write(|store| store.remove_part(session, message, part)).await?;
        Ok(yes())
    })
}

fn diff(ask: Ask) -> Handling {
    Box::pin(async move {
        let none = || json("[]".to_owned());
        let Some(id) = ask.query.get("messageID").map(str::to_owned) else { return Ok(none()) };
        match read(&ask, move |store, session| store.get(session, &id)).await {
            Ok(message) => {
                let info = message.info.as_object().unwrap_or_default();
                let summary = info.get("summary").filter(|_| info.text("role").as_deref() == Some("user"));
                let diffs = summary.and_then(Json::as_object).and_then(|summary| Some(summary.get("diffs")?.as_str().to_owned()));
                Ok(diffs.map_or_else(none, json))
            }
            Err(Problem::NotFound(_)) => Ok(none()),
            Err(other) => Err(other),
        }
    })
}

fn revert(ask: Ask) -> Handling {
    Box::pin(async move {
        let session = ask.param("sessionID");
        let message = ask
            .text("messageID")
            .ok_or(Problem::BadRequest { kind: Where::Payload, message: "Missing key\n  at [\"messageID\"]".to_owned() })?;
        let part = ask.text("partID");
        let reverted = ask.app.write(|store| store.revert_session(session, &message, part.as_deref())).await?;
        Ok(json(reverted.session.to_text()))
    })
}

fn unrevert(ask: Ask) -> Handling {
    Box::pin(async move {
        let session = ask.param("sessionID");
        let session = ask.app.write(|store| store.unrevert_session(session)).await?;
        Ok(json(session.to_text()))
    })
}
