//! Any history at all gives a request that its provider accepts, and twice the same bytes.

use crate::support::{Case, body, conversation, model_of, models, stored};
use annalist_model::Request;
use annalist_model::describe::Protocol;
use annalist_model::neutral::{Settings, to_model_messages};
use annalist_model::rules::{Rule, check};
use annalist_model::wire::{Options, count};
use annalist_schema::Json;
use annalist_store::transcript::WithParts;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Stands for half a surrogate pair, which no Rust string holds; replaced in the JSON text.
const HALF: char = '\u{e000}';

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(vec!["", " ", "\n\t", "hello", "a \"quoted\" \\ line\nand \u{7} more", "é😀", "\u{feff}", "\u{85}"]).prop_map(str::to_owned),
        1 => Just(format!("cut {HALF}")),
        1 => Just(format!("{HALF}{HALF} both")),
        2 => "[ -~]{0,12}",
    ]
}

/// Any JSON, for fields that should be of a certain shape and are not.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text().prop_map(Value::from),
        Just(json!(1e300)),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((text(), inner), 0..3).prop_map(|pairs| Value::Object(Map::from_iter(pairs))),
        ]
    })
}

/// A field as it should be, or anything.
fn mostly(good: impl Strategy<Value = Value> + 'static) -> BoxedStrategy<Value> {
    prop_oneof![15 => good, 1 => anything()].boxed()
}

fn call_id() -> impl Strategy<Value = Value> {
    let known = vec!["", "call_1", "call_2", "c.1:x|y", "a|b", "a_b", "abcdefghi", "ünï", "a b", "call_1_1", "000000000"];
    prop_oneof![select(known).prop_map(Value::from), "[a-z_|.]{0,70}".prop_map(Value::from)]
}

fn tool_name() -> impl Strategy<Value = Value> {
    select(vec![
        "read",
        "bash",
        "",
        "mcp.server/tool",
        "7up",
        "名前",
        "a_name_that_goes_on_for_more_than_sixty_four_characters_in_all_of_its_length",
    ])
    .prop_map(Value::from)
}

fn metadata() -> impl Strategy<Value = Value> {
    let item = select(vec!["rs_1", "rs_2", "rs_3"]);
    prop_oneof![
        Just(json!({})),
        Just(json!({"anthropic": {"signature": "c2ln"}})),
        Just(json!({"anthropic": {"signature": ""}})),
        Just(json!({"anthropic": {"redactedData": "ZGF0YQ=="}})),
        (item, prop::option::of(select(vec!["ZW5j", "ZW5k"])))
            .prop_map(|(item, encrypted)| json!({"openai": {"itemId": item, "reasoningEncryptedContent": encrypted}})),
        Just(json!({"google": {"thoughtSignature": "c2ln"}})),
        Just(json!({"providerExecuted": true})),
        Just(json!({"providerExecuted": true, "openai": {"itemId": "ws_1"}})),
        Just(json!({"unknown": {"deep": [1, null]}})),
        anything(),
    ]
}

const PIXEL: &str =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

fn file() -> impl Strategy<Value = Value> {
    let mime = select(vec![
        "image/png",
        "image/jpeg",
        "image/*",
        "image/svg+xml",
        "image/bmp",
        "application/pdf",
        "text/plain",
        "text/csv",
        "application/json",
        "application/zip",
        "audio/wav",
        "audio/flac",
        "video/mp4",
        "application/x-directory",
        "",
        "image/png\"x",
    ]);
    let url = select(vec![
        PIXEL,
        "data:image/png;base64,",
        "data:,",
        "data:text/csv;base64,YSxi",
        "data:text/csv;base64,ICA=",
        "data:application/pdf;base64,JVBERi0xLjQKJUVPRgo=",
        "data:image/jpeg;base64,/9j/4AAQ",
        "data:image/png,%89PNG",
        "data:image/bmp;base64,Qk0=",
        "file:///tmp/x.png",
        "https://example.com/x.png",
        "",
        "gs://b/x",
        "data:audio/wav;base64,UklGRg==",
        "data:application/zip;base64,UEsDBA==",
        "data:image/svg+xml;base64,PHN2Zy8+",
        "data:text/html;base64,////",
    ]);
    (mostly(mime.prop_map(Value::from)), mostly(url.prop_map(Value::from)), prop::option::of(text()))
        .prop_map(|(mime, url, filename)| json!({"type": "file", "mime": mime, "url": url, "filename": filename}))
}

fn state() -> impl Strategy<Value = Value> {
    let input = mostly(prop_oneof![Just(json!({})), text().prop_map(|text| json!({"command": text})), anything()]);
    let status = mostly(select(vec!["pending", "running", "completed", "error", "later"]).prop_map(Value::from));
    let attachments = prop::option::weighted(0.4, prop::collection::vec(mostly(file()), 0..3));
    let interrupted = prop::option::of(text());
    (status, input, mostly(text().prop_map(Value::from)), attachments, interrupted, any::<bool>()).prop_map(
        |(status, input, output, attachments, printed, compacted)| {
            let time = if compacted { json!({"start": 1, "end": 2, "compacted": 3}) } else { json!({"start": 1, "end": 2}) };
            let metadata = printed.map(|output| json!({"interrupted": true, "output": output}));
            json!({"status": status, "input": input, "output": output, "error": output, "attachments": attachments, "time": time, "metadata": metadata})
        },
    )
}

fn part() -> impl Strategy<Value = Value> {
    let flag = || prop::option::weighted(0.2, any::<bool>());
    prop_oneof![
        4 => (mostly(text().prop_map(Value::from)), flag(), flag(), prop::option::weighted(0.3, metadata()))
            .prop_map(|(text, ignored, synthetic, metadata)| json!({"type": "text", "text": text, "ignored": ignored, "synthetic": synthetic, "metadata": metadata})),
        3 => (mostly(text().prop_map(Value::from)), metadata()).prop_map(|(text, metadata)| json!({"type": "reasoning", "text": text, "metadata": metadata})),
        4 => (mostly(call_id()), mostly(tool_name()), mostly(state()), prop::option::weighted(0.4, metadata()))
            .prop_map(|(id, tool, state, metadata)| json!({"type": "tool", "callID": id, "tool": tool, "state": state, "metadata": metadata})),
        2 => file(),
        2 => Just(json!({"type": "step-start"})),
        1 => Just(json!({"type": "step-finish"})),
        1 => Just(json!({"type": "compaction", "auto": true})),
        1 => Just(json!({"type": "subtask"})),
        1 => Just(json!({"type": "patch"})),
        1 => anything(),
    ]
}

/// The models that answered: mostly one that the tests ask, for what it signed goes back to none but itself.
fn answered_by() -> impl Strategy<Value = (&'static str, &'static str)> {
    select(vec![
        ("chat", "m1"),
        ("openai", "m1"),
        ("anthropic", "m1"),
        ("anthropic", "claude-x"),
        ("google", "m1"),
        ("google", "gemini-3-pro"),
        ("mistral", "mistral-x"),
        ("openrouter", "claude-x"),
        ("elsewhere", "m1"),
    ])
}

fn history(most: usize) -> impl Strategy<Value = Vec<WithParts>> {
    answered_by().prop_flat_map(move |usual| {
        let model = prop_oneof![5 => Just(usual), 1 => answered_by()];
        prop::collection::vec(message(model), 0..most)
    })
}

fn message(model: impl Strategy<Value = (&'static str, &'static str)>) -> impl Strategy<Value = WithParts> {
    let role = prop_oneof![5 => Just(json!("user")), 8 => Just(json!("assistant")), 1 => anything()];
    let error = prop_oneof![
        8 => Just(Value::Null),
        1 => Just(json!({"name": "MessageAbortedError"})),
        1 => Just(json!({"name": "APIError"})),
        1 => anything(),
    ];
    (role, error, model, prop::collection::vec(part(), 0..6)).prop_map(|(role, error, (provider, model), parts)| {
        let info = json!({"id": "msg_1", "role": role, "error": error, "providerID": provider, "modelID": model});
        let whole = stored(&info, &parts);
        let halves = |json: &Json<'_>| Json::parse(json.as_str().replace(HALF, "\\ud83d")).unwrap();
        WithParts { info: halves(&whole.info), parts: whole.parts.iter().map(halves).collect() }
    })
}

fn cases() -> ProptestConfig {
    // The long form: ANNALIST_LONG_TESTS=1 cargo test -p annalist-model --test it any_history
    let cases = if std::env::var_os("ANNALIST_LONG_TESTS").is_some() { 20_000 } else { 400 };
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn any_history_obeys_every_provider(history in history(7), strip_media: bool) {
        let settings = Settings { strip_media, ..Settings::default() };
        let case = Case::of(history);
        for model in models() {
            let (first, report) = body(&case, &model, &settings);
            let violations = check(&first, &model);
            prop_assert!(violations.is_empty(), "{} {}: {violations:?}\n{first}\n{report:?}", model.npm, model.api_id);
            let whole: Value = serde_json::from_str(&first).unwrap();
            prop_assert!(whole.is_object());
            let (second, again) = body(&case, &model, &settings);
            prop_assert_eq!(&first, &second);
            prop_assert_eq!(report, again);
            let request = Request::new([], case.texts(), &model, &settings);
            let counted = count(&request.messages, &model, &Options::default());
            prop_assert_eq!(counted.bytes, first.len() as u64);
            prop_assert_eq!(counted.units, first.encode_utf16().count() as u64);
        }
    }

    #[test]
    fn a_history_cut_anywhere_obeys_every_provider(history in history(5), start in 0..12_usize, length in 0..12_usize) {
        let settings = Settings::default();
        let case = Case::of(history);
        for model in models() {
            let all = to_model_messages(case.texts(), &model, &settings);
            let cut = all.into_iter().skip(start).take(length).collect();
            let request = Request::of(cut, &model, &settings);
            let mut bytes = Vec::new();
            request.write(&model, &Options::default(), &mut bytes).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            let violations = check(&text, &model);
            prop_assert!(violations.is_empty(), "{} {}: {violations:?}\n{text}", model.npm, model.api_id);
        }
    }

    /// What was sent stays the beginning of what is sent next, or the provider's cache would be lost with each question.
    #[test]
    fn a_history_that_goes_on_begins_as_it_did(history in history(6)) {
        let next = stored(&json!({"id": "msg_next", "role": "user"}), &[json!({"type": "text", "text": "and now"})]);
        let longer = Case::of(history.iter().cloned().chain([next]).collect());
        let case = Case::of(history);
        for protocol in [Protocol::Chat, Protocol::Responses] {
            let (before, report) = conversation(&case, &model_of(protocol), &Settings::default());
            let (after, _) = conversation(&longer, &model_of(protocol), &Settings::default());
            // Nothing at all is no beginning.
            if !report.repairs.iter().any(|repair| repair.rule == Rule::NoMessages) {
                prop_assert_eq!(&after[..before.len()], &before[..]);
                prop_assert_eq!(after.len(), before.len() + 1);
            }
        }
    }
}
