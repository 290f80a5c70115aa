//! Where a request is, and what is set up there: `/path`, `/project`, `/config`, `/agent`.

use super::global::FOLDER;
use super::{Gives, Handling, Route, Verb, array, json};
use crate::error::Problem;
use crate::folder;
use crate::request::{Ask, Takes};
use crate::shape::Shape;
use crate::shapes;
use annalist_engine::config::Config;
use annalist_schema::raw::Object;
use annalist_schema::{Json, Project, id};

pub(super) const ROUTES: &[Route] = &[
    get("/path", "path.get", "The folders that a request works in", Gives::Json(shapes::PATH), path),
    get("/project", "project.list", "All projects that the record knows", Gives::Json(shapes::PROJECTS), list),
    get("/project/current", "project.current", "The project of the request's folder", Gives::Json(shapes::ONE_PROJECT), current),
    get("/config", "config.get", "The configuration that holds in the request's folder", Gives::Json(Shape::Record), config),
    get("/agent", "app.agents", "The agents that a prompt may name", Gives::Json(shapes::AGENTS), agents),
];

const fn get(path: &'static str, id: &'static str, summary: &'static str, gives: Gives, handle: fn(Ask) -> Handling) -> Route {
    Route { verb: Verb::Get, path, id, summary, params: &[], query: &[FOLDER], takes: Takes::Nothing, gives, errors: &[], handle }
}

fn path(ask: Ask) -> Handling {
    Box::pin(async move {
        let folder = folder::of(&ask).await?;
        let places = &ask.app.options.places;
        let mut path = Object::new();
        path.set_text("home", &places.home.to_string_lossy());
        path.set_text("state", &places.state.to_string_lossy());
        path.set_text("config", &places.config.to_string_lossy());
        path.set_text("worktree", &folder.worktree);
        path.set_text("directory", &folder.directory);
        Ok(json(path.to_text()))
    })
}

fn list(ask: Ask) -> Handling {
    Box::pin(async move {
        let projects = ask.app.blocking(|app| {
            let mut projects = Vec::new();
            app.store.read(|view| view.projects(None, &mut |project| projects.push(project.to_text())))?;
            Ok(projects)
        });
        Ok(json(array(projects.await?.into_iter())))
    })
}

fn current(ask: Ask) -> Handling {
    Box::pin(async move {
        let folder = folder::of(&ask).await?;
        let project = ask.app.blocking(move |app| {
            let mut found = None;
            app.store.read(|view| view.projects(Some(&folder.project), &mut |project| found = Some(project)))?;
            // A project is written with its first session; until then it is told from the folder.
            Ok(found.unwrap_or_else(|| fresh(&folder)))
        });
        Ok(json(project.await?.to_text()))
    })
}

fn fresh(folder: &annalist_store::Folder) -> Project<'static> {
    let mut time = Object::new();
    time.set("created", id::now_ms());
    time.set("updated", id::now_ms());
    let mut project = Object::new();
    project.set_text("id", &folder.project);
    project.set_text("worktree", &folder.worktree);
    if folder.git {
        project.set_text("vcs", "git");
    }
    project.set("time", time);
    project.set("sandboxes", crate::shape::list(std::iter::empty::<Json<'static>>()));
    Project::from_object(project)
}

fn config(ask: Ask) -> Handling {
    Box::pin(async move {
        let folder = folder::of(&ask).await?;
        let config = ask.app.blocking(move |app| Config::read(&app.options.places, &folder).map_err(Problem::from)).await?;
        Ok(json(config.shown().to_text()))
    })
}

fn agents(ask: Ask) -> Handling {
    Box::pin(async move {
        let folder = folder::of(&ask).await?;
        let config = ask.app.blocking(move |app| Config::read(&app.options.places, &folder).map_err(Problem::from)).await?;
        Ok(json(array(config.agents().iter().map(|agent| agent.shown().to_text()))))
    })
}
