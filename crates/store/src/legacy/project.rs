//! Projects.

use super::Report;
use super::read::{entries, object, written_ms};
use super::tree::Tree;
use annalist_schema::Json;
use annalist_schema::raw::{Kind, Object};
use std::path::Path;

/// The row of a project as its file says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "each field is the column of its name")]
pub struct OldProject {
    pub id: String,
    pub worktree: String,
    pub vcs: Option<String>,
    pub name: Option<String>,
    pub icon_url: Option<String>,
    pub icon_color: Option<String>,
    pub commands: Option<String>,
    pub sandboxes: String,
    pub time_created: i64,
    pub time_updated: i64,
    pub time_initialized: Option<i64>,
}

impl OldProject {
    /// A project of which nothing is known but where a session of it worked.
    pub(super) fn without_file(id: &str, worktree: &str, time_ms: i64) -> Self {
        OldProject {
            id: id.to_owned(),
            worktree: worktree.to_owned(),
            sandboxes: "[]".to_owned(),
            time_created: time_ms,
            time_updated: time_ms,
            ..OldProject::default()
        }
    }
}

/// The projects of a storage. One whose file is damaged is made when a session needs it.
pub(super) fn all(tree: &Tree, report: &mut Report) -> Vec<OldProject> {
    let Some(storage) = &tree.storage else { return Vec::new() };
    let mut projects = Vec::new();
    for file in entries(&storage.join("project")).unwrap_or_default() {
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let Some(id) = name.strip_suffix(".json").filter(|id| !id.is_empty()) else { continue };
        match object(&file) {
            Ok(info) => projects.push(project(id, &info, &file)),
            Err(problem) => report.skipped.push(tree.skipped(&file, &problem)),
        }
    }
    projects
}

fn project(id: &str, info: &Object<'_>, file: &Path) -> OldProject {
    let text = |object: &Object<'_>, name: &str| object.text(name).map(|text| text.into_owned());
    let inner = |name: &str| info.get(name).and_then(Json::as_object).map(Object::into_static).unwrap_or_default();
    let (icon, time) = (inner("icon"), inner("time"));
    let ms = |name: &str| time.get(name).and_then(Json::as_number).and_then(|n| n.as_i64()).filter(|ms| *ms >= 0);
    let created = ms("created").unwrap_or_else(|| written_ms(file));
    let kept = |name: &str, kind: Kind| info.get(name).filter(|json| json.kind() == kind).map(|json| json.as_str().to_owned());
    OldProject {
        id: id.to_owned(),
        worktree: text(info, "worktree").filter(|path| !path.is_empty()).unwrap_or_else(|| "/".to_owned()),
        vcs: text(info, "vcs"),
        name: text(info, "name"),
        icon_url: text(&icon, "url"),
        icon_color: text(&icon, "color"),
        commands: kept("commands", Kind::Object),
        sandboxes: kept("sandboxes", Kind::Array).unwrap_or_else(|| "[]".to_owned()),
        time_created: created,
        time_updated: ms("updated").unwrap_or(created),
        time_initialized: ms("initialized"),
    }
}
