//! What is said about work that takes over a second.

use crate::world::{PLAIN, World};
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

/// Each stands still while another program holds the file's lock, until it has said so.
#[test]
fn work_that_waits_says_so() {
    for (arguments, told) in [
        (&["compact"][..], "compacting, 1 s"),
        (&["delete", PLAIN, "--yes"], "deleting, 1 s"),
        (&["rename", PLAIN, "t"], "renaming, 1 s"),
        (&["archive", PLAIN], "archiving, 1 s"),
        (&["fork", PLAIN], "copying, 1 s"),
    ] {
        let world = World::with_fixture();
        let holder = world.sqlite("small.db");
        holder.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut command = world.process();
        command.args(["--db", "../small.db"]).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.by_ref().map(Result::unwrap).find(|line| line.ends_with(" s"));
        assert_eq!(line.as_deref(), Some(told), "{arguments:?}");
        holder.execute_batch("ROLLBACK").unwrap();
        lines.for_each(drop);
        let run = world.told(&child.wait_with_output().unwrap());
        assert!(!run.ok().is_empty(), "{arguments:?}");
    }
}
