//! Events of the surroundings: commands, files, projects.

use std::borrow::Cow;

pub use crate::project::Project as ProjectUpdated;

object! {
    /// `command.executed`: a slash command was run.
    pub struct CommandExecuted {
        /// Its name.
        required "name" name / set_name: Cow<'_, str>,
        /// The session.
        required "sessionID" session_id / set_session_id: Cow<'_, str> as Session,
        /// What stood behind it.
        required "arguments" arguments / set_arguments: Cow<'_, str>,
        /// The message that came of it.
        required "messageID" message_id / set_message_id: Cow<'_, str> as Message,
    }
}

object! {
    /// `file.edited`: a tool changed a file.
    pub struct FileEdited {
        /// Its path.
        required "file" file / set_file: Cow<'_, str>,
    }
}
