//! The cost of a request from a long history, beside the plain read of its rows.
//!
//! `cargo bench -p annalist-model --bench request`

#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs, reason = "a program for people")]

#[path = "../tests/it/large.rs"]
mod large;

use annalist_model::Request;
use annalist_model::describe::Model;
use annalist_model::neutral::Settings;
use annalist_model::wire::Options;
use annalist_store::query::MessageRange;
use annalist_store::{Create, Flow, Folder, Store, transcript};
use serde_json::json;
use std::io;
use std::time::{Duration, Instant};

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&folder.path().join("bench.db"), Create::IfMissing).unwrap();
    let messages = large::messages(6400, "anthropic");
    let info = json!({"id": large::SESSION, "slug": "large", "projectID": "global", "directory": "/p", "title": "large", "version": "1.18.33",
        "time": {"created": 1, "updated": 1}});
    let home = Folder {
        project: "global".into(),
        worktree: "/p".into(),
        directory: "/p".into(),
        path: String::new(),
        git: false,
        previous: None,
    };
    store.import(json!({"info": info, "messages": messages}).to_string(), home).unwrap();
    drop(messages);

    let mut rows = (0, 0, 0);
    let read = best(|| rows = plain(&store));
    println!("plain read of the rows: {} messages, {} parts, {:.1} MB: {read:.1?}", rows.0, rows.1, rows.2 as f64 / 1e6);
    let loaded = best(|| drop(store.filter_compacted(large::SESSION).unwrap()));
    println!("filter_compacted: {loaded:.1?}");
    for (provider, npm) in [
        ("chat", "@ai-sdk/openai-compatible"),
        ("openai", "@ai-sdk/openai"),
        ("anthropic", "@ai-sdk/anthropic"),
        ("google", "@ai-sdk/google"),
    ] {
        let model = Model::new(provider, "m1", npm);
        let whole = best(|| {
            let history = store.filter_compacted(large::SESSION).unwrap();
            let texts = history.iter().map(|message| (&message.info, &message.parts));
            let request = Request::new([], texts, &model, &Settings::default());
            request.write(&model, &Options::default(), &mut io::sink()).unwrap();
        });
        let history = store.filter_compacted(large::SESSION).unwrap();
        let texts = || history.iter().map(|message| (&message.info, &message.parts));
        let made = best(|| drop(Request::new([], texts(), &model, &Settings::default())));
        let request = Request::new([], texts(), &model, &Settings::default());
        let counted = request.count(&model, &Options::default());
        println!(
            "{provider}: read, converted and written {whole:.1?} ({:.2}x the read); converted {made:.1?}; {:.1} MB, {} tokens, {} repairs",
            whole.as_secs_f64() / read.as_secs_f64(),
            counted.bytes as f64 / 1e6,
            counted.tokens(),
            request.report.repairs.len(),
        );
    }
}

fn plain(store: &Store) -> (usize, usize, usize) {
    let (mut messages, mut parts, mut bytes) = (0, 0, 0);
    store
        .read(|view| {
            transcript::visit(view, &MessageRange::newest_first(large::SESSION), &mut |message, of| {
                messages += 1;
                parts += of.len();
                bytes += message.data.len() + of.iter().map(|part| part.data.len()).sum::<usize>();
                Flow::Continue
            })
        })
        .unwrap();
    (messages, parts, bytes)
}

/// The best of some runs: what is left is the work itself.
fn best(mut run: impl FnMut()) -> Duration {
    let mut time = || {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..7).map(|_| time()).min().unwrap_or_default()
}
