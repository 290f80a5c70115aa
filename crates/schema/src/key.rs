//! Keys of the JSON files that stood in place of the database before version 1.2 (reference-storage 7.1).

use crate::raw::{Json, write_string};

/// The name of one such file: a folder, up to one id of what it belongs to, and its own id.
///
/// Programs write it as a list (`["message", session, message]`), the disk as a path
/// (`message/<session>/<message>.json`).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the fields are the ids that their names say")]
pub enum Key {
    /// A project.
    Project { project: String },
    /// A session.
    Session { project: String, session: String },
    /// A message without its parts.
    Message { session: String, message: String },
    /// A part.
    Part { message: String, part: String },
    /// A session's list of things to do.
    Todo { session: String },
    /// The permissions of a project.
    Permission { project: String },
    /// The share of a session.
    SessionShare { session: String },
    /// The changes of files in a session.
    SessionDiff { session: String },
}

/// Why a list or path is no [`Key`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadKey {
    /// No list of strings, or another folder or number of ids than any key has.
    #[error("{given:?} is no key of the old storage")]
    Shape {
        /// what was given
        given: String,
    },
    /// An id that would lead out of its folder: empty, `.`, `..`, or with a separator in it.
    #[error("{id:?} cannot be a file's name")]
    Id {
        /// the id
        id: String,
    },
}

impl Key {
    fn steps(&self) -> (&'static str, &str, Option<&str>) {
        match self {
            Key::Project { project } => ("project", project, None),
            Key::Session { project, session } => ("session", project, Some(session)),
            Key::Message { session, message } => ("message", session, Some(message)),
            Key::Part { message, part } => ("part", message, Some(part)),
            Key::Todo { session } => ("todo", session, None),
            Key::Permission { project } => ("permission", project, None),
            Key::SessionShare { session } => ("session_share", session, None),
            Key::SessionDiff { session } => ("session_diff", session, None),
        }
    }

    fn from_steps(steps: &[&str]) -> Option<Self> {
        let owned = |id: &&str| (*id).to_owned();
        Some(match steps {
            ["project", project] => Key::Project { project: owned(project) },
            ["session", project, session] => Key::Session { project: owned(project), session: owned(session) },
            ["message", session, message] => Key::Message { session: owned(session), message: owned(message) },
            ["part", message, part] => Key::Part { message: owned(message), part: owned(part) },
            ["todo", session] => Key::Todo { session: owned(session) },
            ["permission", project] => Key::Permission { project: owned(project) },
            ["session_share", session] => Key::SessionShare { session: owned(session) },
            ["session_diff", session] => Key::SessionDiff { session: owned(session) },
            _ => return None,
        })
    }

    /// The key as a JSON list.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let (folder, first, second) = self.steps();
        let mut out = String::from("[");
        write_string(&mut out, folder);
        for id in std::iter::once(first).chain(second) {
            out.push(',');
            write_string(&mut out, id);
        }
        out.push(']');
        Json::trusted(out)
    }

    /// Reads a JSON list.
    ///
    /// # Errors
    /// [`BadKey::Shape`].
    pub fn from_json(json: &Json<'_>) -> Result<Self, BadKey> {
        let bad = || BadKey::Shape { given: json.as_str().to_owned() };
        let steps = json.as_array().ok_or_else(bad)?;
        let steps: Vec<String> = steps
            .into_iter()
            .map(|step| step.into_string().map(std::borrow::Cow::into_owned))
            .collect::<Option<_>>()
            .ok_or_else(bad)?;
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        Self::from_steps(&steps).ok_or_else(bad)
    }

    /// The path below the storage folder, with `/`.
    ///
    /// # Errors
    /// [`BadKey::Id`] if an id cannot be a file's name.
    pub fn to_path(&self) -> Result<String, BadKey> {
        let (folder, first, second) = self.steps();
        let mut out = String::from(folder);
        for id in std::iter::once(first).chain(second) {
            check_name(id)?;
            out.push('/');
            out.push_str(id);
        }
        out.push_str(".json");
        Ok(out)
    }

    /// Reads a path below the storage folder, with `/`.
    ///
    /// # Errors
    /// [`BadKey`].
    pub fn from_path(path: &str) -> Result<Self, BadKey> {
        let bad = || BadKey::Shape { given: path.to_owned() };
        let steps: Vec<&str> = path.strip_suffix(".json").ok_or_else(bad)?.split('/').collect();
        let key = Self::from_steps(&steps).ok_or_else(bad)?;
        steps.iter().try_for_each(|id| check_name(id)).map(|()| key)
    }
}

fn check_name(id: &str) -> Result<(), BadKey> {
    let bad = matches!(id, "" | "." | "..") || id.contains(['/', '\\', '\0']);
    if bad { Err(BadKey::Id { id: id.to_owned() }) } else { Ok(()) }
}
