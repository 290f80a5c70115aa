//! A history of 6,400 messages, 24,000 parts and 41 MB, as a document of `opencode export`.

use serde_json::{Value, json};

/// Milliseconds between two messages, and the first one.
const START: u64 = 1_790_000_000_000;

pub(crate) const SESSION: &str = "ses_f0000000000000Large000000000";

/// The document's messages: `{info, parts}`.
pub(crate) fn messages(count: usize, provider: &str) -> Vec<Value> {
    let mut parts = 0;
    (0..count)
        .map(|index| {
            let id = format!("msg_0f{index:010x}00Large0000000000");
            let created = START + index as u64 * 1000;
            let mut part = |mut value: Value| {
                parts += 1;
                value["id"] = json!(format!("prt_0f{parts:010x}00Large0000000000"));
                value["sessionID"] = json!(SESSION);
                value["messageID"] = json!(id);
                value
            };
            if index % 2 == 0 {
                let info = json!({"id": id, "sessionID": SESSION, "role": "user", "time": {"created": created}, "agent": "build",
                    "model": {"providerID": provider, "modelID": "m1"}});
                return json!({"info": info, "parts": [part(json!({"type": "text", "text": prose(index, 300)}))]});
            }
            let info = json!({"id": id, "sessionID": SESSION, "role": "assistant", "time": {"created": created, "completed": created + 500},
                "parentID": format!("msg_0f{:010x}00Large0000000000", index - 1), "modelID": "m1", "providerID": provider, "mode": "build",
                "agent": "build", "path": {"cwd": "/p", "root": "/p"}, "cost": 0.01, "finish": "tool-calls",
                "tokens": {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}});
            let mut said = vec![
                part(json!({"type": "step-start"})),
                part(json!({"type": "reasoning", "text": prose(index, 900), "time": {"start": created, "end": created},
                    "metadata": {"anthropic": {"signature": "c2lnbmF0dXJl"}}})),
                part(json!({"type": "text", "text": prose(index, 1200)})),
            ];
            for call in 0..2 + usize::from(index % 4 == 1) {
                said.push(part(json!({"type": "tool", "callID": format!("call_{index}_{call}"), "tool": "read", "state": {
                    "status": "completed", "input": {"filePath": format!("/p/src/{index}.rs"), "note": prose(index, 200)},
                    "output": code(index, 4000), "title": "t", "metadata": {}, "time": {"start": created, "end": created}}})));
            }
            said.push(part(json!({"type": "step-finish", "reason": "tool-calls", "cost": 0.01,
                "tokens": {"input": 1, "output": 1, "reasoning": 0, "cache": {"read": 0, "write": 0}}})));
            json!({"info": info, "parts": said})
        })
        .collect()
}

fn fill(seed: usize, bytes: usize, lines: &[&str]) -> String {
    let mut out = format!("{seed}: ");
    let mut at = seed;
    while out.len() < bytes {
        out.push_str(lines[at % lines.len()]);
        at += 1;
    }
    out
}

fn prose(seed: usize, bytes: usize) -> String {
    fill(
        seed,
        bytes,
        &[
            "Words that explain what is to be done, at some length.\n",
            "A list: - é - “quoted” - 日本\n",
            "And a \"plain\" sentence. ",
        ],
    )
}

fn code(seed: usize, bytes: usize) -> String {
    fill(
        seed,
        bytes,
        &[
            "00042| \tlet value = \"text\\n\";\n",
            "00043| fn name(argument: &str) -> Result<(), Error> {\n",
            "00044| }\n",
            "00045| // a comment\n",
        ],
    )
}
