//! Which process listens on a port, where the system lets us see it.

use std::fs;
use std::path::Path;

/// The state of a socket that listens, in `/proc/net/tcp`.
const LISTENS: &str = "0A";

/// `name (process 123)`; nothing if it cannot be told.
pub(crate) fn of_port(port: u16) -> Option<String> {
    let inodes: Vec<String> = ["/proc/net/tcp", "/proc/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .flat_map(|table| listening(&table, port))
        .collect();
    let wanted: Vec<String> = inodes.iter().map(|inode| format!("socket:[{inode}]")).collect();
    // Processes of others hide what they hold; then nobody is named.
    for process in fs::read_dir("/proc").ok()?.filter_map(Result::ok) {
        let id = process.file_name().to_string_lossy().into_owned();
        if id.bytes().all(|byte| byte.is_ascii_digit()) && holds(&process.path(), &wanted) {
            let name = fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            return Some(format!("{} (process {id})", name.trim()));
        }
    }
    None
}

/// The inodes of sockets that listen on a port.
fn listening(table: &str, port: u16) -> Vec<String> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (_, hex) = fields.get(1)?.rsplit_once(':')?;
        let here = u16::from_str_radix(hex, 16).ok()? == port && *fields.get(3)? == LISTENS;
        here.then(|| fields.get(9).map(|inode| (*inode).to_owned()))?
    };
    table.lines().skip(1).filter_map(row).collect()
}

fn holds(process: &Path, sockets: &[String]) -> bool {
    let Ok(open) = fs::read_dir(process.join("fd")) else { return false };
    open.filter_map(Result::ok)
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .any(|target| sockets.iter().any(|socket| target.as_os_str() == socket.as_str()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    #[test]
    fn finds_the_listening_socket_of_a_table() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   0: 0100007F:1000 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12345 1 0 100 0 0 10 0\n   1: 0100007F:1000 0100007F:9999 01 00000000:00000000 00:00000000 00000000     0        0 777 1 0 100 0 0 10 0\n";
        assert_eq!(listening(table, 4096), ["12345"]);
        assert!(listening(table, 4097).is_empty());
    }

    #[test]
    fn names_the_holder_of_a_port() {
        let held = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let holder = of_port(held.local_addr().unwrap().port()).unwrap();
        assert!(holder.ends_with(&format!("(process {})", std::process::id())), "{holder}");
    }
}
