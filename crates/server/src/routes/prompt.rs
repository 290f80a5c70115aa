//! `POST /session/{sessionID}/message`: what a person says (reference-storage 2.4).

use super::message::with_parts;
use super::run::NO_MODEL;
use super::session::{SESSION, now, read};
use super::{Gives, Handling, Route, Verb, json, nothing};
use crate::error::{Problem, Where};
use crate::expand::{self, Expanded, Surroundings};
use crate::folder;
use crate::repeat;
use crate::request::{self, Ask, Takes};
use crate::shapes;
use annalist_engine::config::{Agent, Config, Model};
use annalist_schema::event::SessionError;
use annalist_schema::model::SessionModel;
use annalist_schema::permission::PermissionRule;
use annalist_schema::raw::{Json, Object};
use annalist_schema::{Message, PassingEvent, Session, id};
use annalist_store::query::MessageRange;
use annalist_store::session::Prompt;
use annalist_store::transcript::WithParts;
use annalist_store::{Error, Flow, Snapshot, Store};
use std::path::PathBuf;

pub(super) const ROUTES: &[Route] = &[
    Route {
        verb: Verb::Post,
        path: "/session/{sessionID}/message",
        id: "session.prompt",
        summary: "Adds a person's message; with `noReply` nothing else happens",
        params: SESSION,
        query: &[],
        takes: Takes::Json(shapes::PROMPT),
        gives: Gives::Json(shapes::MESSAGE_WITH_PARTS),
        errors: &[404, 409, 410, 501],
        handle: |ask| Box::pin(async move { Ok(json(with_parts(&prompt(ask).await?))) }),
    },
    Route {
        verb: Verb::Post,
        path: "/session/{sessionID}/prompt_async",
        id: "session.prompt_async",
        summary: "The same, without its answer",
        params: SESSION,
        query: &[],
        takes: Takes::Json(shapes::PROMPT),
        gives: Gives::Nothing,
        errors: &[404, 409, 410, 501],
        handle: run_later,
    },
];

fn run_later(ask: Ask) -> Handling {
    Box::pin(async move {
        prompt(ask).await?;
        Ok(nothing())
    })
}

/// What is known of a session before a prompt is made.
struct Known {
    session: Session<'static>,
    /// the model of the newest message of a person
    last_model: Option<Model>,
    /// the message under the prompt's id
    there: Option<WithParts>,
}

async fn prompt(ask: Ask) -> Result<WithParts, Problem> {
    let given = ask.text("messageID");
    let wanted = given.clone();
    let known = read(&ask, move |store, session| look(store, session, wanted.as_deref())).await?;
    if ask.field("noReply").and_then(Json::as_bool) != Some(true) {
        return Err(Problem::NotImplemented(NO_MODEL));
    }
    if let Some(there) = known.there {
        // Said before: nothing is read again, since files may have changed meanwhile.
        return if repeat::same(&ask.body, &there) { Ok(there) } else { Err(taken(given.as_deref().unwrap_or_default())) };
    }
    let session = ask.param("sessionID").to_owned();
    let directory = super::session::text(&known.session, "directory");
    let project = super::session::text(&known.session, "projectID");
    let place = folder::at(&ask.app, &directory).await?;
    let config = ask.app.blocking(move |app| Ok(Config::read(&app.options.places, &place)?)).await?;

    let agent = match agent(&ask, &config) {
        Ok(agent) => agent,
        Err(message) => {
            tell(&ask, &session, &directory, &project, &message);
            return Err(Problem::bad(Where::Payload, message));
        }
    };
    let model = model(&ask, &agent, &known.session, known.last_model, &config)
        .ok_or_else(|| Problem::bad(Where::Payload, "No model is known: name one in the request or in opencode.json"))?;
    let variant = ask.text("variant").or_else(|| agent.variant.clone().filter(|_| agent.model.as_ref() == Some(&model)));

    let Expanded { parts, failures, .. } = expanded(&ask, directory.clone(), agent.clone()).await?;
    for failure in &failures {
        tell(&ask, &session, &directory, &project, failure);
    }
    let at_ms = now();
    let id = given.unwrap_or_else(|| id::new(id::Kind::Message));
    let body = ask.body.clone();
    let prompt = Prompt {
        message: message(&ask, &id, &session, at_ms, &agent.name, &model, variant.as_deref()),
        session: session.clone(),
        parts,
        agent: agent.name,
        model: of_session(&model, variant.as_deref()),
        at_ms,
        permission: tools(&ask),
        repeats: Box::new(move |there| repeat::same(&body, there)),
    };
    Ok(ask.app.write(|store| store.prompt(prompt)).await?.message)
}

fn taken(id: &str) -> Problem {
    Problem::Conflict(format!("message {id} exists already with other parts"))
}

fn look(store: &Store, session: &str, message: Option<&str>) -> Result<Known, Error> {
    let info = store.session(session)?;
    let there = match message.map(|message| store.get(session, message)).transpose() {
        Err(Error::NotFound { .. }) => None,
        other => other?,
    };
    Ok(Known { session: info, last_model: store.read(|view| last_model(view, session))?, there })
}

fn last_model(view: &dyn Snapshot, session: &str) -> Result<Option<Model>, Error> {
    let mut found = None;
    view.messages(&MessageRange::newest_first(session), &mut |row| {
        let Ok(info) = annalist_schema::raw::utf8(&row.data).and_then(Object::parse) else { return Flow::Continue };
        if info.text("role").as_deref() != Some("user") {
            return Flow::Continue;
        }
        found = info.get("model").and_then(Json::as_object).and_then(|model| of_object(&model, "modelID"));
        Flow::Stop
    })?;
    Ok(found)
}

fn of_object(model: &Object<'_>, id: &str) -> Option<Model> {
    Some(Model { provider: model.text("providerID")?.into_owned(), model: model.text(id)?.into_owned() })
}

fn agent(ask: &Ask, config: &Config) -> Result<Agent, String> {
    let name = ask.text("agent").filter(|name| !name.is_empty()).unwrap_or_else(|| config.default_agent());
    let agents = config.agents();
    if let Some(agent) = agents.iter().find(|agent| agent.name == name) {
        return Ok(agent.clone());
    }
    let shown: Vec<&str> = agents.iter().filter(|agent| !agent.hidden).map(|agent| agent.name.as_str()).collect();
    Err(format!("Agent not found: \"{name}\". Available agents: {}", shown.join(", ")))
}

/// The request's, the agent's, the session's, the last message's, the configured one.
fn model(ask: &Ask, agent: &Agent, session: &Session<'_>, last: Option<Model>, config: &Config) -> Option<Model> {
    let given = ask.field("model").and_then(Json::as_object).and_then(|model| of_object(&model, "modelID"));
    let row = || session.model().ok().flatten().and_then(|model| of_object(model.object(), "id"));
    given.or_else(|| agent.model.clone()).or_else(row).or(last).or_else(|| config.model())
}

async fn expanded(ask: &Ask, directory: String, agent: Agent) -> Result<Expanded, Problem> {
    let parts = ask.field("parts").and_then(Json::as_array).unwrap_or_default();
    let parts: Vec<Object<'static>> = parts
        .into_iter()
        .filter_map(Json::into_object)
        .map(|part| request::without_nulls(&part, &["time", "model", "source"]))
        .collect();
    let work = move |app: &crate::app::App| {
        let directory = PathBuf::from(directory);
        let around = Surroundings { directory: &directory, agent: &agent, largest: app.options.body_limit };
        expand::expand(&parts, &around)
    };
    ask.app.blocking(work).await
}

fn message(ask: &Ask, id: &str, session: &str, at_ms: i64, agent: &str, model: &Model, variant: Option<&str>) -> Message<'static> {
    let mut info: Object<'static> = Object::new();
    info.set_text("id", id);
    info.set_text("role", "user");
    info.set_text("sessionID", session);
    let mut time = Object::new();
    time.set("created", at_ms);
    info.set("time", time);
    for key in ["tools", "system"] {
        if let Some(value) = ask.field(key) {
            info.set(key, value.clone());
        }
    }
    info.set_text("agent", agent);
    let mut named = Object::new();
    named.set_text("providerID", &model.provider);
    named.set_text("modelID", &model.model);
    if let Some(variant) = variant {
        named.set_text("variant", variant);
    }
    info.set("model", named);
    if let Some(mut format) = ask.field("format").and_then(Json::as_object).map(Object::into_static) {
        if format.text("type").as_deref() == Some("json_schema") && !format.has("retryCount") {
            format.set("retryCount", 2_i64);
        }
        info.set("format", format);
    }
    Message::from_object(info)
}

fn of_session(model: &Model, variant: Option<&str>) -> SessionModel<'static> {
    let mut named = Object::new();
    named.set_text("id", &model.model);
    named.set_text("providerID", &model.provider);
    named.set_text("variant", variant.unwrap_or("default"));
    SessionModel::from_object(named)
}

/// Tools switched on and off become the session's rules.
fn tools(ask: &Ask) -> Option<Vec<PermissionRule<'static>>> {
    let tools = ask.field("tools")?.as_object()?;
    let rule = |entry: &annalist_schema::raw::Entry<'_>| {
        let mut rule = Object::new();
        rule.set_text("permission", &entry.key());
        rule.set_text("pattern", "*");
        rule.set_text("action", if entry.value().as_bool() == Some(true) { "allow" } else { "deny" });
        PermissionRule::from_object(rule)
    };
    (!tools.is_empty()).then(|| tools.entries().iter().map(rule).collect())
}

fn tell(ask: &Ask, session: &str, folder: &str, project: &str, message: &str) {
    let mut data = Object::new();
    data.set_text("message", message);
    let mut error = Object::tagged("name", "UnknownError");
    error.set("data", data);
    let mut event = SessionError::default();
    event.object_mut().set_text("sessionID", session);
    event.object_mut().set("error", error);
    ask.app.live.passing(folder, Some(project), PassingEvent::from(event));
}
