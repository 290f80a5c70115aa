//! Changes of a session's own fields (reference-storage 1.6).

use super::change;
use crate::backend::{Durability, Transaction};
use crate::error::Error;
use crate::pending::Pending;
use crate::store::Store;
use annalist_schema::model::SessionModel;
use annalist_schema::permission::PermissionRule;
use annalist_schema::raw::{Number, Object};
use annalist_schema::session::{SessionShare, SessionSummary, SessionTime};
use annalist_schema::{Field as _, Json, Session, id};

/// A change of a session. `None` in an inner `Option` clears the field.
///
/// A field is cleared by writing the empty value that the reference's replay takes: `archived: 0` and `share: {"url": ""}`
/// are absent from then on, while `metadata: {}`, `permission: []` and a summary of zeros are what is read, by the reference
/// too.
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
    /// The rules; replaces what was there.
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
        SessionPatch::Archived(at) => {
            let shown = info.time().is_ok_and(|time| time.object().has("archived"));
            // Nothing to take back, nothing to write.
            if at.is_some() || shown {
                let at = at.unwrap_or_else(|| Number::from(0_u64));
                time(info, |time| {
                    time.set_archived(Some(at));
                });
            }
        }
        SessionPatch::Metadata(metadata) => {
            let mut metadata = metadata.unwrap_or_default();
            let ours = info
                .metadata()
                .ok()
                .flatten()
                .and_then(|m| m.get(crate::hydrate::OURS).cloned().map(annalist_schema::Json::into_static));
            if let Some(ours) = ours {
                metadata.set(crate::hydrate::OURS, ours);
            }
            info.set_metadata(Some(metadata));
        }
        SessionPatch::Permission(rules) => {
            info.set_permission(Some(rules));
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
            let mut share = info.share().ok().flatten().map(SessionShare::into_static).unwrap_or_default();
            share.set_url(url.unwrap_or_default().into());
            info.set_share(Some(share));
        }
        SessionPatch::Workspace(workspace) => {
            info.set_workspace_id(workspace.map(Into::into));
        }
        SessionPatch::Summary(summary) => {
            info.set_summary(Some(summary.unwrap_or_else(zeros)));
        }
    }
}

fn zeros() -> SessionSummary<'static> {
    let mut summary = SessionSummary::default();
    let zero = || Number::from(0_u64);
    summary.set_additions(zero()).set_deletions(zero()).set_files(zero()).set_diffs(Some(Vec::new()));
    summary
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
