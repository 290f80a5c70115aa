//! Sessions: one conversation, and what is known about it apart from its messages.

use crate::diff::FileDiff;
use crate::id::unsigned_ms;
use crate::model::SessionModel;
use crate::permission::PermissionRule;
use crate::project::ProjectRef;
use crate::raw::{Number, Object};
use crate::tokens::TokenUsage;
use std::borrow::Cow;

object! {
    /// One conversation (reference-storage 1.1).
    pub struct Session {
        /// Its id.
        required "id" id / set_id: Cow<'_, str> as Session,
        /// Two words, for people; not unique.
        required "slug" slug / set_slug: Cow<'_, str>,
        /// The project it is in.
        required "projectID" project_id / set_project_id: Cow<'_, str>,
        /// The workspace it is in.
        optional "workspaceID" workspace_id / set_workspace_id: Cow<'_, str> as Workspace,
        /// The folder it works in, absolute.
        required "directory" directory / set_directory: Cow<'_, str>,
        /// That folder relative to the project's work tree, with `/`; empty at its root.
        optional "path" path / set_path: Cow<'_, str>,
        /// The session that started this one for a part of its work.
        optional "parentID" parent_id / set_parent_id: Cow<'_, str> as Session,
        /// What it changed.
        optional "summary" summary / set_summary: SessionSummary<'_>,
        /// US dollars. Absent in documents of older versions.
        optional "cost" cost / set_cost: Number<'_>,
        /// Tokens of all steps. Absent in documents of older versions.
        optional "tokens" tokens / set_tokens: TokenUsage<'_>,
        /// Where it is published.
        optional "share" share / set_share: SessionShare<'_>,
        /// Its title; may be empty.
        required "title" title / set_title: Cow<'_, str>,
        /// The agent that answered last.
        optional "agent" agent / set_agent: Cow<'_, str>,
        /// The model that answered last.
        optional "model" model / set_model: SessionModel<'_>,
        /// The version of the program that made it.
        required "version" version / set_version: Cow<'_, str>,
        /// Anything, by program.
        optional "metadata" metadata / set_metadata: Object<'_>,
        /// When it was made, changed and put away.
        required "time" time / set_time: SessionTime<'_>,
        /// Its own permission rules.
        optional "permission" permission / set_permission: Vec<PermissionRule<'_>>,
        /// From where on its messages are undone.
        optional "revert" revert / set_revert: SessionRevert<'_>,
    }
}

object! {
    /// What a session changed.
    pub struct SessionSummary {
        /// Lines added.
        required "additions" additions / set_additions: Number<'_>,
        /// Lines removed.
        required "deletions" deletions / set_deletions: Number<'_>,
        /// Files changed.
        required "files" files / set_files: Number<'_>,
        /// By file.
        optional "diffs" diffs / set_diffs: Vec<FileDiff<'_>>,
    }
}

object! {
    /// Where a session is published.
    pub struct SessionShare {
        /// The page. Empty stands for no share: the reference cannot clear the field.
        required "url" url / set_url: Cow<'_, str>,
    }
}

object! {
    /// When a session was made, changed and put away.
    pub struct SessionTime {
        /// ms
        required "created" created / set_created: u64,
        /// ms
        required "updated" updated / set_updated: u64,
        /// ms, while its history is being summarised
        optional "compacting" compacting / set_compacting: u64,
        /// ms. The reference takes any number here, negative ones and fractions too; 0 stands for not archived.
        optional "archived" archived / set_archived: Number<'_>,
    }
}

object! {
    /// From where on a session's messages are undone (reference-storage 6.4). They stay until the next prompt.
    pub struct SessionRevert {
        /// The first undone message.
        required "messageID" message_id / set_message_id: Cow<'_, str> as Message,
        /// The first undone part of it.
        optional "partID" part_id / set_part_id: Cow<'_, str> as Part,
        /// The work tree before the revert, as a git tree's hash.
        optional "snapshot" snapshot / set_snapshot: Cow<'_, str>,
        /// What was undone, as a unified diff.
        optional "diff" diff / set_diff: Cow<'_, str>,
    }
}

object! {
    /// A session of the list over all projects: a [`Session`] and its project.
    pub struct GlobalSession {
        /// The project; `null` if its row is gone.
        nullable "project" project / set_project: ProjectRef<'_>,
    }
}

impl Session<'static> {
    /// A session made at `created` (ms) in an absolute folder, without usage.
    #[must_use]
    pub fn new(id: &str, slug: &str, project_id: &str, directory: &str, title: &str, version: &str, created: i64) -> Self {
        let created = unsigned_ms(created);
        let mut time = SessionTime::default();
        time.set_created(created).set_updated(created);
        let mut session = Session::default();
        session.set_id(id.into()).set_slug(slug.into()).set_project_id(project_id.into()).set_directory(directory.into());
        session.set_cost(Some(Number::from(0_u64))).set_tokens(Some(TokenUsage::zero()));
        session.set_title(title.into()).set_version(version.into()).set_time(time);
        session
    }
}

impl GlobalSession<'_> {
    /// Everything but the project.
    #[must_use]
    pub fn session(&self) -> Session<'_> {
        let mut object = self.object().borrowed();
        object.remove("project");
        Session::from_object(object)
    }
}

/// What the default title of a session starts with.
pub const DEFAULT_TITLE: &str = "New session - ";
/// What the default title of a session with a parent starts with.
pub const DEFAULT_CHILD_TITLE: &str = "Child session - ";

/// Whether nobody has given this title: the words of a default one and a time, `2026-01-02T03:04:05.678Z`
/// (reference-storage 1.3). Such a title may be replaced by a better one.
#[must_use]
pub fn is_default_title(title: &str) -> bool {
    const TIME: &[u8; 24] = b"0000-00-00T00:00:00.000Z";
    let rest = title.strip_prefix(DEFAULT_TITLE).or_else(|| title.strip_prefix(DEFAULT_CHILD_TITLE));
    rest.is_some_and(|rest| {
        rest.len() == TIME.len()
            && rest.bytes().zip(TIME).all(|(byte, like)| if *like == b'0' { byte.is_ascii_digit() } else { byte == *like })
    })
}

/// The title of a fork: `(fork #1)` behind the title, or the next number (reference-storage 1.8).
#[must_use]
pub fn fork_title(title: &str) -> String {
    let numbered = title.strip_suffix(')').and_then(|rest| {
        let (base, number) = rest.rsplit_once(" (fork #")?;
        let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        // The reference's pattern does not go over line ends.
        let one_line = !base.is_empty() && !base.contains(['\n', '\r', '\u{2028}', '\u{2029}']);
        let next = number.parse::<u64>().ok()?.checked_add(1)?;
        (digits && one_line).then(|| format!("{base} (fork #{next})"))
    });
    numbered.unwrap_or_else(|| format!("{title} (fork #1)"))
}
