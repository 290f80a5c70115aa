//! The shapes of the interface (reference-storage 1.1, 2.1, 2.2), for requests and for the document.

use crate::shape::{Field, Shape, may, need};

const ACTION: Shape = Shape::Named("PermissionAction", &Shape::Words(&["allow", "deny", "ask"]));
const RULE: Shape = Shape::Named(
    "PermissionRule",
    &Shape::Object(&[need("permission", Shape::Text), need("pattern", Shape::Text), need("action", ACTION)]),
);
pub(crate) const RULES: Shape = Shape::Named("PermissionRuleset", &Shape::List(&RULE));

pub(crate) const SESSION_MODEL: Shape =
    Shape::Object(&[need("id", Shape::Text), need("providerID", Shape::Text), may("variant", Shape::Text)]);
pub(crate) const MODEL: Shape = Shape::Object(&[need("providerID", Shape::Text), need("modelID", Shape::Text)]);
const MODEL_OF_MESSAGE: Shape =
    Shape::Object(&[need("providerID", Shape::Text), need("modelID", Shape::Text), may("variant", Shape::Text)]);
pub(crate) const TOOLS: Shape = Shape::Map(&Shape::Bool);

pub(crate) const FORMAT: Shape = Shape::Tagged {
    name: Some("OutputFormat"),
    tag: "type",
    variants: &[("text", &[]), ("json_schema", &[need("schema", Shape::Record), may("retryCount", Shape::Count)])],
};

const DIFF: Shape = Shape::Named(
    "FileDiff",
    &Shape::Object(&[
        may("file", Shape::Text),
        may("patch", Shape::Text),
        need("additions", Shape::Number),
        need("deletions", Shape::Number),
        may("status", Shape::Words(&["added", "deleted", "modified"])),
    ]),
);
pub(crate) const DIFFS: Shape = Shape::List(&DIFF);

const CACHE: Shape = Shape::Object(&[need("read", Shape::Number), need("write", Shape::Number)]);
const TOKENS: Shape = Shape::Object(&[
    may("total", Shape::Number),
    need("input", Shape::Number),
    need("output", Shape::Number),
    need("reasoning", Shape::Number),
    need("cache", CACHE),
]);

const SESSION_FIELDS: &[Field] = &[
    need("id", Shape::Id("ses")),
    need("slug", Shape::Text),
    need("projectID", Shape::Text),
    may("workspaceID", Shape::Id("wrk")),
    need("directory", Shape::Text),
    may("path", Shape::Text),
    may("parentID", Shape::Id("ses")),
    may(
        "summary",
        Shape::Object(&[
            need("additions", Shape::Number),
            need("deletions", Shape::Number),
            need("files", Shape::Number),
            may("diffs", DIFFS),
        ]),
    ),
    may("cost", Shape::Number),
    may("tokens", TOKENS),
    may("share", Shape::Object(&[need("url", Shape::Text)])),
    need("title", Shape::Text),
    may("agent", Shape::Text),
    may("model", SESSION_MODEL),
    need("version", Shape::Text),
    may("metadata", Shape::Record),
    need(
        "time",
        Shape::Object(&[
            need("created", Shape::Number),
            need("updated", Shape::Number),
            may("compacting", Shape::Number),
            may("archived", Shape::Number),
        ]),
    ),
    may("permission", RULES),
    may(
        "revert",
        Shape::Object(&[
            need("messageID", Shape::Text),
            may("partID", Shape::Text),
            may("snapshot", Shape::Text),
            may("diff", Shape::Text),
        ]),
    ),
];
pub(crate) const SESSION: Shape = Shape::Named("Session", &Shape::Object(SESSION_FIELDS));
pub(crate) const SESSIONS: Shape = Shape::List(&SESSION);

const CREATED: Shape = Shape::Object(&[need("created", Shape::Number)]);
const MESSAGE: Shape = Shape::Named(
    "Message",
    &Shape::Tagged {
        name: Some("Message"),
        tag: "role",
        variants: &[
            (
                "user",
                &[
                    need("id", Shape::Id("msg")),
                    need("sessionID", Shape::Id("ses")),
                    need("time", CREATED),
                    may("format", FORMAT),
                    may("summary", Shape::Object(&[may("title", Shape::Text), may("body", Shape::Text), need("diffs", DIFFS)])),
                    need("agent", Shape::Text),
                    need("model", MODEL_OF_MESSAGE),
                    may("system", Shape::Text),
                    may("tools", TOOLS),
                ],
            ),
            (
                "assistant",
                &[
                    need("id", Shape::Id("msg")),
                    need("sessionID", Shape::Id("ses")),
                    need("time", Shape::Object(&[need("created", Shape::Number), may("completed", Shape::Number)])),
                    may("error", Shape::Object(&[need("name", Shape::Text), need("data", Shape::Record)])),
                    need("parentID", Shape::Id("msg")),
                    need("modelID", Shape::Text),
                    need("providerID", Shape::Text),
                    need("mode", Shape::Text),
                    need("agent", Shape::Text),
                    need("path", Shape::Object(&[need("cwd", Shape::Text), need("root", Shape::Text)])),
                    may("summary", Shape::Bool),
                    need("cost", Shape::Number),
                    need("tokens", TOKENS),
                    may("structured", Shape::Any),
                    may("variant", Shape::Text),
                    may("finish", Shape::Text),
                ],
            ),
        ],
    },
);
pub(crate) const MESSAGE_WITH_PARTS: Shape = Shape::Object(&[need("info", MESSAGE), need("parts", Shape::List(&PART))]);
pub(crate) const MESSAGES: Shape = Shape::List(&MESSAGE_WITH_PARTS);

const SPAN: Shape = Shape::Object(&[need("start", Shape::Count), may("end", Shape::Count)]);
const WHOLE_SPAN: Shape = Shape::Object(&[need("start", Shape::Count), need("end", Shape::Count), may("compacted", Shape::Count)]);
const QUOTE: Shape = Shape::Object(&[need("value", Shape::Text), need("start", Shape::Number), need("end", Shape::Number)]);
const POINT: Shape = Shape::Object(&[need("line", Shape::Number), need("character", Shape::Number)]);
const SOURCE: Shape = Shape::Tagged {
    name: Some("FilePartSource"),
    tag: "type",
    variants: &[
        ("file", &[need("text", QUOTE), need("path", Shape::Text)]),
        (
            "symbol",
            &[
                need("text", QUOTE),
                need("path", Shape::Text),
                need("range", Shape::Object(&[need("start", POINT), need("end", POINT)])),
                need("name", Shape::Text),
                need("kind", Shape::Count),
            ],
        ),
        ("resource", &[need("text", QUOTE), need("clientName", Shape::Text), need("uri", Shape::Text)]),
    ],
};
const AGENT_SOURCE: Shape = Shape::Object(&[need("value", Shape::Text), need("start", Shape::Count), need("end", Shape::Count)]);
const STATE: Shape = Shape::Tagged {
    name: Some("ToolState"),
    tag: "status",
    variants: &[
        ("pending", &[need("input", Shape::Record), need("raw", Shape::Text)]),
        (
            "running",
            &[
                need("input", Shape::Record),
                may("title", Shape::Text),
                may("metadata", Shape::Record),
                need("time", Shape::Object(&[need("start", Shape::Count)])),
            ],
        ),
        (
            "completed",
            &[
                need("input", Shape::Record),
                need("output", Shape::Text),
                need("title", Shape::Text),
                need("metadata", Shape::Record),
                need("time", WHOLE_SPAN),
                may("attachments", Shape::List(&Shape::Record)),
            ],
        ),
        (
            "error",
            &[need("input", Shape::Record), need("error", Shape::Text), may("metadata", Shape::Record), need("time", WHOLE_SPAN)],
        ),
    ],
};

const ID: Field = need("id", Shape::Id("prt"));
const OF_SESSION: Field = need("sessionID", Shape::Id("ses"));
const OF_MESSAGE: Field = need("messageID", Shape::Id("msg"));

/// A part, as it is stored.
pub(crate) const PART: Shape = Shape::Named(
    "Part",
    &Shape::Tagged {
        name: Some("Part"),
        tag: "type",
        variants: &[
            (
                "text",
                &[
                    ID,
                    OF_SESSION,
                    OF_MESSAGE,
                    need("text", Shape::Text),
                    may("synthetic", Shape::Bool),
                    may("ignored", Shape::Bool),
                    may("time", SPAN),
                    may("metadata", Shape::Record),
                ],
            ),
            (
                "subtask",
                &[
                    ID,
                    OF_SESSION,
                    OF_MESSAGE,
                    need("prompt", Shape::Text),
                    need("description", Shape::Text),
                    need("agent", Shape::Text),
                    may("model", MODEL),
                    may("command", Shape::Text),
                ],
            ),
            (
                "reasoning",
                &[ID, OF_SESSION, OF_MESSAGE, need("text", Shape::Text), may("metadata", Shape::Record), need("time", SPAN)],
            ),
            (
                "file",
                &[
                    ID,
                    OF_SESSION,
                    OF_MESSAGE,
                    need("mime", Shape::Text),
                    may("filename", Shape::Text),
                    need("url", Shape::Text),
                    may("source", SOURCE),
                ],
            ),
            (
                "tool",
                &[
                    ID,
                    OF_SESSION,
                    OF_MESSAGE,
                    need("callID", Shape::Text),
                    need("tool", Shape::Text),
                    need("state", STATE),
                    may("metadata", Shape::Record),
                ],
            ),
            ("step-start", &[ID, OF_SESSION, OF_MESSAGE, may("snapshot", Shape::Text)]),
            (
                "step-finish",
                &[
                    ID,
                    OF_SESSION,
                    OF_MESSAGE,
                    need("reason", Shape::Text),
                    may("snapshot", Shape::Text),
                    need("cost", Shape::Number),
                    need("tokens", TOKENS),
                ],
            ),
            ("snapshot", &[ID, OF_SESSION, OF_MESSAGE, need("snapshot", Shape::Text)]),
            ("patch", &[ID, OF_SESSION, OF_MESSAGE, need("hash", Shape::Text), need("files", Shape::List(&Shape::Text))]),
            ("agent", &[ID, OF_SESSION, OF_MESSAGE, need("name", Shape::Text), may("source", AGENT_SOURCE)]),
            (
                "retry",
                &[ID, OF_SESSION, OF_MESSAGE, need("attempt", Shape::Count), need("error", Shape::Record), need("time", CREATED)],
            ),
            (
                "compaction",
                &[
                    ID,
                    OF_SESSION,
                    OF_MESSAGE,
                    need("auto", Shape::Bool),
                    may("overflow", Shape::Bool),
                    may("tail_start_id", Shape::Id("msg")),
                ],
            ),
        ],
    },
);

const OWN_ID: Field = may("id", Shape::Id("prt"));

/// A part of a prompt.
const PROMPT_PART: Shape = Shape::Tagged {
    name: None,
    tag: "type",
    variants: &[
        (
            "text",
            &[
                OWN_ID,
                need("text", Shape::Text),
                may("synthetic", Shape::Bool),
                may("ignored", Shape::Bool),
                may("time", SPAN),
                may("metadata", Shape::Record),
            ],
        ),
        (
            "file",
            &[OWN_ID, need("mime", Shape::Text), may("filename", Shape::Text), need("url", Shape::Text), may("source", SOURCE)],
        ),
        ("agent", &[OWN_ID, need("name", Shape::Text), may("source", AGENT_SOURCE)]),
        (
            "subtask",
            &[
                OWN_ID,
                need("prompt", Shape::Text),
                need("description", Shape::Text),
                need("agent", Shape::Text),
                may("model", MODEL),
                may("command", Shape::Text),
            ],
        ),
    ],
};

/// The body of a prompt.
pub(crate) const PROMPT: Shape = Shape::Object(&[
    may("messageID", Shape::Id("msg")),
    may("model", MODEL),
    may("agent", Shape::Text),
    may("noReply", Shape::Bool),
    may("tools", TOOLS),
    may("format", FORMAT),
    may("system", Shape::Text),
    may("variant", Shape::Text),
    need("parts", Shape::List(&PROMPT_PART)),
]);

pub(crate) const TODOS: Shape =
    Shape::List(&Shape::Object(&[need("content", Shape::Text), need("status", Shape::Text), need("priority", Shape::Text)]));

const PROJECT: Shape = Shape::Named(
    "Project",
    &Shape::Object(&[
        need("id", Shape::Text),
        need("worktree", Shape::Text),
        may("vcs", Shape::Words(&["git"])),
        may("name", Shape::Text),
        need("time", Shape::Object(&[need("created", Shape::Number), need("updated", Shape::Number)])),
        need("sandboxes", Shape::List(&Shape::Text)),
    ]),
);
pub(crate) const ONE_PROJECT: Shape = PROJECT;
pub(crate) const PROJECTS: Shape = Shape::List(&PROJECT);

pub(crate) const PATH: Shape = Shape::Named(
    "Path",
    &Shape::Object(&[
        need("home", Shape::Text),
        need("state", Shape::Text),
        need("config", Shape::Text),
        need("worktree", Shape::Text),
        need("directory", Shape::Text),
    ]),
);

pub(crate) const AGENTS: Shape = Shape::List(&Shape::Named(
    "Agent",
    &Shape::Object(&[
        need("name", Shape::Text),
        may("description", Shape::Text),
        need("mode", Shape::Words(&["subagent", "primary", "all"])),
        may("native", Shape::Bool),
        may("hidden", Shape::Bool),
        may("model", MODEL),
        may("variant", Shape::Text),
        need("permission", RULES),
        need("options", Shape::Record),
    ]),
));
