//! What the command says of itself.

use crate::world::World;

fn help(arguments: &[&str]) -> String {
    let world = World::new();
    let run = world.unchanged(|| world.outcome(world.command().args(arguments)));
    assert_eq!(run.err, "");
    run.ok().to_owned()
}

#[test]
fn of_every_command_in_full() {
    for name in ["", "list", "show", "export", "import", "db", "db path"] {
        let mut arguments: Vec<&str> = name.split(' ').filter(|word| !word.is_empty()).collect();
        arguments.push("--help");
        insta::assert_snapshot!(format!("annalist {name}").trim_end().replace(' ', "-"), help(&arguments));
    }
}

#[test]
fn in_short() {
    insta::assert_snapshot!("short", help(&["-h"]));
    assert_eq!(help(&["help", "list"]), help(&["list", "--help"]));
}

#[test]
fn no_line_is_too_wide() {
    for arguments in [&["--help"][..], &["list", "--help"], &["show", "--help"], &["import", "--help"]] {
        for line in help(arguments).lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn version() {
    assert_eq!(help(&["--version"]), format!("annalist {}\n", env!("CARGO_PKG_VERSION")));
}

/// Without a command the help goes to standard error: nothing was asked for that could be output.
#[test]
fn without_a_command() {
    let world = World::new();
    let run = world.outcome(&mut world.command());
    assert_eq!((run.code, run.out.as_str()), (2, ""));
    assert!(run.err.contains("Usage: annalist [OPTIONS] <COMMAND>"));
}
