//! What is configured in a folder: `opencode.json` and `opencode.jsonc`, of the person, of the project and from the
//! environment.
//!
//! Later ones win, member by member: the person's files, `OPENCODE_CONFIG`, the project's from the top of the work tree down to
//! the folder (also in `.opencode`), `OPENCODE_CONFIG_CONTENT`. What is read here is the model, the agents and the
//! permissions, since a prompt needs them; the rest is passed on as it stands. Nothing else reads configuration.

mod agent;
mod jsonc;
mod places;
mod rule;

pub use agent::Agent;
pub use places::Places;
pub use rule::{Rule, decide};

use annalist_schema::raw::{Json, Kind, Object};
use annalist_store::Folder;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The names of a configuration file; the second wins.
const NAMES: [&str; 2] = ["opencode.json", "opencode.jsonc"];

/// The configuration of a folder.
#[derive(Debug, Clone, Default)]
pub struct Config {
    merged: Object<'static>,
    /// Agents that stand in files of their own, by name.
    files: Vec<String>,
}

/// A file of configuration that cannot be used. The reference refuses to work then, and so do we: a permission that is not
/// read is one that does not hold.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", .file.display())]
pub struct ConfigError {
    /// the file
    pub file: PathBuf,
    /// what is wrong with it
    pub problem: String,
}

impl Config {
    /// Reads all that holds in a folder.
    pub fn read(places: &Places, folder: &Folder) -> Result<Self, ConfigError> {
        let mut config = Config::default();
        for name in ["config.json", NAMES[0], NAMES[1]] {
            config.file(&places.config.join(name), places)?;
        }
        config.agents_in(&places.config);
        if let Some(file) = &places.config_file {
            config.file(file, places)?;
        }
        for folder in downwards(folder) {
            for name in NAMES {
                config.file(&folder.join(name), places)?;
            }
            let hidden = folder.join(".opencode");
            for name in NAMES {
                config.file(&hidden.join(name), places)?;
            }
            config.agents_in(&hidden);
        }
        if let Some(text) = &places.config_content {
            config.text(text, Path::new("OPENCODE_CONFIG_CONTENT"), places)?;
        }
        Ok(config)
    }

    fn file(&mut self, file: &Path, places: &Places) -> Result<(), ConfigError> {
        match fs::read_to_string(file) {
            Ok(text) => self.text(&text, file, places),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(()),
            Err(error) => Err(ConfigError { file: file.to_owned(), problem: error.to_string() }),
        }
    }

    fn text(&mut self, text: &str, file: &Path, places: &Places) -> Result<(), ConfigError> {
        let failed = |problem: String| ConfigError { file: file.to_owned(), problem };
        let plain = jsonc::plain(text);
        if plain.trim().is_empty() {
            return Ok(());
        }
        let filled = jsonc::filled(&plain, file.parent().unwrap_or(Path::new("/")), &places.home).map_err(failed)?;
        let json = Json::parse(filled).map_err(|e| failed(e.to_string()))?;
        let object = json.as_object().ok_or_else(|| failed(format!("is {}, not an object", json.kind())))?;
        merge(&mut self.merged, object.into_static());
        Ok(())
    }

    /// Agents in files: `agent/NAME.md`, also in folders below.
    fn agents_in(&mut self, folder: &Path) {
        for below in ["agent", "agents"] {
            let root = folder.join(below);
            let mut open = vec![root.clone()];
            while let Some(folder) = open.pop() {
                // A folder that is not there has no agents.
                let Ok(entries) = fs::read_dir(&folder) else { continue };
                for entry in entries.filter_map(Result::ok) {
                    let path = entry.path();
                    if path.is_dir() {
                        open.push(path);
                    } else if path.extension().is_some_and(|extension| extension == "md")
                        && let Ok(name) = path.with_extension("").strip_prefix(&root)
                    {
                        self.files.push(name.to_string_lossy().into_owned());
                    }
                }
            }
        }
    }

    /// The model of prompts that name none.
    #[must_use]
    pub fn model(&self) -> Option<Model> {
        Model::parse(&self.merged.text("model")?)
    }

    /// The agent of prompts that name none.
    #[must_use]
    pub fn default_agent(&self) -> String {
        self.merged.text("default_agent").filter(|name| !name.is_empty()).unwrap_or("build".into()).into_owned()
    }

    /// All agents: those that every folder has, and those of the configuration.
    #[must_use]
    pub fn agents(&self) -> Vec<Agent> {
        agent::all(&self.merged, &self.files)
    }

    /// As `/config` shows it.
    #[must_use]
    pub fn shown(&self) -> Object<'static> {
        let mut shown = self.merged.clone();
        for (name, empty) in [("command", "{}"), ("plugin", "[]"), ("mode", "{}"), ("agent", "{}")] {
            if !shown.has(name)
                && let Ok(empty) = Json::parse(empty)
            {
                shown.set(name, empty);
            }
        }
        shown
    }
}

/// `provider/model`; the model may have slashes of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// the provider's id
    pub provider: String,
    /// the model's id
    pub model: String,
}

impl Model {
    fn parse(text: &str) -> Option<Self> {
        let (provider, model) = text.split_once('/')?;
        Some(Model { provider: provider.to_owned(), model: model.to_owned() })
    }
}

/// The folders from the top of the work tree down to a folder; outside of git only the folder.
fn downwards(folder: &Folder) -> Vec<PathBuf> {
    let directory = Path::new(&folder.directory);
    if !folder.git {
        return vec![directory.to_owned()];
    }
    let mut folders: Vec<PathBuf> =
        directory.ancestors().take_while(|one| one.starts_with(&folder.worktree)).map(Path::to_owned).collect();
    folders.reverse();
    folders
}

/// Members of objects one by one, everything else whole.
fn merge(into: &mut Object<'static>, from: Object<'static>) {
    for entry in from.into_entries() {
        let key = entry.key().into_owned();
        let value = entry.into_value();
        let mine = into.get(&key).filter(|mine| mine.kind() == Kind::Object).and_then(Json::as_object).map(Object::into_static);
        match (mine, value.as_object()) {
            (Some(mut mine), Some(theirs)) => {
                merge(&mut mine, theirs.into_static());
                into.set(&key, mine);
            }
            _ => into.set(&key, value),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing test should stop")]
    use super::*;

    #[test]
    fn members_are_merged_one_by_one() {
        let mut one = Object::parse(r#"{"a":{"x":1,"y":2},"b":[1],"c":1}"#).unwrap().into_static();
        merge(&mut one, Object::parse(r#"{"a":{"y":3},"b":[2],"d":{}}"#).unwrap().into_static());
        assert_eq!(one.to_text(), r#"{"a":{"x":1,"y":3},"b":[2],"c":1,"d":{}}"#);
    }

    #[test]
    fn later_files_win_and_the_environment_last() {
        let room = tempfile::tempdir().unwrap();
        let top = room.path().join("top");
        fs::create_dir_all(top.join("below/.opencode/agent/deep")).unwrap();
        fs::create_dir_all(room.path().join("config")).unwrap();
        fs::write(room.path().join("config/opencode.json"), r#"{"model":"a/global","small_model":"a/s","username":"g"}"#).unwrap();
        fs::write(top.join("opencode.json"), r#"{"model":"a/top","default_agent":"plan"}"#).unwrap();
        fs::write(top.join("below/opencode.jsonc"), "{ // mine\n \"model\": \"a/b/below\", }").unwrap();
        fs::write(top.join("below/.opencode/agent/deep/one.md"), "").unwrap();
        let mut places = Places {
            home: room.path().to_owned(),
            state: room.path().to_owned(),
            config: room.path().join("config"),
            config_file: None,
            config_content: None,
        };
        let folder = Folder {
            project: "global".into(),
            worktree: top.to_string_lossy().into_owned(),
            directory: top.join("below").to_string_lossy().into_owned(),
            path: "below".into(),
            git: true,
            previous: None,
        };
        let config = Config::read(&places, &folder).unwrap();
        assert_eq!(config.model(), Some(Model { provider: "a".into(), model: "b/below".into() }));
        assert_eq!(config.default_agent(), "plan");
        assert_eq!(config.merged.text("small_model").unwrap(), "a/s");
        assert!(config.agents().iter().any(|agent| agent.name == "deep/one"));
        places.config_content = Some(r#"{"model":"env/one"}"#.into());
        assert_eq!(Config::read(&places, &folder).unwrap().model().unwrap().provider, "env");
        fs::write(top.join("opencode.json"), "{").unwrap();
        let error = Config::read(&places, &folder).unwrap_err().to_string();
        assert!(error.contains("opencode.json"), "{error}");
    }
}
