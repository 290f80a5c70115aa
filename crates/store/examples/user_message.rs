//! A person's message, with a title and a body of its own.
//!
//!     cargo run -p annalist-store --example user_message
#![allow(clippy::print_stdout, reason = "what an example shows")]

use annalist_schema::message::{UserMessage, UserSummary};
use annalist_schema::model::ModelRef;
use annalist_schema::part::TextPart;
use annalist_schema::{Part, id};
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
    let mut summary = UserSummary::new(vec![]);
    summary.set_title(Some("Fix the parser".into())).set_body(Some("It drops the last line of a file.".into()));
    let message = id::new(id::Kind::Message);
    let mut user = UserMessage::new(&message, &session, id::now_ms(), "fixer", model);
    user.set_summary(Some(summary));
    let text = TextPart::new("The parser drops the last line. Please fix it.");
    store.create_message(user.into(), vec![Part::Text(text)]).wait()?;

    let there = store.get(&session, &message)?;
    println!("{}", there.info);
    for part in there.parts {
        println!("  {part}");
    }
    Ok(())
}
