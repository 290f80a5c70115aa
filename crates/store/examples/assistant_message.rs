//! An assistant's message: made when it begins, completed by an update, removed again.
//!
//!     cargo run -p annalist-store --example assistant_message
#![allow(clippy::print_stdout, reason = "what an example shows")]

use annalist_schema::message::{AssistantMessage, AssistantPath, UserMessage};
use annalist_schema::model::ModelRef;
use annalist_schema::{Message, Number, TokenUsage, id};
use annalist_store::folder::{Remember, resolve};
use annalist_store::session::NewSession;
use annalist_store::{Create, Store};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let room = tempfile::tempdir()?;
    let store = Store::open(&room.path().join("opencode.db"), Create::IfMissing)?;
    let session = store.create_session(NewSession::new(resolve(room.path(), Remember::No)?)).wait()?;
    let session = session.id()?;

    let mut model = ModelRef::default();
    model.set_provider_id("anthropic".into()).set_model_id("claude-3-5-sonnet".into());
    let user = UserMessage::new(&id::new(id::Kind::Message), &session, id::now_ms(), "fixer", model);
    store.create_message(user.clone().into(), vec![]).wait()?;

    let message = id::new(id::Kind::Message);
    let path = AssistantPath::new("/work/app/src", "/work/app");
    let mut answer = AssistantMessage::new(&message, &user, id::now_ms(), path)?;
    answer.set_cost(Number::from_f64(0.0023)).set_tokens(TokenUsage::new(1200, 500, 100, 50, 20));
    store.update_message(answer.into()).wait()?;

    let completed = store.update_message_with(&session, &message, |message| {
        if let Message::Assistant(answer) = message {
            let mut time = answer.time().map(|time| time.into_static()).unwrap_or_default();
            time.set_completed(Some(id::now_ms().unsigned_abs()));
            answer.set_time(time).set_finish(Some("stop".into()));
        }
    });
    println!("{}", completed.wait()?.to_text());

    println!("removed: {}", store.remove_message(&session, &message).wait()?);
    println!("left: {}", store.messages(&session, None)?.len());
    Ok(())
}
