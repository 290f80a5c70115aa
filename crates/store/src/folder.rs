//! Which project a folder belongs to.
//!
//! The id has to come out exactly as OpenCode computes it, since it decides which sessions two programs on one database
//! show for a folder. Git is the authority on repositories, but starting it costs milliseconds; so plain repositories are
//! read from their files, and git is asked about everything that is not plain.

use std::borrow::Cow;
use std::fs;
use std::io;
use std::net::Ipv6Addr;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

/// The project of folders that have no id of their own.
pub const GLOBAL: &str = "global";

/// The file in the git folder that keeps a project's id.
const MEMO: &str = "opencode";

/// What a folder belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// The project's id, or [`GLOBAL`].
    pub project: String,
    /// Absolute: the top of this working tree, `/` outside of git.
    pub worktree: String,
    /// Absolute, symbolic links resolved, no trailing slash.
    pub directory: String,
    /// `directory` relative to `worktree`, with `/` between names; empty at the top.
    pub path: String,
    /// Whether the folder is in a git working tree. Before the first commit it is, though its project is [`GLOBAL`].
    pub git: bool,
    /// The id this repository was known by before, where that is another. Sessions are still filed under it until OpenCode
    /// runs here and moves them.
    pub previous: Option<String>,
}

/// Whether a new id may be written into the repository's git folder, where OpenCode looks for it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remember {
    /// It may: the next look is faster, and the id outlives changes of history.
    Yes,
    /// Nothing is written.
    No,
}

/// Why it cannot be told what a folder belongs to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A relative path was given, and the current folder is gone or hidden.
    #[error("cannot tell the current folder: {source}")]
    CurrentFolder {
        /// why
        source: io::Error,
    },
    /// The path leads through a file, in a circle, or through a folder that is closed to us.
    #[error("{}: {source}", .path.display())]
    Unreadable {
        /// the path asked for
        path: PathBuf,
        /// why
        source: io::Error,
    },
    /// There is something else of that name.
    #[error("{}: not a folder", .path.display())]
    NotAFolder {
        /// the path with its links resolved
        path: PathBuf,
    },
    /// The record holds paths as text.
    #[error("{}: the path is not UTF-8, so it cannot be stored", .path.display())]
    NotUtf8 {
        /// the path
        path: PathBuf,
    },
    /// Only git could tell, and it is not installed.
    #[error("{}: telling its project takes the git program, which was not found ({source})", .folder.display())]
    GitMissing {
        /// where git was to run
        folder: PathBuf,
        /// why
        source: io::Error,
    },
    /// Git could not be started, or was killed.
    #[error("{}: cannot run git here: {source}", .folder.display())]
    GitFailed {
        /// where git was to run
        folder: PathBuf,
        /// why
        source: io::Error,
    },
}

/// Finds what `folder` belongs to. It need not exist, and may be relative to the current folder.
pub fn resolve(folder: &Path, remember: Remember) -> Result<Folder, FolderError> {
    let directory = real(folder)?;
    let repository = match holder(&directory) {
        Some(holder) => Repository::of(&holder)?,
        None => None,
    };
    let Some(repository) = repository else {
        let path = text(directory.strip_prefix("/").unwrap_or(&directory))?.to_owned();
        return Ok(Folder {
            project: GLOBAL.to_owned(),
            worktree: "/".to_owned(),
            directory: text(&directory)?.to_owned(),
            path: slashes(path),
            git: false,
            previous: None,
        });
    };
    let memo = repository.common.join(MEMO);
    let remembered = read_memo(&memo);
    let project = match repository.remote_id()? {
        Some(id) => Some(id),
        None => match &remembered {
            Some(id) => Some(id.clone()),
            None => repository.root_commit()?,
        },
    };
    // Never over another id: from that one OpenCode learns which sessions to move, and would leave them behind.
    if let (Remember::Yes, Some(id), None) = (remember, &project, &remembered) {
        #[expect(clippy::let_underscore_must_use, reason = "in a read-only repository the id is just worked out again")]
        let _ = fs::write(&memo, id);
    }
    let project = project.unwrap_or_else(|| GLOBAL.to_owned());
    Ok(Folder {
        previous: remembered.filter(|id| *id != project),
        project,
        worktree: text(&repository.worktree)?.to_owned(),
        path: slashes(text(&relative(&repository.worktree, &directory))?.to_owned()),
        directory: text(&directory)?.to_owned(),
        git: true,
    })
}

fn text(path: &Path) -> Result<&str, FolderError> {
    path.to_str().ok_or_else(|| FolderError::NotUtf8 { path: path.to_owned() })
}

/// OpenCode does this on every system, so `\` in a Unix name becomes `/` too.
fn slashes(path: String) -> String {
    if path.contains('\\') { path.replace('\\', "/") } else { path }
}

/// `..` is taken off before links are followed, as OpenCode does; a path that does not exist keeps its links.
fn real(folder: &Path) -> Result<PathBuf, FolderError> {
    let absolute = if folder.is_absolute() {
        plain(folder)
    } else {
        let current = std::env::current_dir().map_err(|source| FolderError::CurrentFolder { source })?;
        plain(&current.join(folder))
    };
    match fs::canonicalize(&absolute) {
        Ok(path) if path.is_dir() => Ok(path),
        Ok(path) => Err(FolderError::NotAFolder { path }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(absolute),
        Err(source) => Err(FolderError::Unreadable { path: absolute, source }),
    }
}

/// The path without `.`, `..` and doubled or trailing slashes, not looking at the disk.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(common).map(|_| Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

/// The nearest folder, from `directory` upwards, that has something called `.git` in it.
fn holder(directory: &Path) -> Option<PathBuf> {
    directory.ancestors().find(|folder| folder.join(".git").exists()).map(Path::to_owned)
}

fn read_memo(file: &Path) -> Option<String> {
    let bytes = fs::read(file).ok()?;
    let content = String::from_utf8_lossy(&bytes);
    let id = trim(&content);
    (!id.is_empty()).then(|| id.to_owned())
}

/// Takes off what JavaScript's `trim` does: a byte order mark too, but not U+0085.
fn trim(s: &str) -> &str {
    s.trim_matches(|c: char| c == '\u{feff}' || c.is_whitespace() && c != '\u{85}')
}

struct Repository {
    worktree: PathBuf,
    /// The git folder that all linked working trees share.
    common: PathBuf,
    /// Known from the files alone to have no remote `origin`.
    no_origin: bool,
}

impl Repository {
    /// The repository that git finds starting from `holder`; `None` if git finds none.
    fn of(holder: &Path) -> Result<Option<Self>, FolderError> {
        if let Some(known) = read_repository(holder) {
            return Ok(Some(known));
        }
        let Some(common) = git(holder, &["rev-parse", "--git-common-dir"])? else {
            return Ok(None);
        };
        // The top is missing where `.git` points to a bare repository: then it is the folder that holds `.git`.
        let worktree = match git(holder, &["rev-parse", "--show-toplevel"])? {
            Some(top) => path_line(holder, top)?,
            None => holder.to_owned(),
        };
        Ok(Some(Self { worktree, common: path_line(holder, common)?, no_origin: false }))
    }

    /// The id made of the address of the remote `origin`, if that names a host.
    fn remote_id(&self) -> Result<Option<String>, FolderError> {
        if self.no_origin {
            return Ok(None);
        }
        // Only git knows the address: files may be included and beginnings replaced from the user's own settings.
        let Some(address) = git(&self.worktree, &["remote", "get-url", "origin"])? else {
            return Ok(None);
        };
        let address = String::from_utf8_lossy(&address);
        Ok(remote_name(&address).map(|name| sha1_smol::Sha1::from(format!("git-remote:{name}")).digest().to_string()))
    }

    /// The first in sorted order, so that all clones agree; `None` before the first commit.
    fn root_commit(&self) -> Result<Option<String>, FolderError> {
        let Some(output) = git(&self.worktree, &["rev-list", "--max-parents=0", "HEAD"])? else {
            return Ok(None);
        };
        let output = String::from_utf8_lossy(&output);
        Ok(output.lines().map(str::trim).filter(|line| !line.is_empty()).min().map(str::to_owned))
    }
}

/// Git's output if it succeeded. That it has no answer is no error.
fn git(folder: &Path, arguments: &[&str]) -> Result<Option<Vec<u8>>, FolderError> {
    // A missing working folder would look like a missing program.
    if !folder.is_dir() {
        return Ok(None);
    }
    let output = Command::new("git").args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null()).output();
    match output {
        Ok(output) if output.status.success() => Ok(Some(output.stdout)),
        Ok(output) if output.status.code().is_some() => Ok(None),
        // Killed: taking that for "no repository" would file the folder under the wrong project.
        Ok(output) => {
            let source = io::Error::other(format!("git stopped: {}", output.status));
            Err(FolderError::GitFailed { folder: folder.to_owned(), source })
        }
        Err(source) if source.kind() == io::ErrorKind::NotFound => {
            Err(FolderError::GitMissing { folder: folder.to_owned(), source })
        }
        Err(source) => Err(FolderError::GitFailed { folder: folder.to_owned(), source }),
    }
}

/// A path that git printed, which may be relative to where it ran.
fn path_line(folder: &Path, output: Vec<u8>) -> Result<PathBuf, FolderError> {
    let line = String::from_utf8(output).map_err(|_| FolderError::NotUtf8 { path: folder.to_owned() })?;
    Ok(folder.join(line.trim_end_matches(['\r', '\n'])))
}

/// Settings from the environment that change what git finds.
const GIT_VARIABLES: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_CEILING_DIRECTORIES",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
];

/// Reads the repository from its files; `None` unless git would certainly find the same.
fn read_repository(holder: &Path) -> Option<Repository> {
    if GIT_VARIABLES.iter().any(|name| std::env::var_os(name).is_some()) {
        return None;
    }
    let holder = fs::canonicalize(holder).ok()?;
    let entry = holder.join(".git");
    let git_folder = match fs::symlink_metadata(&entry).ok()?.file_type() {
        kind if kind.is_dir() => entry.clone(),
        kind if kind.is_file() => fs::canonicalize(holder.join(one_line(&entry)?.strip_prefix("gitdir: ")?)).ok()?,
        _ => return None,
    };
    // Git refuses repositories of other users, unless told otherwise.
    if ![&holder, &entry, &git_folder].into_iter().all(|path| is_ours(path)) {
        return None;
    }
    let common_file = git_folder.join("commondir");
    let common =
        if common_file.exists() { fs::canonicalize(git_folder.join(one_line(&common_file)?)).ok()? } else { git_folder.clone() };
    if !is_head(&one_line(&git_folder.join("HEAD"))?) || !common.join("objects").is_dir() || !common.join("refs").is_dir() {
        return None;
    }
    let config = Config::read(&fs::read_to_string(common.join("config")).ok()?)?;
    // Old ways to keep a remote, which git still reads.
    let old = ["remotes", "branches"].iter().any(|folder| common.join(folder).join("origin").exists());
    Some(Repository { worktree: holder, common, no_origin: !config.remotes && !old })
}

fn one_line(file: &Path) -> Option<String> {
    let content = fs::read_to_string(file).ok()?;
    let line = content.trim_end_matches(['\r', '\n']);
    (!line.is_empty() && !line.contains('\n')).then(|| line.to_owned())
}

fn is_head(line: &str) -> bool {
    line.starts_with("ref: refs/") || (line.len() == 40 && line.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(unix)]
fn is_ours(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| fs::metadata(path).map(|m| m.uid()).ok();
    // Where there is no /proc, git is asked.
    owner(Path::new("/proc/self")).is_some_and(|me| owner(path) == Some(me))
}

#[cfg(not(unix))]
fn is_ours(_: &Path) -> bool {
    false
}

struct Config {
    /// Whether there may be remotes.
    remotes: bool,
}

impl Config {
    /// Understands only what `git init`, `git clone` and `git config` write; `None` for anything that moves the working
    /// tree, changes the format or is written in another way.
    fn read(content: &str) -> Option<Self> {
        let (mut section, mut remotes, mut has_tree) = (String::new(), false, false);
        for line in content.lines().map(str::trim) {
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(header) = line.strip_prefix('[') {
                let header = header.strip_suffix(']')?;
                section = header.split([' ', '\t', '.', '"']).next()?.to_ascii_lowercase();
                match section.as_str() {
                    "core" if header.len() > section.len() => return None,
                    _ if header.contains(']') => return None,
                    "" | "extensions" | "include" | "includeif" => return None,
                    "remote" => remotes = true,
                    _ => {}
                }
                continue;
            }
            if line.ends_with('\\') {
                return None;
            }
            if section != "core" {
                continue;
            }
            let (key, value) = line.split_once('=')?;
            match (key.trim().to_ascii_lowercase().as_str(), value.trim()) {
                ("bare", "false") => has_tree = true,
                ("repositoryformatversion", "0") => {}
                ("bare" | "repositoryformatversion" | "worktree", _) => return None,
                _ => {}
            }
        }
        has_tree.then_some(Self { remotes })
    }
}

/// `host/path` of a remote's address, the same however the repository is reached; `None` for local ones.
fn remote_name(address: &str) -> Option<String> {
    let address = trim(address);
    let (host, path) = match Url::read(address) {
        Some(url) if url.scheme == "file" => return None,
        Some(url) => (url.host, url.path),
        // OpenCode tries this on everything that is no URL, so one with a bad port ends up here as well.
        None => {
            let (host, path) = scp_like(address)?;
            (host.to_owned(), path.to_owned())
        }
    };
    let path = path.trim_start_matches('/');
    let path = path.strip_suffix(".git").or_else(|| path.strip_suffix(".git/")).unwrap_or(path);
    let path = path.trim_end_matches('/');
    (!host.is_empty() && !path.is_empty()).then(|| format!("{}/{path}", host.to_lowercase()))
}

/// `[user@]host:path`
fn scp_like(address: &str) -> Option<(&str, &str)> {
    let end = address.find(['/', ':'])?;
    let (before, path) = (&address[..end], address[end..].strip_prefix(':')?);
    if before.is_empty() || path.is_empty() || path.contains(['\n', '\r', '\u{2028}', '\u{2029}']) {
        return None;
    }
    let host = match before.split_once('@') {
        Some((user, host)) if !user.is_empty() && !host.is_empty() => host,
        _ => before,
    };
    Some((host, path))
}

/// As much of a URL as the name of a remote needs, read the way the URL standard has it: what is no URL there must not be
/// one here.
struct Url {
    scheme: String,
    host: String,
    path: String,
}

impl Url {
    fn read(address: &str) -> Option<Self> {
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
            Some(rest) => rest,
            None => return Some(Self { scheme, host: String::new(), path: rest.to_owned() }),
        };
        if scheme == "file" {
            return Some(Self { scheme, host: String::new(), path: rest.to_owned() });
        }
        let (authority, path) = rest.split_at(rest.find(slash).unwrap_or(rest.len()));
        let (user, place) = match authority.rsplit_once('@') {
            Some((user, place)) => (Some(user), place),
            None => (None, authority),
        };
        let colon = place.rfind(']').map_or_else(|| place.find(':'), |end| place[end..].find(':').map(|at| end + at));
        let (host, port) = match colon {
            Some(at) => (&place[..at], Some(&place[at + 1..])),
            None => (place, None),
        };
        if let Some(port) = port
            && !(port.is_empty() || port.bytes().all(|b| b.is_ascii_digit()) && port.parse::<u16>().is_ok())
        {
            return None;
        }
        if host.is_empty() && (free || user.is_some() || port.is_some()) {
            return None;
        }
        let host = match host.strip_prefix('[') {
            Some(address) => ipv6(address.strip_suffix(']')?)?,
            None if host.contains(FORBIDDEN) => return None,
            // Names outside of ASCII stay as they are: no remote is known to be worth the tables for their conversion.
            None if free => host.to_owned(),
            None => encode(host, |c| c.is_ascii_control()),
        };
        Some(Self { scheme, host, path: straight(path, slash) })
    }
}

/// What no host may hold, at least not as it is.
const FORBIDDEN: &[char] = &['\0', '\t', '\n', '\r', ' ', '#', '/', ':', '<', '>', '?', '@', '[', '\\', ']', '^', '|'];

fn ipv6(address: &str) -> Option<String> {
    let address: Ipv6Addr = address.parse().ok()?;
    // The standard writes mapped addresses without dots.
    let name = match address.to_ipv4_mapped() {
        Some(v4) => {
            let [a, b, c, d] = v4.octets();
            format!("::ffff:{:x}:{:x}", u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
        }
        None => address.to_string(),
    };
    Some(format!("[{name}]"))
}

/// The path without `.` and `..` and with everything escaped that must be.
fn straight(path: &str, slash: &[char]) -> String {
    let Some(path) = path.strip_prefix(slash) else {
        return String::new();
    };
    let mut out: Vec<Cow<str>> = Vec::new();
    let mut parts = path.split(slash).peekable();
    while let Some(part) = parts.next() {
        let dots = part.to_ascii_lowercase().replace("%2e", ".");
        if dots == ".." {
            out.pop();
        }
        if dots != "." && dots != ".." {
            out.push(encode(part, |c| c.is_ascii_control() || " \"#<>?^`{}".contains(c)).into());
        } else if parts.peek().is_none() {
            out.push("".into());
        }
    }
    format!("/{}", out.join("/"))
}

fn encode(s: &str, also: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        if c.is_ascii() && !also(c) {
            out.push(c);
        } else {
            let mut buffer = [0; 4];
            out.extend(c.encode_utf8(&mut buffer).bytes().map(|b| format!("%{b:02X}")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::error::Error;

    type Outcome = Result<(), Box<dyn Error>>;

    /// A temporary folder with links resolved, as `/tmp` itself is one on some systems.
    struct Room {
        top: PathBuf,
        _guard: tempfile::TempDir,
    }

    impl Room {
        fn new() -> Result<Self, Box<dyn Error>> {
            let guard = tempfile::tempdir()?;
            Ok(Self { top: fs::canonicalize(guard.path())?, _guard: guard })
        }

        fn folder(&self, name: &str) -> Result<PathBuf, Box<dyn Error>> {
            let path = self.top.join(name);
            fs::create_dir_all(&path)?;
            Ok(path)
        }

        fn repository(&self, name: &str) -> Result<PathBuf, Box<dyn Error>> {
            let path = self.folder(name)?;
            run(&path, "init -q")?;
            Ok(path)
        }

        fn committed(&self, name: &str) -> Result<PathBuf, Box<dyn Error>> {
            let path = self.repository(name)?;
            commit(&path, name)?;
            Ok(path)
        }
    }

    fn run(folder: &Path, command: &str) -> Result<String, Box<dyn Error>> {
        let settings = ["user.name=a", "user.email=a@example.com", "protocol.file.allow=always"];
        let output = Command::new("git")
            .args(settings.iter().flat_map(|setting| ["-c", setting]))
            .args(command.split(' '))
            .current_dir(folder)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()?;
        if !output.status.success() {
            return Err(format!("git {command}: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(String::from_utf8(output.stdout)?.trim().to_owned())
    }

    fn commit(folder: &Path, message: &str) -> Result<String, Box<dyn Error>> {
        run(folder, &format!("commit -q --allow-empty -m {message}"))?;
        run(folder, "rev-parse HEAD")
    }

    fn look(folder: &Path) -> Result<Folder, FolderError> {
        resolve(folder, Remember::No)
    }

    fn sha1(name: &str) -> String {
        sha1_smol::Sha1::from(format!("git-remote:{name}")).digest().to_string()
    }

    fn shown(path: &Path) -> String {
        path.display().to_string()
    }

    #[test]
    fn a_folder_outside_of_git_is_global() -> Outcome {
        let room = Room::new()?;
        for name in ["there", "missing/below"] {
            let path = if name == "there" { room.folder(name)? } else { room.top.join(name) };
            let directory = shown(&path);
            let want = Folder {
                project: GLOBAL.to_owned(),
                worktree: "/".to_owned(),
                path: directory.trim_start_matches('/').to_owned(),
                directory,
                git: false,
                previous: None,
            };
            assert_eq!(look(&path)?, want);
        }
        let root = look(Path::new("/"))?;
        assert_eq!((root.directory.as_str(), root.path.as_str()), ("/", ""));
        Ok(())
    }

    #[test]
    fn before_the_first_commit_the_project_is_global_but_not_the_worktree() -> Outcome {
        let room = Room::new()?;
        let top = room.repository("new")?;
        let found = resolve(&top.join("a/b"), Remember::Yes)?;
        assert_eq!((found.project.as_str(), found.path.as_str(), found.git), (GLOBAL, "a/b", true));
        assert_eq!(found.worktree, shown(&top));
        assert!(!top.join(".git/opencode").exists());
        Ok(())
    }

    #[test]
    fn without_a_remote_the_first_root_commit_of_head_counts() -> Outcome {
        let room = Room::new()?;
        let top = room.committed("one")?;
        let first = run(&top, "rev-parse HEAD")?;
        assert_eq!(look(&top)?.project, first);
        run(&top, "checkout -q --orphan two")?;
        let second = commit(&top, "two")?;
        assert_eq!(look(&top)?.project, second);
        run(&top, &format!("merge -q --allow-unrelated-histories -m both {first}"))?;
        assert_eq!(look(&top)?.project, first.min(second));
        Ok(())
    }

    #[test]
    fn the_remote_comes_before_the_memo_and_the_memo_before_the_root() -> Outcome {
        let room = Room::new()?;
        let top = room.committed("repo")?;
        let memo = top.join(".git/opencode");
        fs::write(&memo, "\u{feff} kept\r\n")?;
        let found = resolve(&top, Remember::Yes)?;
        assert_eq!((found.project.as_str(), found.previous), ("kept", None));
        assert_eq!(fs::read_to_string(&memo)?, "\u{feff} kept\r\n");
        run(&top, "remote add origin ../elsewhere")?;
        assert_eq!(look(&top)?.project, "kept");
        run(&top, "remote set-url origin git@Example.com:me/repo.git")?;
        let found = resolve(&top, Remember::Yes)?;
        assert_eq!((found.project, found.previous.as_deref()), (sha1("example.com/me/repo"), Some("kept")));
        assert_eq!(fs::read_to_string(&memo)?, "\u{feff} kept\r\n");
        fs::remove_file(&memo)?;
        assert_eq!(look(&top)?.project, sha1("example.com/me/repo"));
        assert!(!memo.exists());
        assert_eq!(resolve(&top, Remember::Yes)?.previous, None);
        assert_eq!(fs::read_to_string(&memo)?, sha1("example.com/me/repo"));
        run(&top, "remote remove origin")?;
        fs::write(&memo, " \n")?;
        assert_eq!(look(&top)?.project, run(&top, "rev-parse HEAD")?);
        Ok(())
    }

    #[test]
    fn a_memo_that_cannot_be_written_is_no_error() -> Outcome {
        let room = Room::new()?;
        let top = room.committed("repo")?;
        fs::create_dir(top.join(".git/opencode"))?;
        assert_eq!(resolve(&top, Remember::Yes)?.project, run(&top, "rev-parse HEAD")?);
        Ok(())
    }

    #[test]
    fn a_remote_in_an_included_file_counts() -> Outcome {
        let room = Room::new()?;
        let top = room.committed("repo")?;
        fs::write(top.join(".git/more"), "[remote \"origin\"]\n\turl = https://host/x/y\n")?;
        run(&top, "config include.path more")?;
        assert_eq!(look(&top)?.project, sha1("host/x/y"));
        Ok(())
    }

    #[test]
    fn linked_working_trees_share_the_memo() -> Outcome {
        let room = Room::new()?;
        let top = room.committed("main")?;
        run(&top, "worktree add -q ../linked -b other")?;
        let linked = room.top.join("linked");
        let found = resolve(&room.folder("linked/sub")?, Remember::Yes)?;
        assert_eq!((found.worktree, found.path.as_str()), (shown(&linked), "sub"));
        assert_eq!(fs::read_to_string(top.join(".git/opencode"))?, found.project);
        fs::write(top.join(".git/opencode"), "shared")?;
        assert_eq!(look(&linked)?.project, "shared");
        Ok(())
    }

    #[test]
    fn submodules_nested_and_separate_repositories_are_their_own() -> Outcome {
        let room = Room::new()?;
        let inner = room.committed("inner")?;
        let outer = room.committed("outer")?;
        run(&outer, "submodule add -q ../inner sub")?;
        let found = resolve(&outer.join("sub"), Remember::Yes)?;
        assert_eq!((found.worktree, found.path.as_str()), (shown(&outer.join("sub")), ""));
        assert_eq!(found.project, run(&inner, "rev-parse HEAD")?);
        assert!(outer.join(".git/modules/sub/opencode").exists());
        let nested = room.committed("outer/in/nested")?;
        assert_eq!(look(&nested)?.worktree, shown(&nested));
        assert_eq!(look(&outer.join("in"))?.path, "in");
        run(&room.top, "init -q --separate-git-dir kept apart")?;
        commit(&room.top.join("apart"), "x")?;
        resolve(&room.top.join("apart"), Remember::Yes)?;
        assert!(room.top.join("kept/opencode").exists());
        Ok(())
    }

    #[test]
    fn a_bare_repository_is_global_unless_a_git_file_points_to_it() -> Outcome {
        let room = Room::new()?;
        let source = room.committed("source")?;
        let hub = room.folder("hub")?;
        run(&hub, "clone -q --bare ../source .bare")?;
        assert!(!look(&hub.join(".bare"))?.git);
        fs::write(hub.join(".git"), "gitdir: ./.bare\n")?;
        let found = look(&room.folder("hub/deep")?)?;
        assert_eq!((found.worktree, found.path.as_str()), (shown(&hub), "deep"));
        assert_eq!(found.project, run(&source, "rev-parse HEAD")?);
        Ok(())
    }

    #[test]
    fn rubbish_named_git_is_no_repository() -> Outcome {
        let room = Room::new()?;
        let outer = room.committed("outer")?;
        room.folder("outer/empty/.git")?;
        assert_eq!(look(&outer.join("empty"))?.path, "empty");
        for (name, content) in [("words", "rubbish"), ("nowhere", "gitdir: /nowhere/at/all\n")] {
            let folder = room.folder(name)?;
            fs::write(folder.join(".git"), content)?;
            assert!(!look(&folder)?.git, "{name}");
        }
        Ok(())
    }

    #[cfg(unix)]
    #[test]
    fn links_are_resolved_in_folders_that_exist() -> Outcome {
        use std::os::unix::fs::symlink;
        let room = Room::new()?;
        let top = room.committed("repo")?;
        let sub = room.folder("repo/a\\b/c")?;
        symlink(&top, room.top.join("link"))?;
        symlink(&sub, room.top.join("deep"))?;
        assert_eq!(look(&room.top.join("link"))?.directory, shown(&top));
        assert_eq!(look(&room.top.join("deep/"))?.path, "a/b/c");
        assert_eq!(look(&room.top.join("deep/.."))?.directory, shown(&room.top));
        let missing = look(&room.top.join("link/none"))?;
        assert_eq!((missing.worktree, missing.path.as_str()), (shown(&top), "../link/none"));
        assert_eq!(missing.directory, shown(&room.top.join("link/none")));
        symlink(room.top.join("loop"), room.top.join("loop"))?;
        assert!(matches!(look(&room.top.join("loop")), Err(FolderError::Unreadable { .. })));
        fs::write(top.join("file"), "")?;
        assert!(matches!(look(&top.join("file")), Err(FolderError::NotAFolder { .. })));
        Ok(())
    }

    #[test]
    fn a_relative_folder_starts_at_the_current_one() -> Outcome {
        let current = look(&std::env::current_dir()?)?;
        for name in ["", ".", "none/.."] {
            assert_eq!(look(Path::new(name))?, current, "{name:?}");
        }
        Ok(())
    }

    #[test]
    fn git_is_started_only_for_what_is_not_plain() -> Outcome {
        let room = Room::new()?;
        let top = room.committed("repo")?;
        run(&top, "worktree add -q ../linked -b other")?;
        for folder in [&top, &room.top.join("linked")] {
            let known = read_repository(folder).ok_or("a plain repository was not understood")?;
            assert!(known.no_origin);
        }
        run(&top, "remote add upstream https://host/x")?;
        assert!(read_repository(&top).is_some_and(|known| !known.no_origin));
        let config = fs::read_to_string(top.join(".git/config"))?;
        let odd = [
            "[core]\nworktree = ..\n",
            "[include]\npath = x\n",
            "[core] bare = true\n",
            "[extensions]\nx = y\n",
            "[a \"]\"]\n",
            "[a]\nb = c\\\nd\n",
        ];
        for extra in odd {
            fs::write(top.join(".git/config"), format!("{config}{extra}"))?;
            assert!(read_repository(&top).is_none(), "{extra:?}");
        }
        Ok(())
    }

    #[test]
    fn a_missing_git_program_matters_only_where_git_is_needed() -> Outcome {
        let flag = "FOLDER_TEST_WITHOUT_GIT";
        let Some(place) = std::env::var_os(flag) else {
            let room = Room::new()?;
            fs::write(room.committed("known")?.join(".git/opencode"), "known")?;
            room.committed("unknown")?;
            let module = module_path!().split_once("::").map_or("", |(_, module)| module);
            let name = format!("{module}::a_missing_git_program_matters_only_where_git_is_needed");
            let output = Command::new(std::env::current_exe()?)
                .args(["--exact", &name])
                .env("PATH", room.top.join("nothing"))
                .env(flag, &room.top)
                .output()?;
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("1 passed"), "{said}");
            return Ok(());
        };
        let place = PathBuf::from(place);
        assert_eq!(look(&place.join("known"))?.project, "known");
        assert_eq!(look(&place)?.project, GLOBAL);
        assert!(matches!(look(&place.join("unknown")), Err(FolderError::GitMissing { .. })));
        Ok(())
    }

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
