//! A session's file, as the info that its first event carries.

use super::project::OldProject;
use super::read::{object, written_ms};
use super::tree::{Found, Tree, absolute};
use super::{Beside, Report};
use crate::hydrate;
use crate::row::TodoRow;
use annalist_schema::key::Key;
use annalist_schema::raw::Object;
use annalist_schema::{Json, Session, Wrong, id};

/// Under `metadata.annalist`: fields of the file that no session can have, as they were.
const MISFITS: &str = "legacy";

/// A session before it is in the record.
pub(super) struct Seed {
    pub(super) id: String,
    pub(super) info: Object<'static>,
    pub(super) project: OldProject,
    pub(super) beside: Beside,
    pub(super) file: std::path::PathBuf,
}

/// Reads a session's file and what lies beside it. Nothing if its name is no session's id.
pub(super) fn seed(tree: &Tree, found: &Found, report: &mut Report) -> Option<Seed> {
    if let Err(wrong) = id::check(id::Kind::Session, &found.id) {
        report.skipped.push(tree.skipped(&found.file, &format!("its name is no session's id: {wrong}")));
        return None;
    }
    let written = written_ms(&found.file);
    let mut info = match object(&found.file) {
        Ok(info) => info,
        Err(problem) => {
            report.skipped.push(tree.skipped(&found.file, &format!("{problem}; its messages are in a session made without it")));
            let mut info = Object::new();
            info.set_text("title", &format!("Recovered session {}", found.id));
            info
        }
    };
    info.set_text("id", &found.id);
    info.set_text("projectID", &found.project);
    info.remove("workspaceID");
    // Usage comes from the messages.
    info.remove("cost");
    info.remove("tokens");
    summary(&mut info, tree, &found.id);
    set_aside(&mut info);
    complete(&mut info, found, written);
    let directory = info.text("directory").unwrap_or_default().into_owned();
    hydrate::fold(&mut info);
    Some(Seed {
        id: found.id.clone(),
        info,
        project: OldProject::without_file(&found.project, found.worktree.as_deref().unwrap_or(&directory), written),
        beside: beside(tree, &found.id, written, report),
        file: found.file.clone(),
    })
}

/// Moves fields of a shape that no session has out of the way, where an export still finds them: with one of them in a row
/// the reference could not list any session.
fn set_aside(info: &mut Object<'static>) {
    let mut misfits = Object::new();
    let view = Session::from_object(info.clone());
    for problem in view.problems() {
        if matches!(problem.wrong, Wrong::LoneSurrogate) {
            continue;
        }
        let field = problem.at.split('.').next().unwrap_or_default();
        if let Some(value) = info.remove(field) {
            misfits.set(field, value);
        }
    }
    let directory = info.text("directory").map(|d| d.into_owned());
    if let Some(relative) = directory.filter(|directory| !absolute(directory)) {
        info.remove("directory");
        misfits.set_text("directory", &relative);
    }
    if misfits.is_empty() {
        return;
    }
    let mut metadata = info.get("metadata").and_then(Json::as_object).map(Object::into_static).unwrap_or_default();
    let mut ours = metadata.get(hydrate::OURS).and_then(Json::as_object).map(Object::into_static).unwrap_or_default();
    ours.set(MISFITS, misfits);
    metadata.set(hydrate::OURS, ours);
    info.set("metadata", metadata);
}

/// Gives the required fields that are missing the values that the old conversion gave them.
fn complete(info: &mut Object<'static>, found: &Found, written: i64) {
    for name in ["slug", "title", "version"] {
        if !info.has(name) {
            info.set_text(name, "");
        }
    }
    if !info.has("directory") {
        info.set_text("directory", found.worktree.as_deref().unwrap_or("/"));
    }
    if !info.has("time") {
        let mut time = Object::new();
        time.set("created", written);
        time.set("updated", written);
        info.set("time", time);
    }
}

/// The sums of what a session changed; the list itself stays in its file, as storage version 2 has it.
fn summary(info: &mut Object<'static>, tree: &Tree, session: &str) {
    let mut summary = info.get("summary").and_then(Json::as_object).map(Object::into_static).unwrap_or_default();
    let inside = summary.remove("diffs").and_then(Json::into_array);
    let file = tree.beside(&Key::SessionDiff { session: session.to_owned() }).and_then(|file| std::fs::read_to_string(file).ok());
    let file = file.and_then(|text| Json::parse(text).ok().map(Json::into_static)).and_then(Json::into_array);
    if !summary.has("additions") {
        let Some(list) = inside.or(file).filter(|list| !list.is_empty()) else {
            if summary.is_empty() {
                info.remove("summary");
            }
            return;
        };
        for name in ["additions", "deletions"] {
            let sum: i64 =
                list.iter().filter_map(|item| item.as_object()?.get(name)?.as_number()?.as_i64()).fold(0, i64::saturating_add);
            summary.set(name, sum);
        }
        summary.set("files", i64::try_from(list.len()).unwrap_or(i64::MAX));
    }
    info.set("summary", summary);
}

/// The todo list and the share.
fn beside(tree: &Tree, session: &str, time_ms: i64, report: &mut Report) -> Beside {
    let mut beside = Beside { time_ms, ..Beside::default() };
    if let Some(file) = tree.beside(&Key::Todo { session: session.to_owned() }).filter(|file| file.exists()) {
        let text = std::fs::read_to_string(&file).map_err(|e| e.to_string());
        let list = text.and_then(|text| Json::parse(text).map(Json::into_static).map_err(|e| format!("not JSON: {e}")));
        match list.and_then(|json| json.into_array().ok_or_else(|| "not a list".to_owned())) {
            Ok(list) => {
                for (position, item) in (0..).zip(list) {
                    match todo(&item) {
                        Some(todo) => beside.todos.push((position, todo)),
                        None => {
                            report.skipped.push(tree.skipped(&file, &format!("entry {position} lacks content, status or priority")))
                        }
                    }
                }
            }
            Err(problem) => report.skipped.push(tree.skipped(&file, &problem)),
        }
    }
    if let Some(file) = tree.beside(&Key::SessionShare { session: session.to_owned() }).filter(|file| file.exists()) {
        let text = |share: &Object<'_>, name: &str| share.text(name).filter(|t| !t.is_empty()).map(|t| t.into_owned());
        match object(&file) {
            Ok(share) => match (text(&share, "id"), text(&share, "secret"), text(&share, "url")) {
                (Some(id), Some(secret), Some(url)) => beside.share = Some([id, secret, url]),
                _ => report.skipped.push(tree.skipped(&file, "it lacks id, secret or url")),
            },
            Err(problem) => report.skipped.push(tree.skipped(&file, &problem)),
        }
    }
    beside
}

fn todo(item: &Json<'_>) -> Option<TodoRow> {
    let item = item.as_object()?;
    let text = |name: &str| item.text(name).filter(|t| !t.is_empty()).map(|t| t.into_owned());
    Some(TodoRow { content: text("content")?, status: text("status")?, priority: text("priority")? })
}
