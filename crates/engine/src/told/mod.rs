//! What the model is told beside the conversation: who it is, where it works, what the project asks of it. All of it is our
//! own prose; its order is the reference's (reference-engine 1.5).

mod environment;
mod instructions;

pub use environment::{Environment, environment};
pub use instructions::{Instructions, instructions};

/// The prompt of an agent that has none of its own.
pub const BUILD: &str = include_str!("build.txt");
/// An agent that does a task for another one.
pub const GENERAL: &str = include_str!("general.txt");
/// An agent that looks and changes nothing.
pub const EXPLORE: &str = include_str!("explore.txt");
/// The one that names a session.
pub const TITLE: &str = include_str!("title.txt");
/// The one that sums a session up.
pub const COMPACTION: &str = include_str!("compaction.txt");
/// Behind the newest message of a person while the agent `plan` answers.
pub const PLAN: &str = include_str!("plan.txt");
/// Behind the newest message of a person when `build` answers where `plan` did before.
pub const BUILD_SWITCH: &str = include_str!("build_switch.txt");
/// The end of the last request that an agent's bound of steps allows.
pub const MAX_STEPS: &str = include_str!("max_steps.txt");
/// What a model is told that has to answer in a given shape.
pub const STRUCTURED: &str = "The person's program reads your answer. When you have it, call the tool StructuredOutput once, with \
    the answer in the shape that the tool describes; that call is the answer, and text beside it is not read.";

/// The prompt of an agent that comes with Annalist and is not told anything else by its configuration.
#[must_use]
pub fn native(agent: &str) -> Option<&'static str> {
    match agent {
        "general" => Some(GENERAL),
        "explore" => Some(EXPLORE),
        "title" => Some(TITLE),
        "compaction" | "summary" => Some(COMPACTION),
        _ => None,
    }
}

/// One system prompt: what is there of the agent's own prompt (or the usual one), the environment, the instructions and what
/// the newest prompt asks for, each apart by a line's end.
#[must_use]
pub fn system(agent: Option<&str>, loop_list: &[String], of_prompt: Option<&str>) -> String {
    let agent = agent.filter(|text| !text.is_empty()).unwrap_or(BUILD);
    let parts = std::iter::once(agent).chain(loop_list.iter().map(String::as_str)).chain(of_prompt);
    parts.map(str::trim_end).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
}
