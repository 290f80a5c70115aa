//! Titles that a program gives.

use annalist_schema::session::{fork_title, is_default_title};

#[test]
fn a_fork_takes_the_next_number() {
    for (title, fork) in [
        ("talk", "talk (fork #1)"),
        ("talk (fork #1)", "talk (fork #2)"),
        ("talk (fork #9)", "talk (fork #10)"),
        ("talk (fork #007)", "talk (fork #8)"),
        ("a (fork #1) (fork #41)", "a (fork #1) (fork #42)"),
        ("", " (fork #1)"),
        // No base, no number, something behind it, another shape: a title like any other.
        (" (fork #1)", " (fork #1) (fork #1)"),
        ("talk (fork #)", "talk (fork #) (fork #1)"),
        ("talk (fork #+1)", "talk (fork #+1) (fork #1)"),
        ("talk (fork #1) ", "talk (fork #1)  (fork #1)"),
        ("talk(fork #1)", "talk(fork #1) (fork #1)"),
        ("talk (fork #1))", "talk (fork #1)) (fork #1)"),
        ("two\nlines (fork #1)", "two\nlines (fork #1) (fork #1)"),
        ("\u{1f600} (fork #1)", "\u{1f600} (fork #2)"),
        ("x (fork #18446744073709551615)", "x (fork #18446744073709551615) (fork #1)"),
    ] {
        assert_eq!(fork_title(title), fork);
    }
}

#[test]
fn default_titles_are_told_from_given_ones() {
    for title in ["New session - 2026-11-30T22:40:01.123Z", "Child session - 0000-00-00T99:99:99.999Z"] {
        assert!(is_default_title(title), "{title}");
    }
    for title in [
        "",
        "New session - ",
        "New session - 2026-11-30T22:40:01Z",
        "New session - 2026-11-30T22:40:01.123Z ",
        " New session - 2026-11-30T22:40:01.123Z",
        "new session - 2026-11-30T22:40:01.123Z",
        "New session - 2026-11-30 22:40:01.123Z",
        "New session - 2026-11-30T22:40:01.123z",
        "New session - \u{661}26-11-30T22:40:01.123Z",
        "My session - 2026-11-30T22:40:01.123Z",
        "New session - 2026-11-30T22:40:01.123Z (fork #1)",
    ] {
        assert!(!is_default_title(title), "{title}");
    }
}
