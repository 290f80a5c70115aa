//! The id made of a remote's address, so that all clones of a repository share their sessions.

use super::trim;
use super::url::Url;
use sha1_smol::Sha1;

/// The id for the address of a remote; `None` for local ones.
pub(super) fn id(address: &str) -> Option<String> {
    let name = remote_name(address)?;
    Some(Sha1::from(format!("git-remote:{name}")).digest().to_string())
}

/// `host/path`, the same however the repository is reached.
fn remote_name(address: &str) -> Option<String> {
    let address = trim(address);
    let url = match Url::read(address) {
        Some(url) => url,
        // OpenCode tries this on everything that is no URL, so one with a bad port ends up here as well.
        None => scp_like(address)?,
    };
    let path = url.path.trim_start_matches('/');
    let path = path.strip_suffix(".git").or_else(|| path.strip_suffix(".git/")).unwrap_or(path);
    let path = path.trim_end_matches('/');
    (!url.host.is_empty() && !path.is_empty()).then(|| format!("{}/{path}", url.host.to_lowercase()))
}

/// `[user@]host:path`
fn scp_like(address: &str) -> Option<Url> {
    let end = address.find(['/', ':'])?;
    let (before, path) = (&address[..end], address[end..].strip_prefix(':')?);
    // The line ends of JavaScript: OpenCode's pattern refuses them here, but not in the user's name.
    if before.is_empty() || path.is_empty() || path.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        return None;
    }
    let host = match before.split_once('@') {
        Some((user, host)) if !user.is_empty() && !host.is_empty() => host,
        _ => before,
    };
    Some(Url { host: host.to_owned(), path: path.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remote_names() {
        let same = [
            "https://github.com/Me/Repo.git",
            "https://github.com/Me/Repo",
            "https://github.com/Me/Repo.git/",
            "https://github.com/Me/Repo//",
            "HTTPS://GitHub.COM:443/Me/Repo",
            "https://user:p%40w@github.com:8443/Me/Repo.git",
            "http://github.com/a/../Me/./Repo.git?x=1#y",
            "https:\\\\github.com/a/%2E%2e/Me\\Repo",
            "https:github.com/Me/Repo",
            "ssh://git@GitHub.com:22/Me/Repo.git",
            "ssh://a@b@github.com//Me/Repo",
            "git+ssh://github.com/Me/Repo",
            "git@GitHub.com:/Me/Repo.git",
            "a\nb@github.com:Me/Repo",
            " https://github.com/Me/\tRepo\u{a0}",
        ];
        for address in same {
            assert_eq!(remote_name(address).as_deref(), Some("github.com/Me/Repo"), "{address:?}");
        }
        let other = [
            ("https://h/x.git//", "h/x.git"),
            ("https://h/x.git.git", "h/x.git"),
            ("https://h/x.GIT", "h/x.GIT"),
            ("https://h//x//y/../z", "h/x//z"),
            ("https://h/a b/ü^", "h/a%20b/%C3%BC%5E"),
            ("https://h./x", "h./x"),
            ("https://h/x/.git", "h/x"),
            ("https://[::0001]:80/x", "[::1]/x"),
            ("ws://[::ffff:1.2.3.4]/x", "[::ffff:102:304]/x"),
            ("ssh://git@[::1]:22/x", "[::1]/x"),
            ("ssh://mü/~x", "m%c3%bc/~x"),
            ("ssh://h:/a b/{x}", "h/a%20b/%7Bx%7D"),
            ("git@h:a b/ü.git", "h/a b/ü"),
            ("git@h:22:x", "h/22:x"),
            ("git@[::1]:x", "[/:1]:x"),
            ("[git@h:22]:x", "h/22]:x"),
            ("git@:x", "git@/x"),
            ("my_host:x", "my_host/x"),
            ("1host:x", "1host/x"),
            ("https://h:99999/x", "https/h:99999/x"),
            ("https://a b/x", "https/a b/x"),
            ("ssh://h<i/x", "ssh/h<i/x"),
        ];
        for (address, name) in other {
            assert_eq!(remote_name(address).as_deref(), Some(name), "{address:?}");
        }
        let none = [
            "",
            "x",
            "../x",
            "./a:b",
            "/srv/x.git",
            "//h/x",
            "C:\\x",
            "file:///srv/x",
            "file://h/x",
            "https://h",
            "https://h/.git",
            "https://h/a/..",
            "https://",
            "ssh://h",
            "ssh:///x",
            "ssh:x/y",
            "h.com:x/y",
            "a:b@h:x",
            "git@h:",
            "git@h:/",
            "ssh://a@h#i/x",
            "ext::sh -c x",
        ];
        for address in none {
            assert_eq!(remote_name(address), None, "{address:?}");
        }
    }
}
