//! Where the files are. Three layouts: that of storage version 1 and 2, and the one before (version 0), in which each
//! folder worked in had a storage of its own.

use super::Report;
use super::Skipped;
use super::read::{entries, object, relative};
use crate::error::Error;
use crate::folder::{self, GLOBAL, Remember};
use annalist_schema::Json;
use annalist_schema::key::Key;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The files of one data folder.
pub(super) struct Tree {
    /// what paths in the report start below
    pub(super) top: PathBuf,
    /// the storage of version 1 and 2
    pub(super) storage: Option<PathBuf>,
    /// all sessions, old layout first
    pub(super) sessions: Vec<Found>,
}

/// A session's file.
pub(super) struct Found {
    pub(super) id: String,
    /// the project it is filed under
    pub(super) project: String,
    /// the work tree, where the layout says it
    pub(super) worktree: Option<String>,
    pub(super) file: PathBuf,
    /// The `message` and `part` folders: of version 0 both have a level for the session.
    pub(super) messages: PathBuf,
    parts: PathBuf,
}

/// A message's file.
pub(super) struct FoundMessage {
    pub(super) id: String,
    pub(super) file: PathBuf,
}

impl Tree {
    pub(super) fn open(folder: &Path) -> Result<Self, Error> {
        let io_error = |source| Error::Io { file: folder.to_owned(), source };
        if !fs::metadata(folder).map_err(io_error)?.is_dir() {
            return Err(io_error(io::ErrorKind::NotADirectory.into()));
        }
        fs::read_dir(folder).map_err(io_error)?;
        let inside = folder.join("storage");
        let (storage, older) = if inside.is_dir() {
            (Some(inside), Some(folder.join("project")))
        } else if folder.join("session").is_dir() {
            (Some(folder.to_owned()), None)
        } else {
            (None, Some(folder.join("project")))
        };
        let mut tree = Tree { top: folder.to_owned(), storage, sessions: Vec::new() };
        // From version 1 on the old layout is a copy that nobody keeps up: what was deleted since is still in it.
        let older = older.filter(|older| tree.version() == 0 && older.is_dir());
        if let Some(older) = older {
            tree.find_version_0(&older);
        }
        if let Some(storage) = tree.storage.clone() {
            tree.find(&storage);
        }
        if tree.storage.is_none() && tree.sessions.is_empty() {
            return Err(Error::Invalid {
                what: folder.display().to_string(),
                problem: "no files of OpenCode before 1.2 here: there is neither storage/session nor session/".to_owned(),
            });
        }
        Ok(tree)
    }

    /// The counter in `migration`; none is 0.
    fn version(&self) -> u64 {
        let text = self.storage.as_ref().and_then(|storage| fs::read_to_string(storage.join("migration")).ok());
        text.and_then(|text| text.trim().parse().ok()).unwrap_or(0)
    }

    fn find(&mut self, storage: &Path) {
        for project in entries(&storage.join("session")).unwrap_or_default() {
            for file in entries(&project).unwrap_or_default() {
                // What else lies there, `leftovers` tells of.
                let Some(Key::Session { project, session: id }) = key(storage, &file) else { continue };
                let (messages, parts) = (storage.join("message").join(&id), storage.join("part"));
                self.sessions.push(Found { id, project, worktree: None, file, messages, parts });
            }
        }
    }

    /// `project/<folder>/storage/session/{info,message,part}`. The project is what the folder it worked in belongs to today.
    fn find_version_0(&mut self, older: &Path) {
        for project in entries(older).unwrap_or_default() {
            let storage = project.join("storage").join("session");
            let worktree = worktree_of(&storage).unwrap_or_else(|| "/".to_owned());
            let home = folder::resolve(Path::new(&worktree), Remember::No).ok();
            let id = home.map_or_else(|| GLOBAL.to_owned(), |home| home.project);
            for file in entries(&storage.join("info")).unwrap_or_default() {
                let Some(session) = stem(&file) else { continue };
                self.sessions.push(Found {
                    messages: storage.join("message").join(&session),
                    parts: storage.join("part").join(&session),
                    id: session,
                    project: id.clone(),
                    worktree: Some(worktree.clone()),
                    file,
                });
            }
        }
    }

    /// The messages of a session in the order of their ids, which was that of time then.
    pub(super) fn messages(&self, found: &Found, skipped: &mut Vec<Skipped>) -> Vec<FoundMessage> {
        self.named(&found.messages, skipped)
    }

    /// The parts of a message, by id.
    pub(super) fn parts(&self, found: &Found, message: &str, skipped: &mut Vec<Skipped>) -> Vec<FoundMessage> {
        self.named(&found.parts.join(message), skipped)
    }

    fn named(&self, folder: &Path, skipped: &mut Vec<Skipped>) -> Vec<FoundMessage> {
        match entries(folder) {
            Ok(files) => files
                .into_iter()
                .filter_map(|file| match stem(&file) {
                    Some(id) => Some(FoundMessage { id, file }),
                    None => {
                        skipped.push(self.skipped(&file, "its name is not that of a file of this storage"));
                        None
                    }
                })
                .collect(),
            // No folder, no messages: that is how an empty session looks.
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(e) => {
                skipped.push(self.skipped(folder, &e.to_string()));
                Vec::new()
            }
        }
    }

    pub(super) fn skipped(&self, file: &Path, reason: &str) -> Skipped {
        Skipped { file: relative(&self.top, file), reason: reason.to_owned() }
    }

    /// A file of the session in a folder of the storage that has one each.
    pub(super) fn beside(&self, key: &Key) -> Option<PathBuf> {
        Some(self.storage.as_ref()?.join(key.to_path().ok()?))
    }

    /// Counts what stays in files, and names every file that nothing led to.
    pub(super) fn leftovers(&self, messages: &HashSet<String>, report: &mut Report) {
        let Some(storage) = &self.storage else { return };
        let sessions: HashSet<&str> = self.sessions.iter().map(|found| found.id.as_str()).collect();
        for folder in entries(storage).unwrap_or_default() {
            let name = name_of(&folder);
            if !folder.is_dir() {
                if name != "migration" {
                    report.skipped.push(self.skipped(&folder, "no file of this storage is called so"));
                }
                continue;
            }
            let list = match entries(&folder) {
                Ok(list) => list,
                Err(e) => {
                    report.skipped.push(self.skipped(&folder, &e.to_string()));
                    continue;
                }
            };
            for entry in list {
                let one = stem(&entry).or_else(|| entry.is_dir().then(|| name_of(&entry))).unwrap_or_default();
                match name.as_str() {
                    "project" if stem(&entry).is_some() => {}
                    "session" if entry.is_dir() => {
                        for file in entries(&entry).unwrap_or_default() {
                            if !matches!(key(storage, &file), Some(Key::Session { .. })) {
                                self.leave_out(&file, "its name is not that of a session's file", report);
                            }
                        }
                    }
                    "message" if sessions.contains(one.as_str()) && entry.is_dir() => {}
                    "message" => self.leave_out(&entry, "its session has no file", report),
                    "part" if messages.contains(&one) && entry.is_dir() => {}
                    "part" => self.leave_out(&entry, "its message has no file", report),
                    "todo" | "session_share" if sessions.contains(one.as_str()) => {}
                    "todo" | "session_share" => self.leave_out(&entry, "its session has no file", report),
                    "session_diff" => match object_list(&entry) {
                        Some(0) => {}
                        Some(_) => report.session_diffs_left += 1,
                        None => self.leave_out(&entry, "it is no list of changed files", report),
                    },
                    "permission" => report.permissions_left += 1,
                    _ => self.leave_out(&entry, "no file of this storage is called so", report),
                }
            }
        }
    }

    /// Every file below, with one reason.
    pub(super) fn leave_out(&self, entry: &Path, reason: &str, report: &mut Report) {
        let mut waiting = vec![entry.to_owned()];
        while let Some(entry) = waiting.pop() {
            // A link is a file here: following it could lead anywhere.
            let folder = fs::symlink_metadata(&entry).is_ok_and(|meta| meta.is_dir());
            match folder.then(|| entries(&entry)) {
                None => report.skipped.push(self.skipped(&entry, reason)),
                Some(Ok(inside)) => waiting.extend(inside.into_iter().rev()),
                Some(Err(e)) => report.skipped.push(self.skipped(&entry, &e.to_string())),
            }
        }
    }
}

/// The key of a file below a storage folder.
fn key(storage: &Path, file: &Path) -> Option<Key> {
    let below = file.strip_prefix(storage).ok()?;
    let steps: Option<Vec<&str>> = below.iter().map(|step| step.to_str()).collect();
    Key::from_path(&steps?.join("/")).ok()
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The name of a JSON file without its ending.
fn stem(file: &Path) -> Option<String> {
    let id = file.file_name()?.to_str()?.strip_suffix(".json")?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// How many entries a file's list has.
fn object_list(file: &Path) -> Option<usize> {
    let bytes = fs::read(file).ok()?;
    Json::parse(std::str::from_utf8(&bytes).ok()?).ok()?.as_array().map(|list| list.len())
}

/// A path that the reference takes for absolute, here or on the system that this runs on.
pub(super) fn absolute(path: &str) -> bool {
    path.starts_with('/') || Path::new(path).is_absolute()
}

/// The folder that the first assistant message of a storage of version 0 worked in.
fn worktree_of(storage: &Path) -> Option<String> {
    let sessions = entries(&storage.join("message")).ok()?;
    let mut messages = sessions.iter().flat_map(|session| entries(session).unwrap_or_default());
    messages.find_map(|file| {
        let info = object(&file).ok()?;
        let path = info.get("path").and_then(Json::as_object)?;
        path.text("root").filter(|root| absolute(root) && root.len() > 1).map(|root| root.into_owned())
    })
}
