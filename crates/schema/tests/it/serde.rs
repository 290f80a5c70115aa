//! Serde, which other crates' types go through.

use crate::json::{Tree, strangers, with_strangers};
use crate::sample;
use annalist_schema::{Json, Part, Session};
use proptest::prelude::*;

/// A type of another crate that holds ours.
type Answer = (Session<'static>, Vec<Part<'static>>, Json<'static>);

proptest! {
    #[test]
    fn values_inside_of_other_types_are_untouched(which in 0..sample::PARTS.len(), strangers in strangers()) {
        let session = with_strangers(Tree::parse(sample::SESSION), &strangers).print();
        let part = with_strangers(Tree::parse(sample::PARTS[which]), &strangers).print();
        let text = format!("[{session},[{part},{part}],{part}]");
        let answer: Answer = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(answer.1[0].wire_name(), Part::parse(&part).unwrap().wire_name());
        prop_assert_eq!(serde_json::to_string(&answer).unwrap(), text);
    }
}

#[test]
fn nesting_is_not_limited() {
    for depth in [1_000, 100_000] {
        let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let text = format!(r#"{{"type":"text","text":"a","metadata":{{"deep":{deep}}},"x":{deep}}}"#);
        let part: Part<'static> = serde_json::from_str(&text).unwrap();
        assert_eq!(part.problems(), []);
        assert_eq!(serde_json::to_string(&part).unwrap(), text);
        assert_eq!(part.object().get("x").unwrap().depth(), depth);
    }
}

#[test]
fn what_is_no_object_is_refused() {
    for text in ["1", "[]", "\"type\"", "null", "{", ""] {
        assert!(serde_json::from_str::<Part<'static>>(text).is_err(), "{text}");
    }
}
