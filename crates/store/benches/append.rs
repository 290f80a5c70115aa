//! Appends through projectors beside a raw loop that does, per append, the same sequence upsert, event insert, part upsert and
//! commit on the same bytes, with prepared statements. Ratios of the best of several rounds in one run.
//!
//! `cargo bench -p annalist-store --bench append`, with a part of a line's name behind `--` for that line alone.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, reason = "a benchmark stops where it fails, and prints")]

use annalist_schema::raw::Object;
use annalist_schema::{Part, id};
use annalist_store::folder::{self, Remember};
use annalist_store::session::NewSession;
use annalist_store::{Create, Durability, Expect, NewEvent, Options, Store};
use rusqlite::{Connection, params};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

const SESSIONS: usize = 100;
const ROUNDS: usize = 10;
const APPENDS: usize = 4_000;
/// Of four writes of a part three change one that is there.
const PER_PART: usize = 4;

struct Prepared {
    session: String,
    part: String,
    message: String,
    data: String,
    row: String,
}

/// What is to be written, the same for both.
fn work(sessions: &[(String, String)], count: usize) -> Vec<Prepared> {
    let text = "The quick brown fox jumps over the lazy dog. ".repeat(20);
    let mut parts: Vec<String> = sessions.iter().map(|_| String::new()).collect();
    (0..count)
        .map(|index| {
            let of = index % sessions.len();
            if (index / sessions.len()).is_multiple_of(PER_PART) {
                parts[of] = id::new(id::Kind::Part);
            }
            let (session, message) = &sessions[of];
            let mut part = Object::tagged("type", "text");
            part.set_text("text", &format!("{index} {text}"));
            let row = part.to_text();
            let mut part = Part::from_object(part);
            part.set_identity(&parts[of], session, message);
            let mut data = Object::new();
            data.set_text("sessionID", session);
            data.set("part", part.into_object());
            data.set("time", id::now_ms());
            Prepared { session: session.clone(), part: parts[of].clone(), message: message.clone(), data: data.to_text(), row }
        })
        .collect()
}

fn file(folder: &Path, name: &str, options: Options) -> (Store, Vec<(String, String)>) {
    let store = Store::open_with(&folder.join(name), Create::IfMissing, options).unwrap();
    let at = folder::resolve(folder, Remember::No).unwrap();
    let sessions = (0..SESSIONS)
        .map(|_| {
            let session = store.create_session(NewSession::new(at.clone())).wait().unwrap();
            let session = session.id().unwrap().into_owned();
            let message = id::new(id::Kind::Message);
            let info = format!(
                r#"{{"id":"{message}","sessionID":"{session}","role":"user","time":{{"created":{}}},"agent":"build","model":{{"providerID":"p","modelID":"m"}}}}"#,
                id::now_ms()
            );
            let info = annalist_schema::Message::from_object(Object::parse(&info).unwrap().into_static());
            store.create_message(info, Vec::new()).wait().unwrap();
            (session, message)
        })
        .collect();
    (store, sessions)
}

fn cpu() -> (u64, u64) {
    let own = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let own: u64 = own.split(' ').next().unwrap().parse().unwrap();
    let mut all = 0;
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let text = std::fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap_or_default();
        all += text.split(' ').next().and_then(|n| n.parse::<u64>().ok()).unwrap_or(0);
    }
    (own, all)
}

fn ours(store: &Store, work: &[Prepared], group: usize, durability: Durability) -> f64 {
    let begun = Instant::now();
    for chunk in work.chunks(group) {
        let pending: Vec<_> = chunk
            .iter()
            .map(|one| {
                let event = NewEvent::new("message.part.updated.1", one.data.clone());
                store.append(&one.session, Expect::Any, vec![event], durability)
            })
            .collect();
        for one in pending {
            black_box(one.wait().unwrap());
        }
    }
    work.len() as f64 / begun.elapsed().as_secs_f64()
}

fn raw(db: &Connection, work: &[Prepared], group: usize, seq: &mut i64) -> f64 {
    let begun = Instant::now();
    for chunk in work.chunks(group) {
        db.prepare_cached("BEGIN IMMEDIATE").unwrap().execute([]).unwrap();
        for one in chunk {
            *seq += 1;
            let now = id::now_ms();
            db.prepare_cached(
                "INSERT INTO event_sequence (aggregate_id, seq) VALUES (?1, ?2)
                 ON CONFLICT (aggregate_id) DO UPDATE SET seq = excluded.seq",
            )
            .unwrap()
            .execute(params![one.session, *seq])
            .unwrap();
            db.prepare_cached("INSERT INTO event (id, aggregate_id, seq, type, data) VALUES (?1, ?2, ?3, ?4, ?5)")
                .unwrap()
                .execute(params![id::new(id::Kind::Event), one.session, *seq, "message.part.updated.1", one.data])
                .unwrap();
            db.prepare_cached(
                "INSERT INTO part (id, message_id, session_id, time_created, time_updated, data) VALUES (?1, ?2, ?3, ?4, ?4, ?5)
                 ON CONFLICT (id) DO UPDATE SET data = excluded.data, time_updated = excluded.time_updated",
            )
            .unwrap()
            .execute(params![one.part, one.message, one.session, now, one.row])
            .unwrap();
        }
        db.prepare_cached("COMMIT").unwrap().execute([]).unwrap();
    }
    work.len() as f64 / begun.elapsed().as_secs_f64()
}

fn main() {
    let only: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let folder = tempfile::tempdir().unwrap();
    println!("appends per second, best of {ROUNDS} rounds of {APPENDS}; three of four change a part that is there\n");
    println!("| | raw | through projectors | of it | without emptying | of it |\n|---|---|---|---|---|---|");
    for (durability, name, count) in [(Durability::Process, "NORMAL", APPENDS), (Durability::Power, "FULL", APPENDS / 2)] {
        for group in [1, 64] {
            let how = if group == 1 { "one a transaction".to_owned() } else { format!("groups of {group}") };
            let line = format!("{name}, {how}");
            if !only.is_empty() && !only.iter().any(|only| line.contains(only)) {
                continue;
            }
            let keeping = Options { empty_superseded: false, ..Options::default() };
            let (store, sessions) = file(folder.path(), &format!("ours-{name}-{group}.db"), Options::default());
            let (plain, plain_sessions) = file(folder.path(), &format!("plain-{name}-{group}.db"), keeping);
            let raw_file = format!("raw-{name}-{group}.db");
            let (other, raw_sessions) = file(folder.path(), &raw_file, keeping);
            drop(other);
            let db = Connection::open(folder.path().join(raw_file)).unwrap();
            db.execute_batch(&format!("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA synchronous = {name}")).unwrap();
            let mut seq = 1_000;
            let [mut best, mut best_plain, mut best_raw] = [0.0_f64; 3];
            let mut used = [(f64::MAX, f64::MAX); 3];
            let mut sums = [(0.0, 0.0, 0.0); 3];
            for _ in 0..ROUNDS {
                let prepared = work(&raw_sessions, count);
                let before = cpu();
                let rate = raw(&db, &prepared, group, &mut seq);
                best_raw = best_raw.max(rate);
                sums[0].2 += 1e9 / rate / ROUNDS as f64;
                let after = cpu();
                eprint!("raw {:.1} ", (after.0 - before.0) as f64 / (count * 1000) as f64);
                sums[0].0 += (after.0 - before.0) as f64 / (count * ROUNDS) as f64;
                sums[0].1 += (after.1 - before.1) as f64 / (count * ROUNDS) as f64;
                used[0].0 = used[0].0.min((after.0 - before.0) as f64 / count as f64);
                used[0].1 = used[0].1.min((after.1 - before.1) as f64 / count as f64);
                let prepared = work(&sessions, count);
                let before = cpu();
                let rate = ours(&store, &prepared, group, durability);
                best = best.max(rate);
                sums[1].2 += 1e9 / rate / ROUNDS as f64;
                let after = cpu();
                eprint!("ours {:.1} ", (after.0 - before.0) as f64 / (count * 1000) as f64);
                sums[1].0 += (after.0 - before.0) as f64 / (count * ROUNDS) as f64;
                sums[1].1 += (after.1 - before.1) as f64 / (count * ROUNDS) as f64;
                used[1].0 = used[1].0.min((after.0 - before.0) as f64 / count as f64);
                used[1].1 = used[1].1.min((after.1 - before.1) as f64 / count as f64);
                let prepared = work(&plain_sessions, count);
                let before = cpu();
                let rate = ours(&plain, &prepared, group, durability);
                best_plain = best_plain.max(rate);
                sums[2].2 += 1e9 / rate / ROUNDS as f64;
                let after = cpu();
                eprintln!("plain {:.1} ", (after.0 - before.0) as f64 / (count * 1000) as f64);
                sums[2].0 += (after.0 - before.0) as f64 / (count * ROUNDS) as f64;
                sums[2].1 += (after.1 - before.1) as f64 / (count * ROUNDS) as f64;
                used[2].0 = used[2].0.min((after.0 - before.0) as f64 / count as f64);
                used[2].1 = used[2].1.min((after.1 - before.1) as f64 / count as f64);
            }
            let of = |rate: f64| 100.0 * rate / best_raw;
            println!("averages own/all/wall {sums:.0?}");
            println!(
                "cpu ns own/all: raw {:.0}/{:.0} ours {:.0}/{:.0} ({:.0} %) plain {:.0}/{:.0} ({:.0} %)",
                used[0].0,
                used[0].1,
                used[1].0,
                used[1].1,
                100.0 * used[0].0 / used[1].0,
                used[2].0,
                used[2].1,
                100.0 * used[0].0 / used[2].0
            );
            println!("| {line} | {best_raw:.0} | {best:.0} | {:.0} % | {best_plain:.0} | {:.0} % |", of(best), of(best_plain));
        }
    }
}
