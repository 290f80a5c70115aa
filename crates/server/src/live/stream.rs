//! An event stream over HTTP (reference-storage 3.5): the headers, the first frame, the signs of life and the end.

use super::Scope;
use super::frames::{Frames, write};
use crate::app::App;
use crate::error::Problem;
use crate::request::Ask;
use annalist_schema::event::{
    EventFrame, GlobalDisposed, GlobalFrame, Payload, ServerConnected, ServerHeartbeat, ServerInstanceDisposed,
};
use annalist_schema::{Event, Field as _, PassingEvent, id};
use annalist_store::Start;
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use std::convert::Infallible;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

/// Pieces on their way into the connection, of some 64 KB or one event. What waits beyond them waits with the record, within
/// the bound.
const UNDER_WAY: usize = 1;

/// Opens a stream: subscribed before the answer begins, so that nothing told after it is missed. A client that names the last
/// event it had is told what it missed first.
pub(crate) async fn respond(ask: &Ask, scope: Scope) -> Result<Response, Problem> {
    let start = match ask.headers.get("last-event-id") {
        None => Start::Now,
        Some(id) => Start::resume(id.to_str().unwrap_or_default()),
    };
    let of = scope.clone();
    let frames = ask.app.blocking(move |app| Ok(Frames::open(&app.live, of, start)?)).await?;
    let (to_client, pieces) = mpsc::channel(UNDER_WAY);
    tokio::spawn(feed(ask.app.clone(), frames, scope, to_client));
    let mut response = Response::new(Body::from_stream(ReceiverStream::new(pieces).map(Ok::<Bytes, Infallible>)));
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// Feeds one client until it goes, falls behind, or the server ends.
async fn feed(app: App, mut frames: Frames, scope: Scope, to_client: mpsc::Sender<Bytes>) {
    let mut ending = app.ending.clone();
    let every = app.options.heartbeat;
    let mut alive = tokio::time::interval_at(Instant::now() + every, every);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut next = own(&scope, ServerConnected::default().into());
    // What was missed is there already.
    let mut awake = true;
    loop {
        if !next.is_empty() {
            if !send(&to_client, &mut frames, std::mem::take(&mut next)).await {
                return;
            }
            // Sending listens for being given up, and may have taken the word that something came.
            awake = true;
        }
        if awake {
            // The log is read where it keeps nobody else waiting.
            let looked = tokio::task::spawn_blocking(move || {
                let batch = frames.look();
                (frames, batch)
            });
            let Ok((back, batch)) = looked.await else { return };
            frames = back;
            awake = false;
            next = batch.text;
            if batch.over {
                if !next.is_empty() {
                    send(&to_client, &mut frames, next).await;
                }
                return;
            }
            continue;
        }
        tokio::select! {
            () = to_client.closed() => return,
            // A sender that is gone ends the server just as well.
            _ = async { ending.wait_for(|ending| *ending).await.is_ok() } => {
                // Nobody left to hear it is no loss.
                to_client.send(Bytes::from(farewell(&scope))).await.ok();
                return;
            }
            ready = frames.ready() => {
                if ready.is_err() {
                    return;
                }
                awake = true;
            }
            _ = alive.tick() => next = own(&scope, ServerHeartbeat::default().into()),
        }
    }
}

/// Hands a piece to the connection. Not for ever: a client that falls too far behind meanwhile is given up. Answers whether
/// it was taken.
async fn send(to_client: &mpsc::Sender<Bytes>, frames: &mut Frames, piece: String) -> bool {
    let mut sending = std::pin::pin!(to_client.send(Bytes::from(piece)));
    loop {
        tokio::select! {
            sent = &mut sending => return sent.is_ok(),
            ready = frames.ready() => {
                if ready.is_err() || frames.is_lagged() {
                    return false;
                }
            }
        }
    }
}

fn farewell(scope: &Scope) -> String {
    match scope {
        Scope::Folder(folder) => {
            let mut disposed = ServerInstanceDisposed::default();
            disposed.set_directory(folder.as_str().into());
            own(scope, disposed.into())
        }
        Scope::All => {
            let mut frame = global(GlobalDisposed::default().into());
            frame.set_directory(Some("global".into()));
            let mut out = String::new();
            write(None, &frame.to_text(), &mut out);
            out
        }
    }
}

/// A frame about the stream itself.
fn own(scope: &Scope, event: PassingEvent<'static>) -> String {
    let text = match scope {
        Scope::Folder(_) => event_frame(event).to_text(),
        Scope::All => global(event).to_text(),
    };
    let mut out = String::new();
    write(None, &text, &mut out);
    out
}

fn event_frame(event: PassingEvent<'static>) -> EventFrame<'static> {
    EventFrame::new(&id::new(id::Kind::Event), &Event::Passing(event))
}

fn global(event: PassingEvent<'static>) -> GlobalFrame<'static> {
    let mut frame = GlobalFrame::default();
    frame.object_mut().set("payload", Payload::Event(event_frame(event)).to_json());
    frame
}
