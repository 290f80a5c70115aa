//! Agents: who may answer a prompt. `build` and `plan` are there without configuration.

use super::Model;
use super::rule::{self, Rule};
use annalist_schema::raw::{Json, Object};
use std::borrow::Cow;

/// An agent.
#[derive(Debug, Clone)]
pub struct Agent {
    /// its name, as `@name` and in messages
    pub name: String,
    /// the model it always answers with
    pub model: Option<Model>,
    /// the variant of that model
    pub variant: Option<String>,
    /// whether people are shown it
    pub hidden: bool,
    mode: String,
    description: Option<String>,
    native: bool,
    rules: Vec<Rule>,
    options: Object<'static>,
}

/// Permission, pattern, action.
type Written = (&'static str, &'static str, &'static str);

/// The agents of the reference: name, mode, whether it is hidden, what it is for, and its own rules.
type Native = (&'static str, &'static str, bool, &'static str, &'static [Written]);

const NATIVE: &[Native] = &[
    (
        "build",
        "primary",
        false,
        "Works on the project with all tools that the permissions allow",
        &[("question", "*", "allow"), ("plan_enter", "*", "allow")],
    ),
    (
        "plan",
        "primary",
        false,
        "Reads and plans, and changes nothing but its plans",
        &[
            ("question", "*", "allow"),
            ("plan_exit", "*", "allow"),
            ("task", "general", "deny"),
            ("edit", "*", "deny"),
            ("edit", ".opencode/plans/*.md", "allow"),
        ],
    ),
    ("general", "subagent", false, "Does a task of several steps for another agent", &[("todowrite", "*", "deny")]),
    (
        "explore",
        "subagent",
        false,
        "Looks through the project for another agent, and changes nothing",
        &[
            ("*", "*", "deny"),
            ("grep", "*", "allow"),
            ("glob", "*", "allow"),
            ("list", "*", "allow"),
            ("bash", "*", "allow"),
            ("webfetch", "*", "allow"),
            ("websearch", "*", "allow"),
            ("read", "*", "allow"),
        ],
    ),
    ("compaction", "primary", true, "Sums a session up", &[("*", "*", "deny")]),
    ("title", "primary", true, "Gives a session its title", &[("*", "*", "deny")]),
    ("summary", "primary", true, "Says what a session did", &[("*", "*", "deny")]),
];

/// What holds for every agent, before its own rules.
const USUAL: &[Written] = &[
    ("*", "*", "allow"),
    ("doom_loop", "*", "ask"),
    ("external_directory", "*", "ask"),
    ("question", "*", "deny"),
    ("plan_enter", "*", "deny"),
    ("plan_exit", "*", "deny"),
    ("read", "*", "allow"),
    ("read", "*.env", "ask"),
    ("read", "*.env.*", "ask"),
    ("read", "*.env.example", "allow"),
];

/// All agents of a configuration, by name; `files` are those that stand in files of their own.
pub(super) fn all(config: &Object<'_>, files: &[String]) -> Vec<Agent> {
    let for_all = config.get("permission").map(rule::read).unwrap_or_default();
    let mut agents: Vec<Agent> = NATIVE
        .iter()
        .map(|(name, mode, hidden, description, own)| Agent {
            name: (*name).to_owned(),
            model: None,
            variant: None,
            hidden: *hidden,
            mode: (*mode).to_owned(),
            description: Some((*description).to_owned()),
            native: true,
            rules: rules(own, &for_all),
            options: Object::new(),
        })
        .collect();
    for name in files {
        at(&mut agents, name, &for_all);
    }
    // `mode` is what `agent` was called before.
    for group in ["mode", "agent"] {
        let Some(group) = config.get(group).and_then(Json::as_object) else { continue };
        for entry in group.entries() {
            let Some(own) = entry.value().as_object() else { continue };
            let name = entry.key();
            if own.get("disable").and_then(Json::as_bool) == Some(true) {
                agents.retain(|agent| agent.name != name);
                continue;
            }
            at(&mut agents, &name, &for_all).configure(&own);
        }
    }
    agents.sort_by(|a, b| a.name.cmp(&b.name));
    agents
}

fn rules(own: &[Written], for_all: &[Rule]) -> Vec<Rule> {
    let mut rules: Vec<Rule> =
        USUAL.iter().chain(own).map(|(permission, pattern, action)| Rule::new(permission, pattern, action)).collect();
    rules.extend(for_all.iter().cloned());
    rules
}

/// The agent of a name, made if there is none.
fn at<'a>(agents: &'a mut Vec<Agent>, name: &str, for_all: &[Rule]) -> &'a mut Agent {
    let place = agents.iter().position(|agent| agent.name == name).unwrap_or_else(|| {
        agents.push(Agent {
            name: name.to_owned(),
            model: None,
            variant: None,
            hidden: false,
            mode: "all".to_owned(),
            description: None,
            native: false,
            rules: rules(&[], for_all),
            options: Object::new(),
        });
        agents.len() - 1
    });
    &mut agents[place]
}

impl Agent {
    fn configure(&mut self, own: &Object<'_>) {
        let text = |key: &str| own.text(key).map(Cow::into_owned);
        if let Some(model) = text("model").as_deref().and_then(Model::parse) {
            self.model = Some(model);
        }
        self.variant = text("variant").or(self.variant.take());
        self.mode = text("mode").unwrap_or(std::mem::take(&mut self.mode));
        self.description = text("description").or(self.description.take());
        self.hidden = own.get("hidden").and_then(Json::as_bool).unwrap_or(self.hidden);
        if let Some(options) = own.get("options").and_then(Json::as_object) {
            self.options = options.into_static();
        }
        // The older way to say it: a tool is on or off.
        for entry in own.get("tools").and_then(Json::as_object).unwrap_or_default().entries() {
            let action = if entry.value().as_bool() == Some(true) { "allow" } else { "deny" };
            let key = entry.key();
            let permission = if matches!(&*key, "write" | "edit" | "patch" | "multiedit") { "edit" } else { &key };
            self.rules.push(Rule::new(permission, "*", action));
        }
        self.rules.extend(own.get("permission").map(rule::read).unwrap_or_default());
    }

    /// Whether it may not give tasks to another agent.
    #[must_use]
    pub fn may_not_ask(&self, other: &str) -> bool {
        rule::decide(&self.rules, "task", other) == "deny"
    }

    /// As `/agent` shows it.
    #[must_use]
    pub fn shown(&self) -> Object<'static> {
        let mut agent = Object::new();
        agent.set_text("name", &self.name);
        if let Some(description) = &self.description {
            agent.set_text("description", description);
        }
        agent.set_text("mode", &self.mode);
        agent.set("native", self.native);
        if self.hidden {
            agent.set("hidden", true);
        }
        if let Some(model) = &self.model {
            let mut shown = Object::new();
            shown.set_text("providerID", &model.provider);
            shown.set_text("modelID", &model.model);
            agent.set("model", shown);
        }
        if let Some(variant) = &self.variant {
            agent.set_text("variant", variant);
        }
        let rules: Vec<Json<'static>> = self.rules.iter().map(|rule| rule.shown().into()).collect();
        agent.set("permission", annalist_schema::Field::to_json(&rules));
        agent.set("options", self.options.clone());
        agent
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    #[test]
    fn build_and_plan_are_there_and_can_be_changed() {
        let named = |agents: &[Agent], name: &str| agents.iter().find(|agent| agent.name == name).cloned();
        let bare = all(&Object::new(), &[]);
        assert!(named(&bare, "build").is_some());
        assert!(named(&bare, "plan").unwrap().may_not_ask("general"));
        assert!(!named(&bare, "build").unwrap().may_not_ask("general"));
        let config = r#"{"permission":{"*":"allow"},"agent":{"build":{"permission":{"task":"deny"},"model":"p/m/x","variant":"v"},
            "plan":{"disable":true},"own":{"tools":{"task":false}}}}"#;
        let agents = all(&Object::parse(config).unwrap(), &["filed".into()]);
        let build = named(&agents, "build").unwrap();
        assert!(build.may_not_ask("general") && build.variant.as_deref() == Some("v"));
        assert_eq!(build.model, Some(Model { provider: "p".into(), model: "m/x".into() }));
        assert!(named(&agents, "plan").is_none() && named(&agents, "filed").is_some());
        assert!(named(&agents, "own").unwrap().may_not_ask("x"));
    }
}
