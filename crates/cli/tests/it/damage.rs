//! Damaged databases. What can be read is shown; what cannot is named, with the way to a copy that works.

use crate::world::{PLAIN, World};
use std::fs;

const PAGE: usize = 4096;

/// Overwrites pages of the copy.
fn damage(world: &World, pages: &[usize], byte: u8) {
    let path = world.path("small.db");
    let mut bytes = fs::read(&path).unwrap();
    for page in pages {
        bytes[page * PAGE..(page + 1) * PAGE].fill(byte);
    }
    fs::write(path, bytes).unwrap();
}

/// The first page of a table.
fn root(world: &World, table: &str) -> usize {
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let page: u32 = world.sqlite("small.db").query_row(sql, [table], |row| row.get(0)).unwrap();
    page as usize - 1
}

#[test]
fn a_damaged_table_stops_what_needs_it_and_nothing_else() {
    let told = "annalist: [TOP]/small.db: the database is damaged (database disk image is malformed)";
    for (table, hit) in [
        ("session", &["list --all", "list --all --json", "show ID", "show ID --json", "export ID", "show latest"][..]),
        ("message", &["show ID", "show ID --json", "export ID"]),
        ("part", &["show ID", "show ID --json", "export ID"]),
    ] {
        let world = World::with_fixture();
        let page = root(&world, table);
        damage(&world, &[page], 0xaa);
        for command in hit {
            let arguments: Vec<&str> = command.split(' ').map(|word| if word == "ID" { PLAIN } else { word }).collect();
            let run = world.unchanged(|| world.run(&arguments));
            let line = run.failure();
            assert!(line.starts_with(told), "{command}: {line}");
            assert!(line.contains("restore a backup"), "{line}");
            // Whoever keeps the output must know that it is not all.
            assert_eq!(line.ends_with("; the output is incomplete"), !run.out.is_empty(), "{command}: {line}");
        }
        if table != "session" {
            assert_eq!(world.run(&["list", "--all"]).ok().lines().count(), 20);
        }
    }
}

#[test]
fn a_damaged_first_page() {
    for (byte, problem) in [(0xaa, "not an OpenCode database"), (0, "not an OpenCode database")] {
        let world = World::with_fixture();
        damage(&world, &[0], byte);
        let run = world.unchanged(|| world.run(&["list", "--all"]));
        assert!(run.failure().contains(problem), "{}", run.err);
    }
}

/// An import into a damaged file is refused or whole, and never makes the file anew.
#[test]
fn a_damaged_file_is_not_written_over() {
    let world = World::with_fixture();
    let document = world.run(&["export", PLAIN]).ok().replace("ses_dd1b", "ses_new");
    let document = world.write("it.json", document.replace("msg_", "msg_x").replace("prt_", "prt_x"));
    let page = root(&world, "session");
    damage(&world, &[page], 0xaa);
    let before = fs::read(world.path("small.db")).unwrap();
    let run = world.run(&["import", document.to_str().unwrap()]);
    assert!(run.failure().contains("the database is damaged"), "{}", run.err);
    assert_eq!(run.out, "");
    assert_eq!(fs::read(world.path("small.db")).unwrap(), before);
}

/// Wherever the damage is: an answer or one line, no crash, and the file stays as it is.
#[test]
fn any_page() {
    let world = World::with_fixture();
    let whole = fs::read(world.path("small.db")).unwrap();
    let pages = whole.len() / PAGE;
    let mut failures = 0;
    for page in (0..pages).step_by(7) {
        fs::write(world.path("small.db"), &whole).unwrap();
        // A different pattern for each, none of them random: a failure can be repeated.
        damage(&world, &[page, (page * 31 + 5) % pages], (page * 37 % 251) as u8);
        for arguments in [&["list", "--all", "--json"][..], &["show", PLAIN], &["export", PLAIN]] {
            let run = world.unchanged(|| world.run(arguments));
            if run.code == 0 && arguments.contains(&"--json") {
                run.json();
            }
            if run.code != 0 {
                run.failure();
                failures += 1;
            }
        }
    }
    assert!(failures > 0, "no page that matters was hit");
}

#[test]
fn a_file_cut_short() {
    let world = World::with_fixture();
    let whole = fs::read(world.path("small.db")).unwrap();
    for length in [1, 99, 100, 512, PAGE, PAGE + 1, whole.len() / 2, whole.len() - 1] {
        fs::write(world.path("small.db"), &whole[..length]).unwrap();
        for arguments in [&["list", "--all"][..], &["export", PLAIN]] {
            let run = world.unchanged(|| world.run(arguments));
            if run.code != 0 {
                assert!(run.failure().starts_with("annalist: [TOP]/small.db: "), "{}", run.err);
            }
        }
    }
}
