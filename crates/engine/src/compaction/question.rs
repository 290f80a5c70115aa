//! What the agent `compaction` is asked, and what stands in the history in its place. The sentences that a stored history or
//! the wire has are the reference's (reference-engine 1.2, 5.2); the form is our own.

/// How a model reads a message that asked for a compaction.
pub const WHAT_DID_WE_DO: &str = "What did we do so far?";
/// What is said in the person's name when the work goes on by itself.
pub const GO_ON: &str = "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.";
/// Before it, if what the person sent last was itself too much.
pub const AFTER_OVERFLOW: &str = "The message before this one was larger than the model can take, pictures and files included, so it \
    was left out of what you can see. If it matters, say that those files were too large and ask for smaller ones.\n\n";

const FORM: &str = "Fill in this form. Keep its headings and their order; write \"none\" where there is nothing.

## Objective
What the person wants, in full, and what they said about how.

## Important details
Decisions and their reasons, constraints, facts that were found out, exact names, values and messages.

## Work state
### Completed
### Active
### Blocked

## Next move
The one thing to do next, or the question that waits for an answer.

## Relevant files
One line each: the path, and what it has to do with the work.";

const MERGE: &str = "An earlier part of this session was already written down, below. The conversation above begins behind it. Write one \
    form for both: keep what still holds, correct what has changed, and drop what is done and no longer matters.";

/// One message for the agent that writes the summary.
#[must_use]
pub fn question(conversation: &str, before: Option<&str>, context: &[String]) -> String {
    let mut text = format!("<conversation>\n{}\n</conversation>\n\n", conversation.trim_end());
    if let Some(before) = before {
        text.push_str(&format!("{MERGE}\n\n<prior-summary>\n{}\n</prior-summary>\n\n", before.trim()));
    }
    for more in context {
        text.push_str(more);
        text.push_str("\n\n");
    }
    text.push_str(FORM);
    text
}
