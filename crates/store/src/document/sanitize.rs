//! Placeholders for everything a person, a model or a tool wrote.
//!
//! The reference redacts the fields its authors thought of (reference-storage 7.3) and leaves others, tool errors and
//! metadata among them. Here it is the other way round: every text is replaced unless a table below says what it is good for.
//! Where the reference has a placeholder, ours is the same.

use annalist_schema::Json;
use annalist_schema::raw::{Kind, Object};

/// What happens to a field.
enum Rule {
    /// An id, a name of a tool, agent or model, or another word that says nothing of the work.
    Keep,
    /// A text becomes `[redacted:KIND:ID]`, an object `{"redacted":"KIND:ID"}`.
    Hide(&'static str),
    /// A list of texts: `[redacted:KIND:ID-INDEX]`.
    HideEach(&'static str),
    /// A map whose texts are replaced, its keys and its shape staying.
    HideValues(&'static str),
    /// An object with rules of its own.
    Inside(Table),
    /// A list of objects; their place in the list is their id.
    EachByIndex(Table),
    /// A list of parts with ids of their own.
    EachPart,
}

type Table = &'static [(&'static str, Rule)];

const NUMBERS: Table = &[];
const TOKENS: Table = &[("cache", Rule::Inside(NUMBERS))];
const MODEL: Table = &[("id", Rule::Keep), ("providerID", Rule::Keep), ("modelID", Rule::Keep), ("variant", Rule::Keep)];

const ERROR: Table = &[
    ("name", Rule::Keep),
    (
        "data",
        Rule::Inside(&[
            ("providerID", Rule::Keep),
            ("message", Rule::Hide("error-message")),
            ("responseBody", Rule::Hide("error-body")),
            ("responseHeaders", Rule::HideValues("error-header")),
            ("metadata", Rule::HideValues("error-metadata")),
        ]),
    ),
];

const SESSION: Table = &[
    ("id", Rule::Keep),
    ("slug", Rule::Keep),
    ("projectID", Rule::Keep),
    ("workspaceID", Rule::Keep),
    ("parentID", Rule::Keep),
    ("agent", Rule::Keep),
    ("model", Rule::Inside(MODEL)),
    ("version", Rule::Keep),
    ("title", Rule::Hide("session-title")),
    ("directory", Rule::Hide("session-directory")),
    ("path", Rule::Hide("session-path")),
    (
        "summary",
        Rule::Inside(&[(
            "diffs",
            Rule::EachByIndex(&[
                ("file", Rule::Hide("session-diff-file")),
                ("patch", Rule::Hide("session-diff-patch")),
                ("status", Rule::Keep),
            ]),
        )]),
    ),
    ("tokens", Rule::Inside(TOKENS)),
    ("share", Rule::Inside(&[("url", Rule::Hide("session-share"))])),
    ("metadata", Rule::Hide("session-metadata")),
    (
        "permission",
        Rule::EachByIndex(&[("permission", Rule::Keep), ("action", Rule::Keep), ("pattern", Rule::Hide("session-permission"))]),
    ),
    (
        "revert",
        Rule::Inside(&[
            ("messageID", Rule::Keep),
            ("partID", Rule::Keep),
            ("snapshot", Rule::Hide("revert-snapshot")),
            ("diff", Rule::Hide("revert-diff")),
        ]),
    ),
    ("time", Rule::Inside(NUMBERS)),
];

const MESSAGE: Table = &[
    ("id", Rule::Keep),
    ("sessionID", Rule::Keep),
    ("role", Rule::Keep),
    ("parentID", Rule::Keep),
    ("agent", Rule::Keep),
    ("mode", Rule::Keep),
    ("model", Rule::Inside(MODEL)),
    ("modelID", Rule::Keep),
    ("providerID", Rule::Keep),
    ("variant", Rule::Keep),
    ("finish", Rule::Keep),
    // Names of tools and whether they are on: a map of another shape would not be taken back.
    ("tools", Rule::Keep),
    ("time", Rule::Inside(NUMBERS)),
    ("tokens", Rule::Inside(TOKENS)),
    ("system", Rule::Hide("system")),
    ("format", Rule::Inside(&[("type", Rule::Keep), ("schema", Rule::Hide("format-schema"))])),
    (
        "summary",
        Rule::Inside(&[
            ("title", Rule::Hide("summary-title")),
            ("body", Rule::Hide("summary-body")),
            (
                "diffs",
                Rule::EachByIndex(&[
                    ("file", Rule::Hide("message-diff-file")),
                    ("patch", Rule::Hide("message-diff-patch")),
                    ("status", Rule::Keep),
                ]),
            ),
        ]),
    ),
    ("path", Rule::Inside(&[("cwd", Rule::Hide("cwd")), ("root", Rule::Hide("root"))])),
    ("error", Rule::Inside(ERROR)),
    ("structured", Rule::Hide("structured")),
    ("metadata", Rule::Hide("message-metadata")),
];

/// Fields of every part.
const PART: Table = &[
    ("id", Rule::Keep),
    ("sessionID", Rule::Keep),
    ("messageID", Rule::Keep),
    ("type", Rule::Keep),
    ("time", Rule::Inside(NUMBERS)),
    ("tokens", Rule::Inside(TOKENS)),
    ("snapshot", Rule::Hide("snapshot")),
];

/// Fields by part type. A type that is not listed keeps those of [`PART`] and nothing else.
const PARTS: &[(&str, Table)] = &[
    ("text", &[("text", Rule::Hide("text")), ("metadata", Rule::Hide("text-metadata"))]),
    ("reasoning", &[("text", Rule::Hide("reasoning")), ("metadata", Rule::Hide("reasoning-metadata"))]),
    (
        "file",
        &[
            ("mime", Rule::Keep),
            ("url", Rule::Hide("file-url")),
            ("filename", Rule::Hide("file-name")),
            (
                "source",
                Rule::Inside(&[
                    ("type", Rule::Keep),
                    ("text", Rule::Inside(&[("value", Rule::Hide("file-text"))])),
                    ("path", Rule::Hide("file-path")),
                    ("name", Rule::Hide("file-symbol")),
                    ("clientName", Rule::Hide("file-client")),
                    ("uri", Rule::Hide("file-uri")),
                    ("range", Rule::Inside(&[("start", Rule::Inside(NUMBERS)), ("end", Rule::Inside(NUMBERS))])),
                ]),
            ),
        ],
    ),
    (
        "tool",
        &[
            ("callID", Rule::Keep),
            ("tool", Rule::Keep),
            ("metadata", Rule::Hide("tool-metadata")),
            (
                "state",
                Rule::Inside(&[
                    ("status", Rule::Keep),
                    ("input", Rule::Hide("tool-input")),
                    ("raw", Rule::Hide("tool-raw")),
                    ("title", Rule::Hide("tool-title")),
                    ("output", Rule::Hide("tool-output")),
                    ("error", Rule::Hide("tool-error")),
                    ("metadata", Rule::Hide("tool-state-metadata")),
                    ("time", Rule::Inside(NUMBERS)),
                    ("attachments", Rule::EachPart),
                ]),
            ),
        ],
    ),
    ("agent", &[("name", Rule::Keep), ("source", Rule::Inside(&[("value", Rule::Hide("agent-source"))]))]),
    (
        "subtask",
        &[
            ("agent", Rule::Keep),
            ("model", Rule::Inside(MODEL)),
            ("prompt", Rule::Hide("subtask-prompt")),
            ("description", Rule::Hide("subtask-description")),
            ("command", Rule::Hide("subtask-command")),
        ],
    ),
    ("step-finish", &[("reason", Rule::Keep)]),
    ("patch", &[("hash", Rule::Hide("patch")), ("files", Rule::HideEach("patch-file"))]),
    ("retry", &[("error", Rule::Inside(ERROR))]),
    ("compaction", &[("tail_start_id", Rule::Keep)]),
];

/// A session's info without its texts.
pub(super) fn session(info: Json<'static>) -> Json<'static> {
    whole(info, "session", |_| &[], SESSION)
}

/// A message's info without its texts.
pub(super) fn message(info: Json<'static>) -> Json<'static> {
    whole(info, "message", |_| &[], MESSAGE)
}

/// A part without its texts.
pub(super) fn part(part: Json<'static>) -> Json<'static> {
    whole(part, "part", by_type, PART)
}

fn by_type(part: &Object<'_>) -> Table {
    let kind = part.text("type").unwrap_or_default();
    PARTS.iter().find(|(name, _)| *name == kind).map_or(&[], |(_, table)| table)
}

fn whole(json: Json<'static>, what: &str, special: fn(&Object<'_>) -> Table, common: Table) -> Json<'static> {
    let Some(object) = json.as_object() else { return hide(&json, what, "") };
    let id = object.text("id").unwrap_or_default();
    inside(&object, &[special(&object), common], what, &id).into()
}

fn inside(object: &Object<'_>, tables: &[Table], what: &str, id: &str) -> Object<'static> {
    let mut clean = Object::new();
    for entry in object.entries() {
        let key = entry.key();
        let rule = tables.iter().flat_map(|table| table.iter()).find(|(name, _)| *name == key).map(|(_, rule)| rule);
        let value = entry.value();
        clean.set(
            &key,
            match rule {
                Some(Rule::Keep) => value.clone().into_static(),
                Some(Rule::Hide(kind)) => hide(value, kind, id),
                Some(Rule::HideEach(kind)) => list(value, kind, id, |index, item| hide(item, kind, &format!("{id}-{index}"))),
                Some(Rule::HideValues(kind)) => values(value, kind, id),
                Some(Rule::Inside(table)) => match value.as_object() {
                    Some(object) => inside(&object, &[table], what, id).into(),
                    None => hide(value, &format!("{what}-{key}"), id),
                },
                Some(Rule::EachByIndex(table)) => list(value, what, id, |index, item| match item.as_object() {
                    Some(object) => inside(&object, &[table], what, &index.to_string()).into(),
                    None => hide(item, &format!("{what}-{key}"), id),
                }),
                Some(Rule::EachPart) => list(value, what, id, |_, item| part(item.clone().into_static())),
                None => hide(value, &format!("{what}-{key}"), id),
            },
        );
    }
    clean
}

/// The placeholder of a value. Blank texts, empty objects, numbers and booleans say nothing and stay.
fn hide(value: &Json<'_>, kind: &str, id: &str) -> Json<'static> {
    match value.kind() {
        Kind::String if value.as_text().is_some_and(|text| !text.trim().is_empty()) => {
            Json::text(&format!("[redacted:{kind}:{id}]"))
        }
        Kind::Object if value.as_object().is_some_and(|object| !object.is_empty()) => {
            let mut clean = Object::new();
            clean.set_text("redacted", &format!("{kind}:{id}"));
            clean.into()
        }
        // A list in a list is hidden whole: how deep it goes must not matter.
        Kind::Array => list(value, kind, id, |_, item| match item.kind() {
            Kind::Array => Json::text(&format!("[redacted:{kind}:{id}]")),
            _ => hide(item, kind, id),
        }),
        _ => value.clone().into_static(),
    }
}

fn list(value: &Json<'_>, kind: &str, id: &str, each: impl Fn(usize, &Json<'_>) -> Json<'static>) -> Json<'static> {
    let Some(items) = value.as_array() else { return hide(value, kind, id) };
    let items = items.iter().enumerate().map(|(index, item)| each(index, item).into_text().into_owned()).collect::<Vec<_>>();
    // Joined from whole values, so it is one.
    Json::parse(format!("[{}]", items.join(","))).unwrap_or_else(|_| Json::null())
}

fn values(value: &Json<'_>, kind: &str, id: &str) -> Json<'static> {
    let Some(object) = value.as_object() else { return hide(value, kind, id) };
    let mut clean = Object::new();
    for entry in object.entries() {
        clean.set(&entry.key(), hide(entry.value(), kind, id));
    }
    clean.into()
}
