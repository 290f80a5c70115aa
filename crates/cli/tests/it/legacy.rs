//! `annalist import --legacy`

use crate::world::World;
use std::fs;
use std::path::Path;

/// The fixture's tree as `old` in this world.
fn with_tree() -> World {
    let world = World::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/fixtures/legacy-storage");
    copy(&from, &world.path("old"));
    world
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}

#[test]
fn once_and_again() {
    let world = with_tree();
    fs::write(world.path("old/storage/session/stray.json"), "{}").unwrap();
    let run = world.run_on("../new.db", &["import", "--legacy", "../old"]);
    assert_eq!(run.ok(), "Imported: 8 sessions, 30 messages, 65 parts (0 sessions here already)\n");
    assert_eq!(
        run.err.lines().collect::<Vec<_>>(),
        [
            "New database: [TOP]/new.db",
            "Left in their files, since the database has no place for them: 1 changed file, 0 permissions",
            "Left out: storage/session/stray.json: no file of this storage is called so",
            "1 file left out.",
        ]
    );
    assert_eq!(world.run_on("../new.db", &["list", "--all", "--archived", "--json"]).json().as_array().unwrap().len(), 8);
    world.run_on("../new.db", &["verify"]).ok();
    // The storage folder itself is taken, too.
    let run = world.run_on("../new.db", &["import", "--legacy", "../old/storage"]);
    assert_eq!(run.ok(), "Imported: 0 sessions, 0 messages, 0 parts (8 sessions here already)\n");
    assert!(!run.err.contains("New database"), "{}", run.err);
}

/// A typing error leaves no empty database behind.
#[test]
fn a_folder_that_is_none() {
    let world = with_tree();
    fs::create_dir(world.path("empty")).unwrap();
    world.write("file", "");
    world.copy("opencode-small.db", "small.db");
    for (folder, told) in [
        ("../none", "annalist: ../none: No such file or directory (os error 2); check the path"),
        ("../file", "annalist: ../file: not a directory; check the path"),
        ("../empty", "annalist: ../empty: no files of OpenCode before 1.2 here: there is neither storage/session nor session/"),
    ] {
        for file in ["../new.db", "../small.db"] {
            let run = world.unchanged(|| world.run_on(file, &["import", "--legacy", folder]));
            assert_eq!((run.failure(), &*run.out), (told, ""));
            assert_eq!(run.err.lines().count(), 1, "{}", run.err);
        }
    }
}
