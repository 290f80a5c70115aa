//! A session read newest first, and what of it still counts after a compaction.
//!
//!     cargo run -p annalist-store --example stream
#![allow(clippy::print_stdout, reason = "what an example shows")]

use annalist_schema::message::{AssistantMessage, AssistantPath, UserMessage};
use annalist_schema::model::ModelRef;
use annalist_schema::part::{CompactionPart, TextPart};
use annalist_schema::{Part, id};
use annalist_store::folder::{Remember, resolve};
use annalist_store::session::NewSession;
use annalist_store::transcript::WithParts;
use annalist_store::{Create, Error, Flow, Store};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let room = tempfile::tempdir()?;
    let store = Store::open(&room.path().join("opencode.db"), Create::IfMissing)?;
    let session = store.create_session(NewSession::new(resolve(room.path(), Remember::No)?)).wait()?;
    let session = session.id()?;
    let text = |text: &str| Part::Text(TextPart::new(text));
    say(&store, &session, text("What does the parser do?"), text("It reads lines."), false)?;
    say(&store, &session, Part::Compaction(CompactionPart::new(false)), text("We spoke of the parser."), true)?;
    say(&store, &session, text("And the printer?"), text("It writes them."), false)?;

    println!("all, newest first:");
    store.stream(&session, |message| {
        print(&message);
        Flow::Continue
    })?;
    println!("what counts, oldest first:");
    store.filter_compacted(&session)?.iter().for_each(print);
    Ok(())
}

/// A question and its answer.
fn say(store: &Store, session: &str, question: Part<'static>, answer: Part<'static>, summary: bool) -> Result<(), Error> {
    let mut model = ModelRef::default();
    model.set_provider_id("anthropic".into()).set_model_id("claude-3-5-sonnet".into());
    let user = UserMessage::new(&id::new(id::Kind::Message), session, id::now_ms(), "build", model);
    store.create_message(user.clone().into(), vec![question]).wait()?;
    let invalid = |problem: annalist_schema::Problem| Error::Invalid { what: "answer".into(), problem: problem.to_string() };
    let path = AssistantPath::new("/work/app", "/work/app");
    let mut message = AssistantMessage::new(&id::new(id::Kind::Message), &user, id::now_ms(), path).map_err(invalid)?;
    message.set_summary(summary.then_some(true)).set_finish(Some("stop".into()));
    store.create_message(message.into(), vec![answer]).wait().map(drop)
}

fn print(message: &WithParts) {
    for part in &message.parts {
        println!("  {part}");
    }
}
