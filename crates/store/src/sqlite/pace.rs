//! Room for others: when the writer leaves the lock free.
//!
//! SQLite's wait for a lock sleeps in steps of up to 100 ms and has no queue. Transactions back to back starve a waiting OpenCode
//! however short they are; a free gap of 110 ms after at most a second lets it in (sharing-the-file.md). So while another
//! process has the file open, dense writing stops at each full second of the clock on the wall and goes on 130 ms after it.
//! *At the same moment in all processes of ours*: the gaps of two writers that rest at different times are no gap.

use super::neighbours;
use super::side::Side;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A gap of this length ends a stretch of dense writing, and is what a waiting process needs.
pub(super) const FREE: Duration = Duration::from_millis(110);
/// The longest stretch, even if the clock on the wall is set back. With the last transaction of it, a second.
const DENSE: Duration = Duration::from_millis(950);
/// How far behind the full second a rest ends: a transaction that was begun just before it (20 ms), and the gap.
const REST_END_MS: u64 = 130;
/// For so long "nobody is there" is believed.
const BELIEVED: Duration = Duration::from_millis(150);

/// Time and neighbours, as the pace sees them.
pub(super) trait World {
    /// Runs on evenly, from any start.
    fn now(&self) -> Duration;
    /// The clock on the wall, in ms; all processes of a machine see the same.
    fn wall_ms(&self) -> u64;
    /// Whether another process has the file open.
    fn anybody(&self) -> bool;
    /// Returns after `time`.
    fn sleep(&self, time: Duration);
}

/// The real ones.
pub(super) struct Machine {
    start: Instant,
    side: Arc<Side>,
}

impl Machine {
    pub(super) fn new(side: Arc<Side>) -> Self {
        Machine { start: Instant::now(), side }
    }
}

impl World for Machine {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn wall_ms(&self) -> u64 {
        annalist_schema::id::now_ms().unsigned_abs()
    }

    fn anybody(&self) -> bool {
        neighbours::look(&self.side).anybody()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }
}

struct Stretch {
    began: Duration,
    began_wall_ms: u64,
    /// When the lock was last given back.
    released: Duration,
}

/// What the writer has done lately.
#[derive(Default)]
pub(super) struct Pace {
    stretch: Option<Stretch>,
    nobody_until: Duration,
}

impl Pace {
    /// To be called before each transaction: returns when one may begin.
    pub(super) fn wait(&mut self, world: &dyn World) {
        let now = world.now();
        let Some(stretch) = self.stretch.as_ref().filter(|s| now.saturating_sub(s.released) < FREE) else {
            return self.begin(world);
        };
        let wall_ms = world.wall_ms();
        let due = wall_ms / 1000 != stretch.began_wall_ms / 1000 || now.saturating_sub(stretch.began) >= DENSE;
        if !due || now < self.nobody_until {
            return;
        }
        if !world.anybody() {
            self.nobody_until = now + BELIEVED;
            return;
        }
        let rest = FREE.saturating_sub(now.saturating_sub(stretch.released));
        world.sleep(together(wall_ms, rest));
        self.begin(world);
    }

    fn begin(&mut self, world: &dyn World) {
        let now = world.now();
        self.stretch = Some(Stretch { began: now, began_wall_ms: world.wall_ms(), released: now });
    }

    /// To be called after each transaction.
    pub(super) fn released(&mut self, world: &dyn World) {
        if let Some(stretch) = self.stretch.as_mut() {
            stretch.released = world.now();
        }
    }
}

/// How long to rest so that the end is the common one, if a rest of this length would touch the common rest at all.
fn together(wall_ms: u64, rest: Duration) -> Duration {
    let end_ms = (wall_ms + u64::try_from(rest.as_millis()).unwrap_or(u64::MAX)) % 1000;
    if end_ms < REST_END_MS { rest + Duration::from_millis(REST_END_MS - end_ms) } else { rest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    /// A machine without time of its own.
    struct Simulated {
        now: Cell<Duration>,
        wall_start_ms: Cell<u64>,
        anybody: Box<dyn Fn(Duration) -> bool>,
        looked: Cell<u32>,
        slept: RefCell<Vec<(Duration, Duration)>>,
    }

    impl World for Simulated {
        fn now(&self) -> Duration {
            self.now.get()
        }

        fn wall_ms(&self) -> u64 {
            self.wall_start_ms.get() + u64::try_from(self.now.get().as_millis()).unwrap_or(u64::MAX)
        }

        fn anybody(&self) -> bool {
            self.looked.set(self.looked.get() + 1);
            (self.anybody)(self.now.get())
        }

        fn sleep(&self, time: Duration) {
            self.slept.borrow_mut().push((self.now.get(), self.now.get() + time));
            self.now.set(self.now.get() + time);
        }
    }

    const MS: Duration = Duration::from_millis(1);

    fn world(wall_start_ms: u64, anybody: impl Fn(Duration) -> bool + 'static) -> Simulated {
        Simulated {
            now: Cell::new(Duration::from_secs(7)),
            wall_start_ms: Cell::new(wall_start_ms),
            anybody: Box::new(anybody),
            looked: Cell::new(0),
            slept: RefCell::default(),
        }
    }

    /// Writes for 20 s: transactions of `hold`, `gap` between them. Gives the times at which the lock was held.
    fn write(world: &Simulated, hold: Duration, gap: Duration) -> Vec<(Duration, Duration)> {
        let mut pace = Pace::default();
        let mut held = Vec::new();
        let end = world.now.get() + Duration::from_secs(20);
        while world.now.get() < end {
            pace.wait(world);
            let begun = world.now.get();
            world.now.set(begun + hold);
            pace.released(world);
            held.push((begun, world.now.get()));
            world.now.set(world.now.get() + gap);
        }
        held
    }

    /// The longest time without a gap of [`FREE`].
    fn longest_stretch(held: &[(Duration, Duration)]) -> Duration {
        let mut longest = Duration::ZERO;
        let mut began = held[0].0;
        for (now, next) in held.iter().zip(&held[1..]) {
            longest = longest.max(now.1 - began);
            if next.0 - now.1 >= FREE {
                began = next.0;
            }
        }
        longest
    }

    #[test]
    fn beside_a_neighbour_the_lock_is_free_for_110_ms_after_at_most_a_second() {
        for (hold, gap) in [(1, 0), (3, 1), (20, 0), (49, 0), (10, 100)] {
            for wall in [0, 40, 500, 999] {
                let world = world(wall, |_| true);
                let held = write(&world, hold * MS, gap * MS);
                let longest = longest_stretch(&held);
                assert!(longest <= Duration::from_secs(1), "{longest:?} of writing with {hold} ms held, {gap} ms between");
                let writing: Duration = held.iter().map(|(from, to)| *to - *from).sum();
                assert!(gap > 0 || writing.as_millis() > 16_000, "more rest than needed: {writing:?} of 20 s written");
            }
        }
    }

    #[test]
    fn a_clock_that_is_set_back_does_not_lengthen_a_stretch() {
        let world = world(10_000_000, |_| true);
        let mut pace = Pace::default();
        let mut held = Vec::new();
        for turn in 0..4_000_u64 {
            pace.wait(&world);
            let begun = world.now.get();
            world.now.set(begun + MS);
            // Always the same second.
            world.wall_start_ms.set(10_000_000 - turn);
            pace.released(&world);
            held.push((begun, world.now.get()));
        }
        assert!(longest_stretch(&held) <= Duration::from_secs(1));
    }

    #[test]
    fn all_of_us_rest_at_the_same_moment() {
        let rests = |wall: u64| {
            let world = world(wall, |_| true);
            write(&world, 15 * MS, Duration::ZERO);
            let slept = world.slept.take();
            slept
                .into_iter()
                .map(move |(from, to)| (wall + from.as_millis() as u64, wall + to.as_millis() as u64))
                .collect::<Vec<_>>()
        };
        // By the wall both start at second 7, one at its begin, one 423 ms later.
        let (first, second) = (rests(0), rests(423));
        assert!(first.len() >= 19 && second.len() >= 19);
        for ((a, b), (c, d)) in first.iter().zip(&second) {
            let together = b.min(d).saturating_sub(*a.max(c));
            assert!(u128::from(together) >= FREE.as_millis(), "rests from {a} to {b} and from {c} to {d}");
        }
    }

    #[test]
    fn alone_it_never_rests_and_looks_a_few_times_a_second() {
        let world = world(0, |_| false);
        write(&world, MS, Duration::ZERO);
        assert_eq!(world.slept.take(), []);
        let looked = world.looked.get();
        assert!((100..=140).contains(&looked), "looked {looked} times in 20 s");
    }

    #[test]
    fn a_neighbour_that_comes_later_is_noticed_in_time() {
        let came = Duration::from_secs(12) + 3 * MS;
        let world = world(0, move |now| now >= came);
        write(&world, MS, Duration::ZERO);
        let first = world.slept.take().first().map(|(from, _)| *from).unwrap_or_default();
        assert!(first >= came && first - came <= BELIEVED + MS, "came at {came:?}, first rest at {first:?}");
    }

    #[test]
    fn who_pauses_anyway_does_not_rest() {
        let world = world(0, |_| true);
        write(&world, 5 * MS, FREE);
        assert_eq!(world.slept.take(), []);
    }
}
