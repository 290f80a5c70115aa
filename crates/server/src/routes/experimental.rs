//! `/experimental/session`: the sessions of all projects.

use super::global::FOLDER;
use super::session::{bound, milliseconds};
use super::{AskedShape, Gives, Handling, Route, Verb, array, asked, json};
use crate::error::Problem;
use crate::query;
use crate::request::{Ask, Takes};
use crate::shape::Shape;
use annalist_schema::raw::{Json, Object};
use annalist_store::query::{Archived, SessionFilter};
use annalist_store::{Error, Flow, Snapshot, hydrate};
use axum::http::{HeaderName, HeaderValue};
use std::collections::HashMap;

const USUAL: u32 = 100;

pub(super) const ROUTES: &[Route] = &[Route {
    verb: Verb::Get,
    path: "/experimental/session",
    id: "experimental.session.list",
    summary: "The sessions of all projects with their projects, the last changed first",
    params: &[],
    query: &[
        FOLDER,
        asked("roots", AskedShape::Words(&["true", "false"])),
        asked("start", AskedShape::Number),
        asked("cursor", AskedShape::Number),
        asked("search", AskedShape::Text),
        asked("limit", AskedShape::Number),
        asked("archived", AskedShape::Words(&["true", "false"])),
    ],
    takes: Takes::Nothing,
    gives: Gives::Json(Shape::List(&Shape::Record)),
    errors: &[],
    handle: list,
}];

fn list(ask: Ask) -> Handling {
    Box::pin(async move {
        let query = &ask.query;
        let time = |name| query.filled(name).and_then(|text| milliseconds(query::number(text)));
        let limit = match query.filled("limit") {
            None => Some(USUAL),
            given => bound(given)?,
        };
        let filter = SessionFilter {
            directory: query.filled("directory").map(str::to_owned),
            roots: query.get("roots") == Some("true"),
            updated_since: time("start"),
            updated_before: time("cursor"),
            search: query.filled("search").map(str::to_owned),
            archived: if query.get("archived") == Some("true") { Archived::Include } else { Archived::Exclude },
            // One more than asked for says whether there are more.
            limit: limit.map(|limit| limit.saturating_add(1)),
            ..SessionFilter::default()
        };
        let page = ask.app.blocking(move |app| Ok(app.store.read(|view| read(view, &filter, limit))?));
        let (text, next) = page.await?;
        let mut response = json(text);
        if let Some(next) = next {
            let value = HeaderValue::from_str(&next).map_err(Problem::internal)?;
            response.headers_mut().insert(HeaderName::from_static("x-next-cursor"), value);
        }
        Ok(response)
    })
}

/// The sessions, and the time of the last one if there are more behind it.
fn read(view: &dyn Snapshot, filter: &SessionFilter, limit: Option<u32>) -> Result<(String, Option<String>), Error> {
    let mut sessions: Vec<Object<'static>> = Vec::new();
    let mut more = false;
    view.sessions(filter, &mut |row| {
        if limit.is_some_and(|limit| sessions.len() >= limit as usize) {
            more = true;
            return Flow::Stop;
        }
        sessions.push(hydrate::session(&row).into_object());
        Flow::Continue
    })?;
    let mut projects: HashMap<String, Json<'static>> = HashMap::new();
    for session in &mut sessions {
        let id = session.text("projectID").unwrap_or_default().into_owned();
        let project = match projects.get(&id) {
            Some(known) => known.clone(),
            None => {
                let project = view.project(&id)?.map_or_else(Json::null, |row| {
                    let mut project = Object::tagged("id", &row.id);
                    if let Some(name) = &row.name {
                        project.set_text("name", name);
                    }
                    project.set_text("worktree", &row.worktree);
                    project.into()
                });
                projects.insert(id, project.clone());
                project
            }
        };
        session.set("project", project);
    }
    let updated = |session: &Object<'_>| {
        let time = session.get("time").and_then(Json::as_object)?;
        Some(time.get("updated")?.as_str().to_owned())
    };
    let next = sessions.last().filter(|_| more).and_then(updated);
    Ok((array(sessions.iter().map(Object::to_text)), next))
}
