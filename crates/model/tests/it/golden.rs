//! The conversation of each recorded history, for each protocol, beside what the reference sent.

use crate::support::{Case, conversation, expected, model_of, names, same};
use annalist_model::describe::Protocol;
use annalist_model::neutral::Settings;

/// Without our repairs the conversation is the recorded one, wherever the reference got as far as a request.
#[test]
fn without_repairs_it_is_what_the_reference_sends() {
    let as_reference = Settings { as_reference: true, ..Settings::default() };
    let (mut equal, mut failed, mut differing) = (0, 0, Vec::new());
    for name in names() {
        for protocol in Protocol::ALL {
            let Some(expected) = expected(&name, protocol) else {
                failed += 1;
                continue;
            };
            let case = Case::read(&name, protocol);
            let (ours, _) = conversation(&case, &model_of(protocol), &as_reference);
            match same(&ours, &expected) {
                Ok(()) => equal += 1,
                Err(why) => differing.push(format!("{name} {protocol:?}: {why}")),
            }
        }
    }
    println!("{equal} equal, {failed} without a request of the reference");
    assert!(differing.is_empty(), "{}\n{} differ", differing.join("\n"), differing.len());
}
