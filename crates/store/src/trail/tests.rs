#![allow(clippy::unwrap_used, reason = "a failing test should stop")]

use super::*;

fn step(rowid: i64, session: &str) -> Step {
    Step { rowid, id: format!("evt_{rowid}").into(), session: session.into(), what: Happened::Event }
}

fn gone(rowid: i64, id: &str, session: &str) -> Step {
    Step { rowid, id: id.into(), session: session.into(), what: Happened::Deleted }
}

fn back(trail: &Trail, events: u64) -> Option<Vec<i64>> {
    trail.back_from(events).map(|back| back.steps.iter().map(|(rowid, _)| *rowid).collect())
}

#[test]
fn the_way_back_is_bounded_and_ends_with_one_event_a_session() {
    let mut trail = Trail::new(3);
    trail.begin(None);
    for (rowid, session) in [(1, "a"), (2, "b"), (3, "a"), (4, "a"), (5, "c"), (6, "c"), (7, "c")] {
        trail.push_event(step(rowid, session));
    }
    assert_eq!(back(&trail, trail.next()), Some(vec![7, 6, 5, 4, 2]));
    assert_eq!(back(&trail, 5), Some(vec![5, 4, 2]));
    assert_eq!(back(&trail, 4), Some(vec![4, 2]));
    assert_eq!(back(&trail, 3), None, "its place is forgotten");
    assert!(trail.back_from(7).is_some_and(|back| back.from_start));
}

#[test]
fn sessions_are_forgotten_too() {
    let mut trail = Trail::new(1);
    trail.begin(None);
    for rowid in 0..=SESSIONS as i64 + 1 {
        trail.push_event(step(rowid, &format!("ses_{rowid}")));
    }
    let back = trail.back_from(trail.next()).unwrap();
    assert_eq!(back.steps.len(), SESSIONS + 1);
    assert!(!back.from_start, "something stood before what is remembered");
}

#[test]
fn places_are_between_events_and_notices() {
    let mut trail = Trail::new(3);
    trail.begin(Some(step(10, "a")));
    trail.push_event(step(11, "b"));
    trail.push_notice(gone(11, "evt_11", "b"));
    trail.push_notice(gone(11, "evt_x", "d"));
    trail.push_event(step(12, "a"));
    let of = |rowid, id: &str| trail.place(rowid, id).map(|place| trail.notices_after(place).count());
    assert_eq!(of(10, "evt_10"), Some(2));
    assert_eq!(of(11, "evt_11"), Some(1), "an event that was a deletion is behind it");
    assert_eq!(of(11, "evt_x"), Some(0));
    assert_eq!(of(12, "evt_12"), Some(0));
    assert_eq!(of(12, "evt_10"), None);
    assert_eq!(of(9, "evt_9"), None);
    assert_eq!(trail.notices_after(trail.place_of_older(9)).count(), 2);
    assert_eq!(trail.notices_after(trail.place_of_older(12)).count(), 0);
}

#[test]
fn notices_are_bounded() {
    let mut trail = Trail::new(2);
    trail.begin(Some(step(1, "a")));
    let place = trail.place(1, "evt_1").unwrap();
    for n in 0..5 {
        trail.push_notice(gone(1, &format!("evt_gone{n}"), "b"));
    }
    assert_eq!(trail.notices_after(place).count(), 2);
    assert_eq!(trail.notices_after(trail.place(1, "evt_gone3").unwrap()).count(), 1);
}

#[test]
fn a_session_that_comes_again_is_not_deleted() {
    let mut trail = Trail::default();
    trail.begin(None);
    trail.push_event(step(1, "a"));
    assert!(!trail.is_deleted("a"));
    trail.push_notice(gone(1, "evt_x", "a"));
    assert!(trail.is_deleted("a"));
    trail.push_event(step(1, "b"));
    assert!(trail.is_deleted("a"));
    trail.push_event(step(2, "a"));
    assert!(!trail.is_deleted("a"));
}

#[test]
fn it_is_restored_as_it_was() {
    let mut trail = Trail::default();
    trail.begin(Some(step(10, "a")));
    trail.push_event(step(11, "b"));
    trail.push_notice(gone(11, "evt_11", "b"));
    trail.push_event(step(11, "a"));
    trail.push_notice(gone(11, "evt_y", "c"));
    let restored = Trail::restored(trail.kept());
    assert!(restored.begun());
    assert_eq!(restored.steps(), trail.steps());
    assert_eq!(restored.place(11, "evt_11"), trail.place(11, "evt_11"));
    assert_eq!(restored.place(11, "evt_y"), trail.place(11, "evt_y"));
    assert!(!Trail::restored(Trail::default().kept()).begun());
}
