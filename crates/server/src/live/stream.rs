//! An event stream over HTTP (reference-storage 3.5): the headers, the first frame, the signs of life and the end.

use super::{Frame, Frames, Scope};
use crate::app::App;
use annalist_schema::event::{
    EventFrame, GlobalDisposed, GlobalFrame, Payload, ServerConnected, ServerHeartbeat, ServerInstanceDisposed,
};
use annalist_schema::{Event, Field as _, PassingEvent, id};
use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use std::convert::Infallible;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};
use tokio_stream::StreamExt as _;
use tokio_stream::wrappers::ReceiverStream;

/// Frames on their way into the connection. What waits beyond them waits with the teller, within its bound.
const UNDER_WAY: usize = 16;

/// Opens a stream: subscribed before the answer begins, so that nothing told after it is missed.
pub(crate) fn respond(app: &App, scope: Scope) -> Response {
    let (to_client, frames) = mpsc::channel(UNDER_WAY);
    tokio::spawn(feed(app.clone(), app.live.subscribe(scope.clone()), scope, to_client));
    let mut response = Response::new(Body::from_stream(ReceiverStream::new(frames).map(Ok::<Bytes, Infallible>)));
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Feeds one client until it goes, falls behind, or the server ends.
async fn feed(app: App, mut frames: Frames, scope: Scope, to_client: mpsc::Sender<Bytes>) {
    let mut ending = app.ending.clone();
    let every = app.options.heartbeat;
    let mut alive = tokio::time::interval_at(Instant::now() + every, every);
    alive.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut next = Some(own(&scope, ServerConnected::default().into()));
    loop {
        if let Some(frame) = next.take()
            && to_client.send(bytes(&frame)).await.is_err()
        {
            return;
        }
        next = tokio::select! {
            () = to_client.closed() => return,
            // A sender that is gone ends the server just as well.
            _ = async { ending.wait_for(|ending| *ending).await.is_ok() } => {
                // Nobody left to hear it is no loss.
                to_client.send(bytes(&farewell(&scope))).await.ok();
                return;
            }
            frame = frames.next() => match frame {
                Some(frame) => Some(frame),
                None => return,
            },
            _ = alive.tick() => Some(own(&scope, ServerHeartbeat::default().into())),
        };
    }
}

fn farewell(scope: &Scope) -> Frame {
    match scope {
        Scope::Folder(folder) => {
            let mut disposed = ServerInstanceDisposed::default();
            disposed.set_directory(folder.as_str().into());
            own(scope, disposed.into())
        }
        Scope::All => {
            let mut frame = global(GlobalDisposed::default().into());
            frame.set_directory(Some("global".into()));
            Frame { position: None, data: frame.to_text().into() }
        }
    }
}

/// A frame about the stream itself.
fn own(scope: &Scope, event: PassingEvent<'static>) -> Frame {
    let text = match scope {
        Scope::Folder(_) => event_frame(event).to_text(),
        Scope::All => global(event).to_text(),
    };
    Frame { position: None, data: text.into() }
}

fn event_frame(event: PassingEvent<'static>) -> EventFrame<'static> {
    EventFrame::new(&id::new(id::Kind::Event), &Event::Passing(event))
}

fn global(event: PassingEvent<'static>) -> GlobalFrame<'static> {
    let mut frame = GlobalFrame::default();
    frame.object_mut().set("payload", Payload::Event(event_frame(event)).to_json());
    frame
}

fn bytes(frame: &Frame) -> Bytes {
    let mut out = String::with_capacity(frame.data.len() + 48);
    if let Some(position) = &frame.position {
        out.push_str("id: ");
        out.push_str(position);
        out.push('\n');
    }
    out.push_str("data: ");
    out.push_str(&frame.data);
    out.push_str("\n\n");
    Bytes::from(out)
}
