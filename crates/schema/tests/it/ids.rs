//! Ids: their form, their uniqueness, and what their digits tell.

use annalist_schema::Wrong;
use annalist_schema::id::{self, Direction, Generator, Kind};
use std::collections::HashSet;

const WRAP: i64 = 1_786_706_395_136;
const PERIOD: i64 = 1 << 36;

fn digits(id: &str) -> &str {
    &id.split_once('_').unwrap().1[..12]
}

#[test]
fn the_form() {
    for kind in Kind::ALL {
        let id = id::new(*kind);
        let rest = id.strip_prefix(kind.prefix()).and_then(|rest| rest.strip_prefix('_')).unwrap();
        assert_eq!(rest.len(), 26, "{id}");
        assert!(rest[..12].bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "{id}");
        assert!(rest[12..].bytes().all(|b| b.is_ascii_alphanumeric()), "{id}");
        id::check(*kind, &id).unwrap();
        let now = id::now_ms();
        let made = id::time_near(&id, now).unwrap();
        assert!((now - made).abs() < 10_000, "{id} tells {made} at {now}");
    }
    let prefixes: HashSet<&str> = Kind::ALL.iter().map(|kind| kind.prefix()).collect();
    assert_eq!(prefixes.len(), Kind::ALL.len());
    assert_eq!(Kind::ALL.iter().filter(|kind| kind.direction() == Direction::Descending).collect::<Vec<_>>(), [&Kind::Session]);
}

#[test]
fn around_the_wrap_of_2026() {
    for (at, ascending, descending) in [
        (WRAP - 60_000, "fffff15a0001", "00000ea5fffe"),
        (WRAP, "000000000001", "fffffffffffe"),
        (WRAP + 60_000, "00000ea60001", "fffff159fffe"),
    ] {
        let message = Generator::new().next_at(Kind::Message, at);
        let session = Generator::new().next_at(Kind::Session, at);
        assert_eq!((digits(&message), digits(&session)), (ascending, descending));
        // Whatever the reference time within a year, the id tells its own.
        for reference in [at, at - 300 * 86_400_000, at + 300 * 86_400_000] {
            assert_eq!(id::time_near(&message, reference), Some(at));
            assert_eq!(id::time_near(&session, reference), Some(at));
        }
        // From another era it tells the same place in that era.
        assert_eq!(id::time_near(&message, at + PERIOD), Some(at + PERIOD));
        assert_eq!(id::time_near(&message, at - PERIOD), Some(at - PERIOD));
    }
    assert_eq!(WRAP % PERIOD, 0);
    assert_eq!(WRAP + PERIOD, 1_855_425_871_872);
}

#[test]
fn what_is_no_id_tells_no_time() {
    for id in [
        "",
        "msg",
        "msg_",
        "msg_custom",
        "msg_00000000000",
        "msg_00000000000G",
        "msg_ABCDEF000000",
        "msg_\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
    ] {
        assert_eq!(id::time_near(id, WRAP), None, "{id}");
    }
    // The edges of what an i64 holds do not overflow.
    for reference in [i64::MIN, i64::MIN + 1, -1, 0, i64::MAX] {
        let told = id::time_near("msg_fffff15a0001", reference);
        assert!(told.is_none_or(|told| told.abs_diff(reference) <= (PERIOD / 2).unsigned_abs()));
    }
}

#[test]
fn ids_rise_while_the_clock_stands_steps_back_or_is_too_slow() {
    let ids = Generator::new();
    let mut last = ids.next_at(Kind::Part, 1_000);
    for round in 0..10_000_i64 {
        // Stands still, and from time to time goes back a lot.
        let next = ids.next_at(Kind::Part, if round % 100 == 0 { -5 } else { 1_000 });
        assert!(digits(&next) > digits(&last), "{next} after {last}");
        last = next;
    }
    // 10,001 ids do not fit into one millisecond: the counter ran into the next ones.
    assert_eq!(id::time_near(&last, 0), Some(1_002));

    let mut last = ids.next_at(Kind::Session, 2_000);
    for _ in 0..10_000 {
        let next = ids.next_at(Kind::Session, 2_000);
        assert!(digits(&next) < digits(&last), "{next} after {last}");
        last = next;
    }
    // The digits wrap, the counter does not mind.
    let ids = Generator::new();
    assert!(digits(&ids.next_at(Kind::Part, WRAP - 1)) > digits(&ids.next_at(Kind::Part, WRAP)));
    for time in [i64::MIN, i64::MAX, i64::MAX] {
        ids.next_at(Kind::Part, time);
    }
}

#[test]
fn ids_of_all_threads_differ() {
    let ids = Generator::new();
    let made: Vec<Vec<String>> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| (0..5_000).map(|_| ids.next_at(Kind::Event, 7)).collect::<Vec<_>>())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    // The digits alone differ, whatever the letters behind them.
    let different: HashSet<&str> = made.iter().flatten().map(|id| digits(id)).collect();
    assert_eq!(different.len(), 40_000);
    for thread in &made {
        assert!(thread.is_sorted());
    }
}

#[test]
fn the_letters_are_evenly_spread() {
    let mut seen = [0_u32; 128];
    for _ in 0..10_000 {
        for byte in id::new(Kind::Job).bytes().skip("job_".len() + 12) {
            seen[usize::from(byte)] += 1;
        }
    }
    let seen: Vec<u32> = seen.into_iter().filter(|count| *count > 0).collect();
    assert_eq!(seen.len(), 62);
    // Expected 2,258 each with a deviation of 47. The plain remainder of a byte would give the first eight 2,734.
    assert!(seen.iter().all(|count| (1_950..2_570).contains(count)), "{seen:?}");
}

#[test]
fn only_the_prefix_of_a_given_id_is_checked() {
    for (kind, given) in [(Kind::Session, "ses_x"), (Kind::Session, "sesame"), (Kind::Message, "msg_custom"), (Kind::Event, "evt_")]
    {
        assert_eq!(id::check(kind, given), Ok(()));
    }
    for (kind, given, wanted) in
        [(Kind::Session, "msg_1", "ses"), (Kind::Message, "", "msg"), (Kind::Event, "evt1", "evt_"), (Kind::Part, "PRT_1", "prt")]
    {
        assert_eq!(id::check(kind, given), Err(Wrong::Prefix { wanted, found: given.to_owned() }));
    }
}
