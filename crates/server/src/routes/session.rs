//! `/session` and `/session/{sessionID}`: making, finding, changing and deleting sessions.

use super::global::FOLDER;
use super::{Asked, AskedShape, Gives, Handling, Route, Verb, array, asked, json, yes};
use crate::error::{Problem, Where};
use crate::folder;
use crate::query;
use crate::request::{Ask, Takes};
use crate::shape::{Shape, may};
use crate::shapes;
use annalist_schema::event::{SessionIdle, SessionStatusChanged};
use annalist_schema::model::SessionModel;
use annalist_schema::permission::PermissionRule;
use annalist_schema::raw::{Json, Object};
use annalist_schema::{Session, id};
use annalist_store::query::SessionFilter;
use annalist_store::session::{NewSession, SessionPatch};
use annalist_store::{Error, Store};
use std::borrow::Cow;

/// Sessions in a list that names no number.
const USUAL: u32 = 100;

pub(super) const SESSION: &[(&str, &str)] = &[("sessionID", "ses")];

const LISTED: &[Asked] = &[
    FOLDER,
    asked("scope", AskedShape::Words(&["project"])),
    asked("path", AskedShape::Text),
    asked("roots", AskedShape::Words(&["true", "false"])),
    asked("start", AskedShape::Number),
    asked("search", AskedShape::Text),
    asked("limit", AskedShape::Number),
];

const NEW: Shape = Shape::Object(&[
    may("parentID", Shape::Id("ses")),
    may("title", Shape::Text),
    may("agent", Shape::Text),
    may("model", shapes::SESSION_MODEL),
    may("metadata", Shape::Record),
    may("permission", shapes::RULES),
    may("workspaceID", Shape::Id("wrk")),
]);

const PATCH: Shape = Shape::Object(&[
    may("title", Shape::Text),
    may("metadata", Shape::Record),
    may("permission", shapes::RULES),
    may("time", Shape::Object(&[may("archived", Shape::Number)])),
]);

const FORK: Shape = Shape::Object(&[may("messageID", Shape::Id("msg"))]);

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Get,
        path: "/session",
        id: "session.list",
        summary: "The sessions of the folder's project, the last changed first, archived ones too",
        params: &[],
        query: LISTED,
        takes: Takes::Nothing,
        gives: Gives::Json(shapes::SESSIONS),
        errors: &[],
        handle: list,
    },
    Route {
        verb: Verb::Post,
        path: "/session",
        id: "session.create",
        summary: "Makes a session in the folder",
        params: &[],
        query: &[FOLDER],
        takes: Takes::Loose(NEW),
        gives: Gives::Json(shapes::SESSION),
        errors: &[404],
        handle: create,
    },
    Route {
        verb: Verb::Get,
        path: "/session/status",
        id: "session.status",
        summary: "What sessions are doing; those that do nothing are left out",
        params: &[],
        query: &[FOLDER],
        takes: Takes::Nothing,
        gives: Gives::Json(Shape::Record),
        errors: &[],
        // Nothing runs sessions yet.
        handle: |_| Box::pin(async { Ok(json("{}".to_owned())) }),
    },
    of_session(Verb::Get, "/session/{sessionID}", "session.get", "A session", Takes::Nothing, shapes::SESSION, get),
    of_session(
        Verb::Delete,
        "/session/{sessionID}",
        "session.delete",
        "Deletes a session and all sessions that came of it, their logs too",
        Takes::Nothing,
        Shape::Bool,
        delete,
    ),
    of_session(
        Verb::Patch,
        "/session/{sessionID}",
        "session.update",
        "Changes a session; `permission` is added to the rules, `time.archived: null` takes it back out",
        Takes::Json(PATCH),
        shapes::SESSION,
        patch,
    ),
    of_session(
        Verb::Get,
        "/session/{sessionID}/children",
        "session.children",
        "The sessions that were made from within this one",
        Takes::Nothing,
        shapes::SESSIONS,
        children,
    ),
    of_session(
        Verb::Get,
        "/session/{sessionID}/todo",
        "session.todo",
        "The session's todo list",
        Takes::Nothing,
        shapes::TODOS,
        todo,
    ),
    of_session(
        Verb::Post,
        "/session/{sessionID}/fork",
        "session.fork",
        "Copies a session, all of it or the messages before one",
        Takes::Loose(FORK),
        shapes::SESSION,
        fork,
    ),
    of_session(
        Verb::Post,
        "/session/{sessionID}/abort",
        "session.abort",
        "Stops what a session is doing; true for one that does nothing, too",
        Takes::Nothing,
        Shape::Bool,
        abort,
    ),
    of_session(
        Verb::Post,
        "/session/{sessionID}/share",
        "session.share",
        "Publishes a session: not offered, the answer is the reference's where sharing is disabled",
        Takes::Nothing,
        shapes::SESSION,
        share,
    ),
    of_session(
        Verb::Delete,
        "/session/{sessionID}/share",
        "session.unshare",
        "Forgets where a session was published",
        Takes::Nothing,
        shapes::SESSION,
        unshare,
    ),
];

/// A route about one session.
pub(super) const fn of_session(
    verb: Verb,
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    takes: Takes,
    gives: Shape,
    handle: fn(Ask) -> Handling,
) -> Route {
    Route { verb, path, id, summary, params: SESSION, query: &[], takes, gives: Gives::Json(gives), errors: &[404], handle }
}

/// Reads something of the session in the path.
pub(super) async fn read<T: Send + 'static>(
    ask: &Ask,
    read: impl FnOnce(&Store, &str) -> Result<T, Error> + Send + 'static,
) -> Result<T, Problem> {
    let session = ask.param("sessionID").to_owned();
    ask.app.blocking(move |app| Ok(read(&app.store, &session)?)).await
}

fn list(ask: Ask) -> Handling {
    Box::pin(async move {
        let folder = folder::of(&ask).await?;
        let query = &ask.query;
        let whole = query.get("scope") == Some("project");
        let limit = bound(query.get("limit"))?;
        let filter = SessionFilter {
            project: Some(folder.project),
            // Only a folder in the query narrows the list; one in the header says where the request is.
            directory: query.filled("directory").filter(|_| !whole).map(|_| folder.directory),
            path: query.get("path").map(str::to_owned),
            roots: query.get("roots") == Some("true"),
            updated_since: query.filled("start").and_then(|start| milliseconds(query::number(start))),
            search: query.filled("search").map(str::to_owned),
            limit: if query.get("limit").is_some() { limit } else { Some(USUAL) },
            ..SessionFilter::default()
        };
        let text = ask.app.blocking(move |app| {
            let mut sessions = Vec::new();
            app.store.read(|view| {
                view.sessions(&filter, &mut |row| {
                    sessions.push(annalist_store::hydrate::session(&row).to_text());
                    annalist_store::Flow::Continue
                })
            })?;
            Ok(array(sessions.into_iter()))
        });
        Ok(json(text.await?))
    })
}

/// A bound in JavaScript's manner: what is no number, or below zero, bounds nothing.
pub(super) fn bound(given: Option<&str>) -> Result<Option<u32>, Problem> {
    let Some(given) = given else { return Ok(None) };
    let number = query::number(given);
    if number.is_nan() || number < 0.0 {
        return Ok(None);
    }
    if number.fract() != 0.0 {
        return Err(Problem::bad(Where::Query, format!("Expected an integer, got {given}\n  at [\"limit\"]")));
    }
    // A float cast saturates.
    Ok(Some(number as u32))
}

/// A time; nothing if it bounds nothing (zero, or no number).
pub(super) fn milliseconds(number: f64) -> Option<i64> {
    (!number.is_nan() && number != 0.0).then_some(number.ceil() as i64)
}

fn create(ask: Ask) -> Handling {
    Box::pin(async move {
        let folder = folder::of_writer(&ask).await?;
        let mut new = NewSession::new(folder);
        new.parent = ask.text("parentID");
        new.title = ask.text("title");
        new.agent = ask.text("agent");
        new.model = ask.field("model").and_then(Json::as_object).map(|model| SessionModel::from_object(model.into_static()));
        new.metadata = ask.field("metadata").and_then(Json::as_object).map(Object::into_static);
        new.permission = rules(&ask);
        new.workspace = ask.text("workspaceID");
        let session = ask.app.store.create_session(new).await?;
        Ok(json(session.to_text()))
    })
}

fn rules(ask: &Ask) -> Option<Vec<PermissionRule<'static>>> {
    let rules = ask.field("permission")?.as_array()?;
    Some(rules.into_iter().filter_map(Json::into_object).map(|rule| PermissionRule::from_object(rule.into_static())).collect())
}

fn get(ask: Ask) -> Handling {
    Box::pin(async move { Ok(json(read(&ask, Store::session).await?.to_text())) })
}

fn patch(ask: Ask) -> Handling {
    Box::pin(async move {
        let mut patches = Vec::new();
        if let Some(title) = ask.text("title") {
            patches.push(SessionPatch::Title(title));
        }
        if let Some(metadata) = ask.body.get("metadata") {
            patches.push(SessionPatch::Metadata(metadata.as_object().map(Object::into_static)));
        }
        if let Some(rules) = rules(&ask).filter(|rules| !rules.is_empty()) {
            patches.push(SessionPatch::AddPermission(rules));
        }
        let time = ask.field("time").and_then(Json::as_object);
        if let Some(archived) = time.as_ref().and_then(|time| time.get("archived")) {
            patches.push(SessionPatch::Archived(archived.as_number().map(annalist_schema::Number::into_static)));
        }
        let id = ask.param("sessionID");
        let session = ask.app.write(|store| store.patch_session(id, patches)).await?;
        Ok(json(session.to_text()))
    })
}

fn delete(ask: Ask) -> Handling {
    Box::pin(async move {
        read(&ask, Store::delete_session).await?;
        Ok(yes())
    })
}

fn children(ask: Ask) -> Handling {
    Box::pin(async move {
        let mut children = read(&ask, Store::children).await?;
        // In the order in which they were made, as the reference has them.
        let made = |session: &Session<'_>| (session.time().ok().and_then(|time| time.created().ok()), text(session, "id"));
        children.sort_by(|a, b| made(a).0.cmp(&made(b).0).then_with(|| made(b).1.cmp(&made(a).1)));
        Ok(json(array(children.iter().map(Session::to_text))))
    })
}

fn todo(ask: Ask) -> Handling {
    Box::pin(async move {
        let todos = read(&ask, Store::todo).await?;
        let items = todos.iter().map(|todo| {
            let mut item = Object::new();
            item.set_text("content", &todo.content);
            item.set_text("status", &todo.status);
            item.set_text("priority", &todo.priority);
            item.to_text()
        });
        Ok(json(array(items)))
    })
}

fn fork(ask: Ask) -> Handling {
    Box::pin(async move {
        let before = ask.text("messageID");
        let fork = ask.app.store.fork_session(ask.param("sessionID"), before.as_deref()).await?;
        Ok(json(fork.session.to_text()))
    })
}

fn abort(ask: Ask) -> Handling {
    Box::pin(async move {
        let id = ask.param("sessionID").to_owned();
        // An unknown session is told of in the request's folder, as the reference does.
        let (folder, project) = match read(&ask, Store::session).await {
            Ok(session) => (text(&session, "directory"), text(&session, "projectID")),
            Err(Problem::NotFound(_)) => {
                let folder = folder::of(&ask).await?;
                (folder.directory, folder.project)
            }
            Err(other) => return Err(other),
        };
        let mut status = SessionStatusChanged::default();
        status.set_session_id(id.as_str().into());
        status.object_mut().set("status", Object::tagged("type", "idle"));
        let mut idle = SessionIdle::default();
        idle.set_session_id(id.into());
        ask.app.live.passing(&folder, Some(&project), status.into());
        ask.app.live.passing(&folder, Some(&project), idle.into());
        Ok(yes())
    })
}

fn share(ask: Ask) -> Handling {
    Box::pin(async move {
        read(&ask, Store::session).await?;
        Err(Problem::Unsupported)
    })
}

fn unshare(ask: Ask) -> Handling {
    Box::pin(async move {
        let id = ask.param("sessionID");
        let session = read(&ask, Store::session).await?;
        if !session.object().has("share") {
            return Ok(json(session.to_text()));
        }
        let session = ask.app.write(|store| store.patch_session(id, vec![SessionPatch::Share(None)])).await?;
        Ok(json(session.to_text()))
    })
}

pub(super) fn text(session: &Session<'_>, key: &str) -> String {
    session.object().text(key).map(Cow::into_owned).unwrap_or_default()
}

/// The clock, for those who make a message.
pub(super) fn now() -> i64 {
    id::now_ms()
}
