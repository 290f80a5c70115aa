//! Empties what can be emptied in a file's log, then checks the file against its log.
//!
//! `cargo run -p annalist-store --example compact -- FILE`
#![allow(clippy::print_stdout, reason = "it is meant to be read")]

use annalist_store::upkeep::{Compact, News, compact, verify};
use annalist_store::{Error, Flow};
use std::path::PathBuf;

fn main() -> Result<(), Error> {
    let file = PathBuf::from(std::env::args_os().nth(1).unwrap_or_default());
    let done = compact(&file, Compact::default(), &mut |_| Flow::Continue)?;
    println!(
        "{} events emptied, {} bytes, in {} transactions, the longest {:?}",
        done.events(),
        done.bytes(),
        done.batches,
        done.longest
    );
    for (session, why) in &done.skipped {
        println!("{session}: left as it is: {why:?}");
    }
    let checked = verify(&file, None, &mut |news| {
        if let News::Finding(finding) = news {
            println!("{finding:?}");
        }
        Flow::Continue
    })?;
    println!("{} sessions are what their logs say, {} are not", checked.equal, checked.differing);
    Ok(())
}
