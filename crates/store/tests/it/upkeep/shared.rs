//! Two processes of ours and a foreign one append to one session while its log is compacted: nothing is lost and the log is
//! still the rows.

use super::reference::publish;
use super::support::{
    Room, append, begin, checked, compacted, emptied, event, log, message, open, projected, raw, replayed, store, text,
};
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};

const S: &str = "ses_a";
const M: &str = "msg_ases_a";

#[test]
fn everybody_at_once() {
    let room = Room::new();
    let path = room.path("opencode.db");
    let first = store(&path, true);
    begin(&first, S);
    let second = open(&path, true);
    let over = AtomicBool::new(false);
    let stored = std::thread::scope(|scope| {
        let ours: Vec<_> = [&first, &second]
            .into_iter()
            .map(|store| {
                scope.spawn(move || {
                    for n in 0..150_usize {
                        append(store, S, text(S, M, &format!("prt_{}", n % 3), &"x".repeat(200 + n))).unwrap();
                    }
                    150_i64
                })
            })
            .collect();
        let foreign = scope.spawn(|| {
            let mut db = raw(&path);
            let events = (0..150_usize).map(|n| match n % 5 {
                0 => message(S, M, &json!({"system": "z".repeat(n)})),
                1 => event("session.next.synthetic.1", &json!({"sessionID": S})),
                _ => text(S, M, &format!("prt_{}", n % 3), &"y".repeat(200 + n)),
            });
            events.filter(|event| publish(&mut db, S, event)).count() as i64
        });
        let upkeep = scope.spawn(|| {
            let mut done = 0;
            while !over.load(Ordering::Relaxed) {
                done += compacted(&path).events();
            }
            done
        });
        let stored = ours.into_iter().map(|writer| writer.join().unwrap()).sum::<i64>() + foreign.join().unwrap();
        over.store(true, Ordering::Relaxed);
        assert!(upkeep.join().unwrap() > 0);
        stored
    });
    assert_eq!(stored, 450);
    let numbers: Vec<i64> = log(&path, S).iter().map(|(seq, ..)| *seq).collect();
    assert_eq!(numbers, (0..stored + 2).collect::<Vec<_>>());
    assert_eq!(replayed(&path), projected(&path));
    assert_eq!(checked(&path).1, []);
    compacted(&path);
    // Four ids are left with their first and last form each.
    let kept = log(&path, S).iter().filter(|(_, kind, _)| kind.ends_with("updated.1")).count();
    assert_eq!(kept, 8);
    assert!(emptied(&path) > 300);
    assert_eq!(replayed(&path), projected(&path));
}
