//! `/sync/*`: logs on their way between copies of a record (reference-storage 3.3).

use super::{Gives, Handling, Route, Verb, json, yes};
use crate::error::{Problem, Where};
use crate::request::{Ask, Takes};
use crate::shape::{Shape, may, need};
use annalist_schema::event::SyncEvent;
use annalist_schema::raw::{Json, Object, utf8};
use annalist_store::Flow;
use annalist_store::log::LogHead;
use annalist_store::replay::{ForeignEvent, Replay};
use std::collections::HashMap;

const EVENT: Shape = Shape::Object(&[
    need("id", Shape::Id("evt_")),
    need("aggregateID", Shape::Text),
    need("seq", Shape::Count),
    need("type", Shape::Text),
    need("data", Shape::Record),
]);
const REPLAY: Shape = Shape::Object(&[need("directory", Shape::Text), need("events", Shape::Some(&EVENT))]);
const STEAL: Shape = Shape::Object(&[need("sessionID", Shape::Id("ses"))]);
const EVENT_ROW: Shape = Shape::Object(&[
    need("id", Shape::Text),
    need("aggregate_id", Shape::Text),
    need("seq", Shape::Count),
    need("type", Shape::Text),
    may("data", Shape::Any),
]);
const REPLAYED: Shape = Shape::Object(&[need("sessionID", Shape::Text)]);

pub(super) const ROUTES: &[Route] = &[
    post("/sync/start", "sync.start", "Starts following other copies; there are none", Takes::Nothing, Shape::Bool, &[], |_| {
        Box::pin(async { Ok(yes()) })
    }),
    post(
        "/sync/history",
        "sync.history.list",
        "The events of all logs behind the numbers given",
        Takes::Json(Shape::Map(&Shape::Count)),
        Shape::List(&EVENT_ROW),
        &[],
        history,
    ),
    post("/sync/replay", "sync.replay", "Takes events of another copy", Takes::Json(REPLAY), REPLAYED, &[404, 409], replay),
    // Without workspaces there is nobody to steal for: the reference's answer.
    post("/sync/steal", "sync.steal", "Moves a session into the request's workspace", Takes::Json(STEAL), REPLAYED, &[], |_| {
        Box::pin(async { Err(Problem::Refused) })
    }),
];

const fn post(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    takes: Takes,
    gives: Shape,
    errors: &'static [u16],
    handle: fn(Ask) -> Handling,
) -> Route {
    Route { verb: Verb::Post, path, id, summary, params: &[], query: &[], takes, gives: Gives::Json(gives), errors, handle }
}

/// Rows with their data as it stands in the log, written into one buffer as they are read.
fn history(ask: Ask) -> Handling {
    Box::pin(async move {
        let numbers = ask.body.entries().iter().map(|entry| {
            // A float cast saturates.
            let seq = entry.value().as_number().map_or(-1, |number| number.as_i64().unwrap_or(number.as_f64() as i64));
            (entry.key().into_owned(), seq)
        });
        let known: HashMap<String, i64> = numbers.collect();
        let text = ask.app.blocking(move |app| {
            let mut out = String::from("[");
            app.store.history(&known, |head, data| {
                if out.len() > 1 {
                    out.push(',');
                }
                row(head, data, &mut out);
                Flow::Continue
            })?;
            out.push(']');
            Ok(out)
        });
        Ok(json(text.await?))
    })
}

fn row(head: &LogHead<'_>, data: &[u8], out: &mut String) {
    let mut row: Object<'_> = Object::new();
    row.set_text("id", &head.id);
    row.set_text("aggregate_id", &head.session);
    row.set("seq", Json::from(head.seq));
    row.set_text("type", &head.kind);
    // Bytes that are no JSON cannot be told in JSON.
    if let Ok(data) = utf8(data).and_then(Json::parse) {
        row.set("data", data);
    }
    row.write(out);
}

fn replay(ask: Ask) -> Handling {
    Box::pin(async move {
        let events = ask.field("events").and_then(Json::as_array).unwrap_or_default();
        let events: Vec<ForeignEvent> = events
            .into_iter()
            .filter_map(Json::into_object)
            .map(|event| ForeignEvent::of(&SyncEvent::from_object(event)))
            .collect::<Result<_, _>>()
            .map_err(|problem| Problem::bad(Where::Payload, problem.to_string()))?;
        // Nobody is told, and a log of another owner is refused: as the reference does here.
        let how = Replay { publish: false, owner: None, strict_owner: true };
        let replayed = ask.app.store.replay_all(events, how).await?;
        let mut answer = Object::new();
        answer.set_text("sessionID", &replayed.session);
        Ok(json(answer.to_text()))
    })
}
