//! Changes of a session's own fields (reference-storage 1.6).

use super::change;
use crate::backend::{Durability, Transaction};
use crate::error::Error;
use crate::hydrate::OURS;
use crate::pending::Pending;
use crate::store::Store;
use annalist_schema::model::SessionModel;
use annalist_schema::permission::PermissionRule;
use annalist_schema::raw::{Number, Object};
use annalist_schema::session::{SessionShare, SessionSummary, SessionTime};
use annalist_schema::{Field as _, Json, Session, id};

/// A change of a session. `None` in an inner `Option` clears the field.
///
/// A field is cleared by recording the empty value that the reference's replay takes (`archived: 0`, `share: {"url": ""}`,
/// `metadata: {}`, `permission: []`, a summary of zeros); it is absent from then on. Metadata that are empty because a caller
/// gave an empty object stay an empty object.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum SessionPatch {
    /// Only the time of the last change.
    Touch,
    /// The title. The time of the last change stays.
    Title(String),
    /// When it was put away, in ms. The time of the last change stays.
    Archived(Option<Number<'static>>),
    /// Anything, by program; replaces what was there, but for Annalist's own part.
    Metadata(Option<Object<'static>>),
    /// The rules; replaces what was there, and none clears it.
    Permission(Vec<PermissionRule<'static>>),
    /// Further rules behind those that are there.
    AddPermission(Vec<PermissionRule<'static>>),
    /// Who answers, and the time (ms) of the message that said so.
    AgentModel {
        /// the agent
        agent: String,
        /// its model
        model: SessionModel<'static>,
        /// the time of the last change from then on, in ms
        at: i64,
    },
    /// Where it is published.
    Share(Option<String>),
    /// The workspace it is in.
    Workspace(Option<String>),
    /// What it changed.
    Summary(Option<SessionSummary<'static>>),
}

impl Store {
    /// Changes a session: the changes are read, made and written in one transaction, an event for each that changes
    /// something. Answers the session as it is then.
    ///
    /// Fails with [`Error::NotFound`] if the session is not there.
    pub fn patch_session(&self, session: &str, patches: Vec<SessionPatch>) -> Pending<Session<'static>> {
        let session = session.to_owned();
        self.write(Durability::Power, move |tx| {
            let mut after = super::expected(tx, &session)?;
            for patch in patches {
                after = apply(tx, &session, patch)?;
            }
            Ok(after)
        })
    }

    /// Reads a session, changes it and writes it in one transaction: two changes never undo each other. The time of the last
    /// change stays unless `change` sets it. A change that changes nothing records nothing.
    ///
    /// Fails with [`Error::NotFound`] if the session is not there, and with [`Error::Invalid`] if the change gives it another
    /// id or takes away its parent, path, agent, model or `time.compacting`.
    pub fn update_session_with(
        &self,
        session: &str,
        update: impl FnOnce(&mut Session<'static>) + Send + 'static,
    ) -> Pending<Session<'static>> {
        let session = session.to_owned();
        self.write(Durability::Power, move |tx| {
            change(tx, &session, |info| {
                update(info);
                Ok(())
            })
        })
    }

    /// Marks a session as changed now.
    pub fn touch(&self, session: &str) -> Pending<Session<'static>> {
        self.patch_session(session, vec![SessionPatch::Touch])
    }

    /// Gives a session a title.
    pub fn set_title(&self, session: &str, title: &str) -> Pending<Session<'static>> {
        self.patch_session(session, vec![SessionPatch::Title(title.to_owned())])
    }

    /// Puts a session away, now.
    pub fn archive(&self, session: &str) -> Pending<Session<'static>> {
        self.patch_session(session, vec![SessionPatch::Archived(Some(Number::from(id::now_ms())))])
    }

    /// Takes a session back out.
    pub fn unarchive(&self, session: &str) -> Pending<Session<'static>> {
        self.patch_session(session, vec![SessionPatch::Archived(None)])
    }
}

/// Makes one change inside the caller's transaction.
pub(crate) fn apply(tx: &mut dyn Transaction, session: &str, patch: SessionPatch) -> Result<Session<'static>, Error> {
    let now = id::now_ms();
    let bumps = !matches!(patch, SessionPatch::Title(_) | SessionPatch::Archived(_) | SessionPatch::AgentModel { .. });
    change(tx, session, |info| {
        set(info, patch);
        if bumps {
            updated(info, now);
        }
        Ok(())
    })
}

fn set(info: &mut Session<'static>, patch: SessionPatch) {
    match patch {
        SessionPatch::Touch => {}
        SessionPatch::Title(title) => {
            info.set_title(title.into());
        }
        SessionPatch::Archived(at) => time(info, |time| {
            time.set_archived(at);
        }),
        SessionPatch::Metadata(metadata) => {
            let there = info.object().get("metadata").and_then(Json::as_object).unwrap_or_default();
            let ours = there.get(OURS).map(|ours| ours.clone().into_static());
            let mut metadata = metadata;
            if let Some(ours) = ours {
                metadata.get_or_insert_default().set(OURS, ours);
            }
            info.set_metadata(metadata);
        }
        SessionPatch::Permission(rules) => {
            info.set_permission((!rules.is_empty()).then_some(rules));
        }
        SessionPatch::AddPermission(more) => {
            // As they are: a rule of a kind that is not known here is one all the same.
            let rules = info.object().get("permission").and_then(Json::as_array).unwrap_or_default();
            let rules: Vec<Json<'_>> =
                rules.into_iter().chain(more.into_iter().map(|rule| Json::from(rule.into_object()))).collect();
            let rules = rules.to_json();
            info.object_mut().set("permission", rules);
        }
        SessionPatch::AgentModel { agent, model, at } => {
            info.set_agent(Some(agent.into())).set_model(Some(model));
            updated(info, at);
        }
        SessionPatch::Share(url) => {
            let share = url.map(|url| {
                let mut share = info.share().ok().flatten().map(SessionShare::into_static).unwrap_or_default();
                share.set_url(url.into());
                share
            });
            info.set_share(share);
        }
        SessionPatch::Workspace(workspace) => {
            info.set_workspace_id(workspace.map(Into::into));
        }
        SessionPatch::Summary(summary) => {
            info.set_summary(summary);
        }
    }
}

/// Sets the time of the last change, in ms.
pub(super) fn updated(info: &mut Session<'static>, at: i64) {
    time(info, |time| {
        time.set_updated(u64::try_from(at).unwrap_or(0));
    });
}

fn time(info: &mut Session<'static>, change: impl FnOnce(&mut SessionTime<'static>)) {
    let mut time = info.time().map(SessionTime::into_static).unwrap_or_default();
    change(&mut time);
    info.set_time(time);
}
