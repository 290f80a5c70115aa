//! A terminal of 80 columns, with somebody at the keys.

use crate::world::{Run, World};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;

/// Runs `annalist --db ../small.db ARGUMENTS` at a terminal. When it asks, `answer` is typed. Both outputs are in `out`, as
/// they stand on the screen.
pub fn at_a_terminal(world: &World, arguments: &[&str], answer: &str) -> Run {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    tcsetwinsize(&slave, Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
    let end = |fd: &OwnedFd| std::process::Stdio::from(fd.try_clone().unwrap());
    let mut command = world.process();
    command.args(["--db", "../small.db"]).args(arguments);
    command.stdin(end(&slave)).stdout(end(&slave)).stderr(end(&slave));
    let mut child = command.spawn().unwrap();
    // The command has ends of its own, also those that the builder keeps.
    drop((command, slave));
    let mut terminal = File::from(master);
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    // A terminal that nobody has open any more answers with an error.
    while let Ok(count @ 1..) = terminal.read(&mut buffer) {
        let asked = seen.ends_with(b"? [y/N] ");
        seen.extend_from_slice(&buffer[..count]);
        if !asked && seen.ends_with(b"[y/N] ") {
            terminal.write_all(answer.as_bytes()).unwrap();
        }
    }
    let status = child.wait().unwrap();
    let output = std::process::Output { status, stdout: seen, stderr: Vec::new() };
    let run = world.told(&output);
    Run { out: run.out.replace("\r\n", "\n"), ..run }
}

#[test]
fn a_list_fits() {
    let world = World::with_fixture();
    world
        .run(&["rename", crate::world::PLAIN, "A title of which there is so much that no line of a terminal has room for it"])
        .ok();
    for arguments in [&["list", "--all"][..], &["list", "--all", "--roots"]] {
        let run = at_a_terminal(&world, arguments, "");
        assert_eq!(run.code, 0, "{}", run.out);
        let table: Vec<&str> = run.out.lines().take_while(|line| !line.starts_with("All projects")).collect();
        assert!(table.len() > 10, "{}", run.out);
        let wide: Vec<_> = table.iter().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{wide:#?}");
        assert!(run.out.contains("A title of"), "{}", run.out);
    }
    // A file or a pipe has no width.
    assert!(world.run(&["list", "--all"]).ok().lines().any(|line| line.chars().count() > 80));
}
