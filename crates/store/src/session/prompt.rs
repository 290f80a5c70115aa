//! What a person says (reference-storage 2.4): a message with its parts and what it changes of the session, all in one
//! transaction.

use super::patch::{self, SessionPatch};
use super::{change, expected, revert};
use crate::backend::Durability;
use crate::error::Error;
use crate::message;
use crate::pending::Pending;
use crate::store::Store;
use crate::transcript::WithParts;
use annalist_schema::model::SessionModel;
use annalist_schema::permission::PermissionRule;
use annalist_schema::{Message, Part, id};

/// A prompt, its parts expanded.
pub struct Prompt {
    /// the session
    pub session: String,
    /// the message, with its id, session and time
    pub message: Message<'static>,
    /// its parts; those without an id get one
    pub parts: Vec<Part<'static>>,
    /// who is to answer
    pub agent: String,
    /// with which model; the variant is `default` where the message names none
    pub model: SessionModel<'static>,
    /// when the message was made, in ms
    pub at_ms: i64,
    /// rules that replace those of the session
    pub permission: Option<Vec<PermissionRule<'static>>>,
    /// Whether a message that is there under this id is the same prompt, said before.
    pub repeats: Box<dyn FnOnce(&WithParts) -> bool + Send>,
}

/// What became of a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompted {
    /// the message
    pub message: WithParts,
    /// whether it was there already, and nothing was written
    pub repeated: bool,
}

impl Store {
    /// Writes a prompt: first what a revert mark hides is removed for good, then come the session's agent and model if they
    /// change, the message, its parts, the time of the last change and the rules.
    ///
    /// A message that is there is given back, if `repeats` knows it. Fails with [`Error::IdTaken`] if it does not or if an id
    /// belongs elsewhere, with [`Error::NotFound`] if there is no such session, [`Error::Gone`] if the message was removed.
    pub fn prompt(&self, prompt: Prompt) -> Pending<Prompted> {
        let tombs = self.tombs();
        self.write(Durability::Power, move |tx| {
            let Prompt { session, message, parts, agent, model, at_ms, permission, repeats } = prompt;
            if let Some(there) = message::there(tx, &message, &tombs)? {
                if repeats(&there) {
                    return Ok(Prompted { message: there, repeated: true });
                }
                let id = message.object().text("id").unwrap_or_default().into_owned();
                return Err(Error::IdTaken { what: "message", id, owner: None });
            }
            revert::commit(tx, &session, &tombs)?;
            let info = expected(tx, &session)?;
            let same_agent = info.object().text("agent").as_deref() == Some(agent.as_str());
            if !same_agent || !same_model(info.model().ok().flatten().as_ref(), &model) {
                patch::apply(tx, &session, SessionPatch::AgentModel { agent, model, at: at_ms })?;
            }
            let message = message::write(tx, &message, parts)?;
            // Later than the message, also within its millisecond: that it came is a change of its own.
            let touched = id::now_ms().max(at_ms.saturating_add(1));
            change(tx, &session, |info| {
                patch::updated(info, touched);
                Ok(())
            })?;
            if let Some(rules) = permission {
                patch::apply(tx, &session, SessionPatch::Permission(rules))?;
            }
            Ok(Prompted { message, repeated: false })
        })
    }
}

/// No variant and `default` are the same.
fn same_model(there: Option<&SessionModel<'_>>, wanted: &SessionModel<'_>) -> bool {
    let text = |model: &SessionModel<'_>, key: &str| model.object().text(key).unwrap_or_default().into_owned();
    let variant = |model: &SessionModel<'_>| Some(text(model, "variant")).filter(|v| !v.is_empty()).unwrap_or("default".to_owned());
    there.is_some_and(|there| {
        ["id", "providerID"].iter().all(|key| text(there, key) == text(wanted, key)) && variant(there) == variant(wanted)
    })
}
