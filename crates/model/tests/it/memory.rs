//! A request is written from the stored texts themselves: there is no second copy of them.

use crate::large;
use crate::support::{Case, models, stored};
use annalist_model::Request;
use annalist_model::neutral::Settings;
use annalist_model::wire::Options;
use std::io::{self, Write};
use std::ops::Range;

/// Counts what it is given from the stored texts and from elsewhere.
struct Sources {
    stored: Vec<Range<usize>>,
    from_stored: usize,
    from_elsewhere: usize,
    largest_from_elsewhere: usize,
}

impl Write for Sources {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let at = bytes.as_ptr() as usize;
        let before = self.stored.partition_point(|range| range.start <= at);
        if before > 0 && self.stored[before - 1].contains(&at) {
            self.from_stored += bytes.len();
        } else {
            self.from_elsewhere += bytes.len();
            self.largest_from_elsewhere = self.largest_from_elsewhere.max(bytes.len());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn texts_go_from_where_they_are_stored_to_the_writer() {
    let long = "a line of \"text\" \\ with escapes é\n".repeat(2000);
    let anthropic = serde_json::json!({"anthropic": {"signature": "c2ln"}});
    let mut history: Vec<_> = large::messages(20, "anthropic")
        .iter()
        .map(|message| stored(&message["info"], message["parts"].as_array().unwrap()))
        .collect();
    // Pieces beyond the writer's buffer show where they come from.
    for index in 0..40 {
        let user = serde_json::json!({"id": format!("msg_u{index}"), "role": "user"});
        history.push(stored(&user, &[serde_json::json!({"id": "prt_u", "type": "text", "text": long})]));
        let info = serde_json::json!({"id": format!("msg_a{index}"), "role": "assistant", "providerID": "anthropic", "modelID": "claude-x"});
        let state = serde_json::json!({"status": "completed", "input": {}, "output": long, "time": {}});
        history.push(stored(
            &info,
            &[
                serde_json::json!({"id": "prt_r", "type": "reasoning", "text": long, "metadata": anthropic}),
                serde_json::json!({"id": "prt_t", "type": "text", "text": long}),
                serde_json::json!({"id": "prt_c", "type": "tool", "callID": format!("c{index}"), "tool": "read", "state": state}),
            ],
        ));
    }
    history.push(stored(
        &serde_json::json!({"id": "msg_z", "role": "user"}),
        &[serde_json::json!({"id": "prt_z", "type": "text", "text": "go on"})],
    ));
    let case = Case::of(history);
    let texts = || case.messages.iter().flat_map(|message| message.parts.iter().map(|part| part.as_str()));
    let mut ranges: Vec<Range<usize>> = texts().map(|text| text.as_ptr() as usize..text.as_ptr() as usize + text.len()).collect();
    ranges.sort_by_key(|range| range.start);
    for model in models() {
        let request = Request::new([], case.texts(), &model, &Settings::default());
        let mut sources = Sources { stored: ranges.clone(), from_stored: 0, from_elsewhere: 0, largest_from_elsewhere: 0 };
        request.write(&model, &Options::default(), &mut sources).unwrap();
        let all = sources.from_stored + sources.from_elsewhere;
        assert!(all > 10_000_000, "{all}");
        // The rest is small pieces, which a buffer of 16 KiB gathers.
        assert!(sources.from_elsewhere * 50 < all, "{} {}: {} of {all}", model.npm, model.api_id, sources.from_elsewhere);
        assert!(sources.largest_from_elsewhere <= 16 * 1024, "{}", sources.largest_from_elsewhere);
    }
}
