//! As much of a URL as the name of a remote needs, read the way the URL standard has it: what is no URL there must not be one
//! here, as OpenCode then takes it for the short form of an address.

use std::net::Ipv6Addr;

/// Both are empty for an address on this machine or without a host.
#[derive(Default)]
pub(super) struct Url {
    pub(super) host: String,
    /// Without the first slash.
    pub(super) path: String,
}

impl Url {
    pub(super) fn read(address: &str) -> Option<Self> {
        let clean = address.trim_matches(|c: char| c <= ' ').replace(['\t', '\n', '\r'], "");
        let (scheme, rest) = clean.split_once(':')?;
        let letter = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
        if !letter || !scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)) {
            return None;
        }
        let scheme = scheme.to_ascii_lowercase();
        // Browsers' own schemes are read more freely: any number of slashes, also backward ones.
        let free = ["ftp", "http", "https", "ws", "wss"].contains(&scheme.as_str());
        let slash: &[char] = if free { &['/', '\\'] } else { &['/'] };
        let rest = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
        let rest = match rest.strip_prefix("//") {
            _ if free => rest.trim_start_matches(slash),
            Some(rest) if scheme != "file" => rest,
            _ => return Some(Self::default()),
        };
        let (authority, path) = rest.split_at(rest.find(slash).unwrap_or(rest.len()));
        let host = host(authority, free)?;
        Some(Self { host, path: straight(path.strip_prefix(slash).unwrap_or(path), slash) })
    }
}

/// The host of `user@host:port`; `None` if that makes no URL.
fn host(authority: &str, free: bool) -> Option<String> {
    let place = authority.rsplit_once('@').map_or(authority, |(_, place)| place);
    // Colons in brackets are part of the host.
    let start = place.rfind(']').unwrap_or(0);
    let (host, port) = place.split_at(place[start..].find(':').map_or(place.len(), |at| start + at));
    let port = port.strip_prefix(':').unwrap_or(port);
    // Rust would also take a sign for part of the number.
    if !port.is_empty() && (port.starts_with('+') || port.parse::<u16>().is_err()) {
        return None;
    }
    match host.strip_prefix('[') {
        // Some schemes allow no host at all, none allows a user or a port of it.
        None if host.is_empty() && (free || !authority.is_empty()) => None,
        None if host.contains(FORBIDDEN) => None,
        // Names outside of ASCII stay as they are: no remote is known to be worth the tables for their conversion.
        None if free => Some(host.to_owned()),
        None => Some(encode(host, "")),
        Some(address) => ipv6(address.strip_suffix(']')?),
    }
}

/// What no host may hold. The standard names more, but that ends the host or is taken out before.
const FORBIDDEN: &[char] = &['\0', ' ', '<', '>', '[', '\\', ']', '^', '|'];

fn ipv6(address: &str) -> Option<String> {
    let address: Ipv6Addr = address.parse().ok()?;
    if address.to_ipv4_mapped().is_none() {
        return Some(format!("[{address}]"));
    }
    // The standard writes these without dots.
    let [.., high, low] = address.segments();
    Some(format!("[::ffff:{high:x}:{low:x}]"))
}

/// The path without `.` and `..` and with everything escaped that must be.
fn straight(path: &str, slash: &[char]) -> String {
    let mut out = Vec::new();
    let mut parts = path.split(slash).peekable();
    while let Some(part) = parts.next() {
        let dots = part.to_ascii_lowercase().replace("%2e", ".");
        if dots == ".." {
            out.pop();
        }
        if dots != "." && dots != ".." {
            out.push(encode(part, " \"<>^`{}"));
        } else if parts.peek().is_none() {
            out.push(String::new());
        }
    }
    out.join("/")
}

/// Escapes control characters, everything outside of ASCII and `also`.
fn encode(s: &str, also: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for byte in s.bytes() {
        let c = char::from(byte);
        if c.is_ascii() && !c.is_ascii_control() && !also.contains(c) {
            out.push(c);
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
