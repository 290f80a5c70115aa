//! What stands below the options of each command in its full help: examples, and what they need to be understood. A line has
//! at most 80 characters, so that a table stays one on a terminal of that width.

pub(super) const ALL: &str = "\
Which database: the one given with --db; without it the first of these:
  1. the file named by ANNALIST_DB
  2. the file named by OPENCODE_DB; a relative path starts in opencode/ in the
     data folder
  3. OpenCode's own, if there is one: opencode/opencode.db in the data folder
  4. Annalist's own: annalist/annalist.db in the data folder
The data folder is $XDG_DATA_HOME or ~/.local/share.

Exit status: 0 done, 1 it failed and standard error says why, 2 the command line
is wrong.

Examples:
  annalist list                      what was talked about in this project
  annalist show latest               the end of the last conversation
  annalist export latest > it.json   all of it, as a document
  annalist import it.json            the document, into this folder's project
  annalist db path                   which database all this is about";

pub(super) const LIST: &str = "\
A folder belongs to the project of its git repository. All folders outside of
git, and those of repositories without a commit, share one project.

Examples:
  annalist list --all --search parser
  annalist list --json | jq -r '.[].id'";

pub(super) const SHOW: &str = "\
What was said stands as it is. Signs before a line:
  *  a tool, and how it ended      >  a subtask
  ~  thoughts                      #  changed files
  @  a file or an agent            =  a summary
  +  added for the model           !  a problem, ? an unknown part

Examples:
  annalist show latest
  annalist show ses_dd1bb4 --last 100
  annalist show dd1bb4 --json | jq '.messages[].parts[]'";

pub(super) const EXPORT: &str = "\
Examples:
  annalist export latest > session.json
  annalist export dd1bb4 --sanitize > to-show-others.json
  annalist export dd1bb4 | annalist --db other.db import -";

pub(super) const IMPORT: &str = "\
Examples:
  annalist import session.json another.json
  opencode export ses_dd1bb4 | annalist --db archive.db import -
  annalist import --legacy ~/.local/share/opencode";

pub(super) const RENAME: &str = "\
Examples:
  annalist rename latest \"The parser, rewritten\"";

pub(super) const ARCHIVE: &str = "\
Examples:
  annalist archive dd1bb4
  annalist list --archived           shows it all the same";

pub(super) const UNARCHIVE: &str = "\
Examples:
  annalist list --archived           what there is to take back out
  annalist unarchive dd1bb4";

pub(super) const FORK: &str = "\
Examples:
  annalist fork latest
  annalist fork dd1bb4 --before msg_22e4369ef001Sjm02B42lSuYRw

The ids of messages, with who speaks:
  annalist show dd1bb4 --json | jq -r '.messages[].info | .id + \" \" + .role'";

pub(super) const REVERT_USAGE: &str = "\
annalist revert [OPTIONS] <ID> <MESSAGE> [--part <PART>] [--commit]
       annalist revert [OPTIONS] <ID> --commit";

pub(super) const REVERT: &str = "\
Examples:
  annalist revert dd1bb4 msg_22e4369ef001Sjm02B42lSuYRw
  annalist show dd1bb4               says what is undone
  annalist unrevert dd1bb4           all is as before; or
  annalist revert dd1bb4 --commit    what is undone goes for good

The ids of messages, with who speaks:
  annalist show dd1bb4 --json | jq -r '.messages[].info | .id + \" \" + .role'";

pub(super) const UNREVERT: &str = "\
Examples:
  annalist unrevert latest";

pub(super) const DELETE: &str = "\
Examples:
  annalist delete dd1bb4
  annalist delete dd1bb4 --export kept --yes
  annalist import kept/*.json        brings them back";

pub(super) const VERIFY: &str = "\
Examples:
  annalist verify
  annalist verify latest --json | jq '.findings[]'";

pub(super) const REBUILD: &str = "\
Examples:
  annalist rebuild --into new.db
  annalist --db new.db verify";

pub(super) const COMPACT: &str = "\
Examples:
  annalist compact --dry-run         what there is to be gained
  annalist compact --reclaim";

pub(super) const SERVE: &str = "\
Examples:
  annalist serve --port 0
  OPENCODE_SERVER_PASSWORD=secret annalist serve --hostname 192.168.1.5";
