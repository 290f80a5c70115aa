//! What the command says of itself.

use crate::world::World;

fn help(arguments: &[&str]) -> String {
    let world = World::new();
    let run = world.unchanged(|| world.outcome(world.command().args(arguments)));
    assert_eq!(run.err, "");
    run.ok().to_owned()
}

/// Every command, and the commands below it.
const COMMANDS: [&str; 18] = [
    "",
    "list",
    "show",
    "export",
    "import",
    "rename",
    "archive",
    "unarchive",
    "fork",
    "revert",
    "unrevert",
    "delete",
    "verify",
    "rebuild",
    "compact",
    "serve",
    "db",
    "db path",
];

fn of(command: &str, option: &'static str) -> String {
    help(&command.split(' ').filter(|word| !word.is_empty()).chain([option]).collect::<Vec<_>>())
}

#[test]
fn of_every_command_in_full() {
    for name in COMMANDS {
        insta::assert_snapshot!(format!("annalist {name}").trim_end().replace(' ', "-"), of(name, "--help"));
    }
}

/// A new command is in the list above.
#[test]
fn no_command_is_left_out() {
    let help = of("", "--help");
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let names: Vec<&str> =
        listed.filter(|line| !line.starts_with("   ")).filter_map(|line| line.split_whitespace().next()).collect();
    let wanted: Vec<&str> = COMMANDS.into_iter().filter(|name| !name.is_empty() && !name.contains(' ')).collect();
    assert_eq!(names.iter().filter(|name| !wanted.contains(*name)).collect::<Vec<_>>(), [&"help"]);
    assert_eq!(names.len(), wanted.len() + 1);
}

#[test]
fn every_command_that_works_on_a_record_has_examples() {
    for name in COMMANDS {
        let help = of(name, "--help");
        assert!(help.contains("\nExamples:\n  annalist ") || name.starts_with("db"), "{name}");
    }
}

#[test]
fn in_short() {
    insta::assert_snapshot!("short", help(&["-h"]));
    assert_eq!(help(&["help", "list"]), help(&["list", "--help"]));
}

#[test]
fn no_line_is_too_wide() {
    let world = World::new();
    for name in COMMANDS {
        let words = name.split(' ').filter(|word| !word.is_empty());
        for (columns, width) in [("80", 80), ("200", 100)] {
            let mut command = world.command();
            let run = world.outcome(command.env("COLUMNS", columns).args(words.clone()).arg("--help"));
            let wide: Vec<&str> = run.ok().lines().filter(|line| line.chars().count() > width).collect();
            assert!(wide.is_empty(), "{name} in {columns}: {wide:#?}");
            // What has lines of its own keeps them.
            for (at, line) in run.out.lines().enumerate().filter(|(_, line)| line.starts_with("  annalist ")) {
                let next = run.out.lines().nth(at + 1).unwrap_or_default();
                assert!(next.is_empty() || next.starts_with("  "), "{name} in {columns}: {line}\n{next}");
            }
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
