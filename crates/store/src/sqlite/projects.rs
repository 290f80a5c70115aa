//! Projects as their clients see them (reference-storage 4.8).

use super::value::{cell, text};
use crate::row::Cell;
use annalist_schema::raw::Object;
use annalist_schema::{Json, Project};
use rusqlite::{Connection, Row};

/// All projects, or the one with an id, by their first sight.
pub(super) fn visit(db: &Connection, id: Option<&str>, visit: &mut dyn FnMut(Project<'static>)) -> rusqlite::Result<()> {
    // `SELECT *`: an older file lacks some of the columns, and each is looked for by its name.
    let mut statement = db.prepare_cached("SELECT * FROM project WHERE ?1 IS NULL OR id = ?1 ORDER BY time_created, id")?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        visit(project(row)?);
    }
    Ok(())
}

fn project(row: &Row<'_>) -> rusqlite::Result<Project<'static>> {
    let read = |name: &str| match row.as_ref().column_index(name) {
        Ok(index) => row.get_ref(index).map(cell),
        Err(_) => Ok(Cell::Null),
    };
    let mut project = Object::new();
    project.set_text("id", &text(row.get_ref("id")?));
    project.set_text("worktree", &text(row.get_ref("worktree")?));
    for name in ["vcs", "name"] {
        if let Cell::Text(value) = read(name)? {
            project.set_text(name, &value);
        }
    }
    let mut icon = Object::new();
    for (key, column) in [("url", "icon_url"), ("override", "icon_url_override"), ("color", "icon_color")] {
        if let Cell::Text(value) = read(column)? {
            icon.set_text(key, &value);
        }
    }
    if !icon.is_empty() {
        project.set("icon", icon);
    }
    if let Some(commands) = json(&read("commands")?) {
        project.set("commands", commands);
    }
    let mut time = Object::new();
    for (key, column) in [("created", "time_created"), ("updated", "time_updated"), ("initialized", "time_initialized")] {
        if let Cell::Int(ms) = read(column)? {
            time.set(key, ms);
        }
    }
    project.set("time", time);
    let sandboxes = json(&read("sandboxes")?).unwrap_or_else(|| annalist_schema::Field::to_json(&Vec::<Json<'_>>::new()));
    project.set("sandboxes", sandboxes);
    Ok(Project::from_object(project))
}

fn json(cell: &Cell) -> Option<Json<'static>> {
    Json::parse(cell.text()?.to_owned()).ok().filter(|json| json.as_str() != "null")
}
