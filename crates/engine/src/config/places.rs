//! Where configuration is read from.

use std::path::PathBuf;

/// Folders of the person whose agents run.
#[derive(Debug, Clone)]
pub struct Places {
    /// the home folder
    pub home: PathBuf,
    /// OpenCode's state folder
    pub state: PathBuf,
    /// OpenCode's configuration folder
    pub config: PathBuf,
    /// the file of `OPENCODE_CONFIG`
    pub config_file: Option<PathBuf>,
    /// the text of `OPENCODE_CONFIG_CONTENT`
    pub config_content: Option<String>,
}

impl Places {
    /// The usual places, from the environment (`HOME`, `XDG_STATE_HOME`, `XDG_CONFIG_HOME`, `OPENCODE_CONFIG`, `OPENCODE_CONFIG_CONTENT`).
    #[must_use]
    pub fn from_env() -> Self {
        let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let home = set("HOME").unwrap_or_else(|| PathBuf::from("/"));
        Places {
            state: set("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state")).join("opencode"),
            config: set("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("opencode"),
            config_file: std::env::var_os("OPENCODE_CONFIG").filter(|file| !file.is_empty()).map(PathBuf::from),
            config_content: std::env::var("OPENCODE_CONFIG_CONTENT").ok().filter(|text| !text.is_empty()),
            home,
        }
    }
}
