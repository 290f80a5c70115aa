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
const ROUNDS: usize = 5;
/// In one round, one a transaction and in groups.
const APPENDS: [usize; 2] = [4_000, 20_000];
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

/// The appends per second of each round.
#[derive(Default)]
struct Rates(Vec<f64>);

impl Rates {
    fn best(&self) -> f64 {
        self.0.iter().copied().fold(0.0, f64::max)
    }

    /// The best of these beside the best of those, and the median of the rounds, in percent.
    fn of(&self, raw: &Rates) -> String {
        let mut rounds: Vec<f64> = self.0.iter().zip(&raw.0).map(|(own, raw)| 100.0 * own / raw).collect();
        rounds.sort_by(f64::total_cmp);
        format!("{:.0} | {:.0} % | {:.0} %", self.best(), 100.0 * self.best() / raw.best(), rounds[rounds.len() / 2])
    }
}

fn main() {
    let only: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let folder = tempfile::tempdir().unwrap();
    let [single, grouped] = APPENDS;
    println!("appends per second: best of {ROUNDS} rounds of {single} (in groups {grouped}), and the median of the rounds' ratios");
    println!(
        "\n| | raw | through projectors | of it | median | without emptying | of it | median |\n|---|---|---|---|---|---|---|---|"
    );
    for (durability, name) in [(Durability::Process, "NORMAL"), (Durability::Power, "FULL")] {
        for (group, count) in [(1, single), (64, grouped)] {
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
            let [mut emptying, mut all, mut beside] = [Rates::default(), Rates::default(), Rates::default()];
            for _ in 0..ROUNDS {
                beside.0.push(raw(&db, &work(&raw_sessions, count), group, &mut seq));
                emptying.0.push(ours(&store, &work(&sessions, count), group, durability));
                all.0.push(ours(&plain, &work(&plain_sessions, count), group, durability));
            }
            println!("| {line} | {:.0} | {} | {} |", beside.best(), emptying.of(&beside), all.of(&beside));
        }
    }
}
