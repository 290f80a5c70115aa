//! How long forking and deleting the longest session of a database takes. Works on a copy.
//!
//!     conformance/bench/make_db.py /tmp/long.db --from conformance/fixtures/opencode-empty.db --sessions 2 --one-long 2500
//!     cargo run --release -p annalist-store --example fork_time -- /tmp/long.db

#![allow(clippy::print_stderr, reason = "what an example shows")]

use annalist_store::query::SessionFilter;
use annalist_store::{Create, Store};
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("which database?")?;
    let room = tempfile::tempdir()?;
    let copy = room.path().join("opencode.db");
    std::fs::copy(Path::new(&file), &copy)?;
    let store = Store::open(&copy, Create::Never)?;
    let mut longest = (0, String::new());
    for session in store.sessions(&SessionFilter::default())?.sessions {
        let id = session.id()?.into_owned();
        let mut messages = 0_usize;
        store.stream(&id, |_| {
            messages += 1;
            annalist_store::Flow::Continue
        })?;
        longest = longest.max((messages, id));
    }
    for _ in 0..3 {
        let started = Instant::now();
        let forked = store.fork_session(&longest.1, None).wait()?;
        let taken = started.elapsed().as_millis();
        let id = forked.session.id()?.into_owned();
        let started = Instant::now();
        let spent = store.spent(&id)?;
        let counted = started.elapsed().as_millis();
        let started = Instant::now();
        store.delete_session(&id)?;
        let deleted = started.elapsed().as_millis();
        let line = format!("{} messages, {} parts", forked.messages, forked.parts);
        eprintln!("{line}: forked in {taken} ms, counted in {counted} ms ({:.2}), deleted in {deleted} ms", spent.inherited);
    }
    Ok(())
}
