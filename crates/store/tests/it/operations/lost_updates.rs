//! Changes made at the same time never lose each other.

use super::room::{Room, assistant, user};
use annalist_schema::raw::Object;
use annalist_schema::{Json, Number};
use serde_json::json;

const THREADS: usize = 6;
const EACH: usize = 25;

fn add_one(object: &mut Object<'static>) {
    let before = object.get("n").and_then(Json::as_number).and_then(|number| number.as_i64()).unwrap_or(0);
    object.set("n", Json::from(Number::from(before + 1)));
}

fn at_once(change: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..EACH).for_each(|_| change()));
        }
    });
}

#[test]
fn of_a_message() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_1", 1), &[]);
    at_once(|| {
        room.store.update_message_with(&session, "msg_1", |message| add_one(message.object_mut())).wait().unwrap();
    });
    let message = room.store.get(&session, "msg_1").unwrap();
    assert_eq!(super::room::info(&message)["n"], THREADS * EACH);
    assert_eq!(room.kinds(&session, 2), vec!["message.updated.1"; THREADS * EACH]);
}

#[test]
fn of_a_part() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, assistant("msg_1", "msg_0", 1), &["text"]);
    at_once(|| {
        room.store.update_part_with(&session, "msg_1", "prt_1_0", |part| add_one(part.object_mut())).wait().unwrap();
    });
    let message = room.store.get(&session, "msg_1").unwrap();
    assert_eq!(super::room::parts(&message)[0]["n"], THREADS * EACH);
}

#[test]
fn of_a_session_and_of_its_usage() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, assistant("msg_1", "msg_0", 1), &[]);
    let step = std::sync::atomic::AtomicUsize::new(0);
    at_once(|| {
        room.store
            .update_session_with(&session, |info| {
                let mut metadata = info.metadata().unwrap().map(Object::into_static).unwrap_or_default();
                add_one(&mut metadata);
                info.set_metadata(Some(metadata));
            })
            .wait()
            .unwrap();
        // The whole info is written each time, the sums among it: steps must not get lost either.
        let id = format!("prt_{:04}", step.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        room.part(&session, "msg_1", super::room::step_finish(&id, 1.0));
    });
    let info = room.info(&session);
    assert_eq!(info["metadata"], json!({"n": THREADS * EACH}));
    assert_eq!(info["cost"].as_f64(), Some((THREADS * EACH) as f64));
    assert_eq!(info["tokens"]["input"], 10 * THREADS * EACH);
}
