//! What is not understood survives: at every level, in its order and spelling.

use crate::json::{Tree, strangers, tree, with_strangers};
use crate::sample;
use annalist_schema::event::{DurableEvent, Event, EventFrame, GlobalFrame, Payload, SyncEvent, SyncPayload};
use annalist_schema::part::{FileSource, ToolState};
use annalist_schema::{Field, Json, Message, MessageError, Object, Part, PassingEvent, Problem, Session};
use proptest::prelude::*;

/// Reads fields and writes them back as they are, which sends them through their types.
macro_rules! rewrite {
    ($view:expr, required: $($get:ident / $set:ident),*) => { $(
        let value = $view.$get()?.to_json();
        $view.$set(Field::read(value.borrowed()).unwrap());
    )* };
    ($view:expr, optional: $($get:ident / $set:ident),*) => { $(
        if let Some(value) = $view.$get()?.map(|value| value.to_json()) {
            $view.$set(Some(Field::read(value.borrowed()).unwrap()));
        }
    )* };
}

/// Sends one nested view through its own rewriting and puts it back.
macro_rules! within {
    ($view:expr, $get:ident / $set:ident, $inner:ident => $body:block) => {{
        let mut $inner = $view.$get()?.into_static();
        $body
        $view.$set($inner);
    }};
    ($view:expr, option $get:ident / $set:ident, $inner:ident => $body:block) => {
        if let Some(inner) = $view.$get()? {
            let mut $inner = inner.into_static();
            $body
            $view.$set(Some($inner));
        }
    };
}

fn rewrite_part(part: &mut Part<'static>) -> Result<(), Problem> {
    match part {
        Part::Text(part) => {
            rewrite!(part, required: text / set_text);
            rewrite!(part, optional: synthetic / set_synthetic, ignored / set_ignored, metadata / set_metadata);
            within!(part, option time / set_time, time => {
                rewrite!(time, required: start / set_start);
                rewrite!(time, optional: end / set_end);
            });
        }
        Part::Reasoning(part) => {
            rewrite!(part, required: text / set_text, time / set_time);
            rewrite!(part, optional: metadata / set_metadata);
        }
        Part::File(part) => {
            rewrite!(part, required: mime / set_mime, url / set_url);
            rewrite!(part, optional: filename / set_filename);
            within!(part, option source / set_source, source => {
                match &mut source {
                    FileSource::File(source) => { rewrite!(source, required: text / set_text, path / set_path); }
                    FileSource::Symbol(source) => {
                        rewrite!(source, required: text / set_text, path / set_path, name / set_name, kind / set_kind);
                        within!(source, range / set_range, range => {
                            within!(range, start / set_start, at => { rewrite!(at, required: line / set_line, character / set_character); });
                            rewrite!(range, required: end / set_end);
                        });
                    }
                    FileSource::Resource(source) => {
                        rewrite!(source, required: client_name / set_client_name, uri / set_uri);
                        within!(source, text / set_text, text => { rewrite!(text, required: value / set_value, start / set_start, end / set_end); });
                    }
                    _ => panic!("a source of the samples is unknown"),
                }
            });
        }
        Part::Tool(part) => {
            rewrite!(part, required: call_id / set_call_id, tool / set_tool);
            rewrite!(part, optional: metadata / set_metadata);
            within!(part, state / set_state, state => {
                match &mut state {
                    ToolState::Pending(state) => { rewrite!(state, required: input / set_input, raw / set_raw); }
                    ToolState::Running(state) => {
                        rewrite!(state, required: input / set_input);
                        rewrite!(state, optional: title / set_title, metadata / set_metadata);
                        within!(state, time / set_time, time => { rewrite!(time, required: start / set_start); });
                    }
                    ToolState::Completed(state) => {
                        rewrite!(state, required: input / set_input, output / set_output, title / set_title, metadata / set_metadata);
                        rewrite!(state, optional: attachments / set_attachments);
                        within!(state, time / set_time, time => {
                            rewrite!(time, required: start / set_start, end / set_end);
                            rewrite!(time, optional: compacted / set_compacted);
                        });
                    }
                    ToolState::Error(state) => {
                        rewrite!(state, required: input / set_input, error / set_error, time / set_time);
                        rewrite!(state, optional: metadata / set_metadata);
                    }
                    _ => panic!("a state of the samples is unknown"),
                }
            });
        }
        Part::Agent(part) => {
            rewrite!(part, required: name / set_name);
            rewrite!(part, optional: source / set_source);
        }
        Part::Subtask(part) => {
            rewrite!(part, required: prompt / set_prompt, description / set_description, agent / set_agent);
            rewrite!(part, optional: model / set_model, command / set_command);
        }
        Part::StepStart(part) => {
            rewrite!(part, optional: snapshot / set_snapshot);
        }
        Part::StepFinish(part) => {
            rewrite!(part, required: reason / set_reason, cost / set_cost);
            rewrite!(part, optional: snapshot / set_snapshot);
            within!(part, tokens / set_tokens, tokens => {
                rewrite!(tokens, required: input / set_input, output / set_output, reasoning / set_reasoning);
                rewrite!(tokens, optional: total / set_total);
                within!(tokens, cache / set_cache, cache => { rewrite!(cache, required: read / set_read, write / set_write); });
            });
        }
        Part::Snapshot(part) => {
            rewrite!(part, required: snapshot / set_snapshot);
        }
        Part::Patch(part) => {
            rewrite!(part, required: hash / set_hash, files / set_files);
        }
        Part::Retry(part) => {
            rewrite!(part, required: attempt / set_attempt, time / set_time);
            within!(part, error / set_error, error => {
                within!(error, data / set_data, data => { rewrite_api(&mut data)?; });
            });
        }
        Part::Compaction(part) => {
            rewrite!(part, required: auto / set_auto);
            rewrite!(part, optional: overflow / set_overflow, tail_start_id / set_tail_start_id);
        }
        _ => panic!("a part of the samples is unknown"),
    }
    Ok(())
}

fn rewrite_api(data: &mut annalist_schema::message::ApiErrorData<'static>) -> Result<(), Problem> {
    rewrite!(data, required: message / set_message, is_retryable / set_is_retryable);
    rewrite!(data, optional: status_code / set_status_code, response_headers / set_response_headers);
    rewrite!(data, optional: response_body / set_response_body, metadata / set_metadata);
    Ok(())
}

fn rewrite_message(message: &mut Message<'static>) -> Result<(), Problem> {
    match message {
        Message::User(message) => {
            rewrite!(message, required: agent / set_agent, model / set_model);
            rewrite!(message, optional: format / set_format, system / set_system, tools / set_tools);
            within!(message, time / set_time, time => { rewrite!(time, required: created / set_created); });
            within!(message, option summary / set_summary, summary => {
                rewrite!(summary, optional: title / set_title, body / set_body, diffs / set_diffs);
            });
        }
        Message::Assistant(message) => {
            rewrite!(message, required: parent_id / set_parent_id, model_id / set_model_id, provider_id / set_provider_id);
            rewrite!(message, required: agent / set_agent, path / set_path, cost / set_cost, tokens / set_tokens, time / set_time);
            rewrite!(message, optional: mode / set_mode, summary / set_summary, structured / set_structured);
            rewrite!(message, optional: variant / set_variant, finish / set_finish);
            within!(message, option error / set_error, error => { rewrite_error(&mut error)?; });
        }
        _ => panic!("a role of the samples is unknown"),
    }
    Ok(())
}

fn rewrite_error(error: &mut MessageError<'static>) -> Result<(), Problem> {
    match error {
        MessageError::ProviderAuth(error) => {
            within!(error, data / set_data, data => { rewrite!(data, required: provider_id / set_provider_id, message / set_message); });
        }
        MessageError::UnknownError(error) => {
            within!(error, data / set_data, data => {
                rewrite!(data, required: message / set_message);
                rewrite!(data, optional: reference / set_reference);
            });
        }
        MessageError::Api(error) => {
            within!(error, data / set_data, data => { rewrite_api(&mut data)?; });
        }
        other => {
            let data = other.object().get("data").unwrap().borrowed().into_static();
            other.object_mut().set("data", data);
        }
    }
    Ok(())
}

fn rewrite_session(session: &mut Session<'static>) -> Result<(), Problem> {
    rewrite!(session, required: id / set_id, slug / set_slug, project_id / set_project_id, directory / set_directory);
    rewrite!(session, required: title / set_title, version / set_version);
    rewrite!(session, optional: workspace_id / set_workspace_id, path / set_path, parent_id / set_parent_id, cost / set_cost);
    rewrite!(session, optional: tokens / set_tokens, agent / set_agent, metadata / set_metadata, permission / set_permission);
    within!(session, option summary / set_summary, summary => {
        rewrite!(summary, required: additions / set_additions, deletions / set_deletions, files / set_files);
        rewrite!(summary, optional: diffs / set_diffs);
    });
    within!(session, option share / set_share, share => { rewrite!(share, required: url / set_url); });
    within!(session, option model / set_model, model => { rewrite!(model, required: id / set_id); });
    within!(session, time / set_time, time => {
        rewrite!(time, required: created / set_created, updated / set_updated);
        rewrite!(time, optional: compacting / set_compacting, archived / set_archived);
    });
    within!(session, option revert / set_revert, revert => {
        rewrite!(revert, required: message_id / set_message_id);
        rewrite!(revert, optional: part_id / set_part_id, snapshot / set_snapshot, diff / set_diff);
    });
    Ok(())
}

proptest! {
    #[test]
    fn any_value_goes_through_untouched(value in tree()) {
        let text = value.print();
        let json = Json::parse(text.as_str()).unwrap();
        prop_assert_eq!(json.as_str(), &text);
        if let Some(object) = json.as_object() {
            prop_assert_eq!(object.to_text(), text.clone());
            prop_assert_eq!(object.into_static().to_text(), text.clone());
        }
        let mut pretty = Vec::new();
        annalist_schema::raw::write_pretty(&text, 0, &mut pretty).unwrap();
        prop_assert_eq!(Tree::parse(std::str::from_utf8(&pretty).unwrap()), value);
    }

    #[test]
    fn strangers_survive_in_parts(which in 0..sample::PARTS.len(), strangers in strangers()) {
        let text = with_strangers(Tree::parse(sample::PARTS[which]), &strangers).print();
        let mut part = Part::parse(&text).unwrap().into_static();
        prop_assert_eq!(part.to_text(), text.clone());
        rewrite_part(&mut part).unwrap();
        prop_assert_eq!(part.to_text(), text);
    }

    #[test]
    fn strangers_survive_in_messages(which in 0..sample::MESSAGES.len(), strangers in strangers()) {
        let text = with_strangers(Tree::parse(sample::MESSAGES[which]), &strangers).print();
        let mut message = Message::parse(&text).unwrap().into_static();
        prop_assert_eq!(message.to_text(), text.clone());
        rewrite_message(&mut message).unwrap();
        prop_assert_eq!(message.to_text(), text);
    }

    #[test]
    fn strangers_survive_in_errors(which in 0..sample::ERRORS.len(), strangers in strangers()) {
        let text = with_strangers(Tree::parse(sample::ERRORS[which]), &strangers).print();
        let mut error = MessageError::parse(&text).unwrap().into_static();
        prop_assert_eq!(error.to_text(), text.clone());
        rewrite_error(&mut error).unwrap();
        prop_assert_eq!(error.to_text(), text);
    }

    #[test]
    fn strangers_survive_in_sessions(strangers in strangers()) {
        let text = with_strangers(Tree::parse(sample::SESSION), &strangers).print();
        let mut session = Session::parse(&text).unwrap().into_static();
        prop_assert_eq!(session.to_text(), text.clone());
        rewrite_session(&mut session).unwrap();
        prop_assert_eq!(session.to_text(), text);
    }

    #[test]
    fn strangers_survive_in_events(which in 0..sample::events().len(), strangers in strangers()) {
        let (event_type, sound) = sample::events().swap_remove(which);
        let text = with_strangers(Tree::parse(&sound), &strangers).print();
        let event = Event::from_type(event_type, Object::parse(&text).unwrap());
        prop_assert_eq!(event.event_type(), event_type);
        prop_assert_eq!(event.data().to_text(), text.clone());

        // Through the three things that events are wrapped in.
        let frame = EventFrame::new("evt_1", &event);
        prop_assert_eq!(frame.event().unwrap().data().to_text(), text.clone());
        let mut global = GlobalFrame::default();
        global.set_payload(Payload::Event(frame));
        let global = global.to_text();
        let global = GlobalFrame::parse(&global).unwrap();
        let Payload::Event(frame) = global.payload().unwrap() else { panic!("an event became a sync payload") };
        prop_assert_eq!(frame.event().unwrap().into_static().data().to_text(), text.clone());
        if let Event::Durable(event) = event {
            let payload = SyncPayload::new(SyncEvent::new("evt_1", 7, "ses_1", &event)).to_text();
            let payload = SyncPayload::parse(&payload).unwrap();
            let sync = payload.sync_event().unwrap();
            prop_assert_eq!(sync.seq().unwrap(), 7);
            prop_assert_eq!(sync.event().unwrap().data().to_text(), text);
        }
    }

    #[test]
    fn unknown_kinds_survive(strangers in strangers(), value in tree()) {
        let tree = Tree::Object(vec![("\"type\"".to_owned(), Tree::Scalar("\"later\"".to_owned())), ("\"x\"".to_owned(), value)]);
        let text = with_strangers(tree, &strangers).print();
        let part = Part::parse(&text).unwrap();
        prop_assert!(matches!(part, Part::Unknown(_)));
        prop_assert_eq!(part.clone().into_static().to_text(), text.clone());
        prop_assert_eq!(part.problems().len(), 1);
        let event = DurableEvent::from_versioned("session.next.prompted.1", Object::parse(&text).unwrap());
        prop_assert_eq!(event.versioned_type(), "session.next.prompted.1");
        prop_assert_eq!(event.into_static().into_data().to_text(), text.clone());
        let event = PassingEvent::from_type("later.told", Object::parse(&text).unwrap());
        prop_assert_eq!(event.into_static().into_data().to_text(), text);
    }

    #[test]
    fn setting_one_field_changes_that_field(which in 0..sample::PARTS.len(), strangers in strangers()) {
        let mut tree = with_strangers(Tree::parse(sample::PARTS[which]), &strangers);
        let text = tree.print();
        let mut part = Part::parse(&text).unwrap();
        let changed = match &mut part {
            Part::Text(part) => {
                part.set_text("new \"text\"\n".into());
                Some(("text", r#""new \"text\"\n""#))
            }
            Part::Tool(part) => match part.state().unwrap().into_static() {
                ToolState::Completed(mut state) => {
                    let mut time = state.time().unwrap().into_static();
                    time.set_end(99);
                    state.set_time(time);
                    part.set_state(state.into());
                    Some(("state.time.end", "99"))
                }
                ToolState::Running(mut state) => {
                    state.set_title(Some("new".into()));
                    part.set_state(state.into());
                    Some(("state.title", r#""new""#))
                }
                _ => None,
            },
            Part::StepFinish(part) => {
                let mut tokens = part.tokens().unwrap().into_static();
                let mut cache = tokens.cache().unwrap().into_static();
                cache.set_read(77.into());
                tokens.set_cache(cache);
                part.set_tokens(tokens);
                Some(("tokens.cache.read", "77"))
            }
            _ => None,
        };
        if let Some((path, value)) = changed {
            *tree.at(path) = Tree::Scalar(value.to_owned());
        }
        prop_assert_eq!(part.to_text(), tree.print());
    }

    #[test]
    fn layout_and_key_spelling_do_not_matter(strangers in strangers()) {
        let tree = with_strangers(Tree::parse(sample::SESSION), &strangers);
        let mut pretty = Vec::new();
        annalist_schema::raw::write_pretty(&tree.print(), 0, &mut pretty).unwrap();
        let pretty = String::from_utf8(pretty).unwrap().replacen("\"title\"", "\"\\u0074itle\"", 1);
        let session = Session::parse(&pretty).unwrap();
        prop_assert_eq!(&*session.title().unwrap(), "t");
        prop_assert_eq!(Tree::parse(&session.to_text()), Tree::parse(&pretty));
    }
}

#[test]
fn the_last_of_two_equal_keys_counts_and_both_are_written() {
    let text = r#"{"type":"text","text":"first","x":1,"text":"last","x":2}"#;
    let mut part = Part::parse(text).unwrap();
    assert_eq!(part.to_text(), text);
    let Part::Text(view) = &mut part else { panic!("not a text part") };
    assert_eq!(view.text().unwrap(), "last");
    view.set_text("new".into());
    assert_eq!(view.text().unwrap(), "new");
    assert_eq!(part.to_text(), r#"{"type":"text","text":"new","x":1,"x":2}"#);
}

#[test]
fn optional_fields_come_and_go() {
    let mut part = Part::parse(r#"{"type":"step-start","x":1}"#).unwrap();
    let Part::StepStart(view) = &mut part else { panic!("not a step-start part") };
    view.set_snapshot(Some("abc".into()));
    assert_eq!(view.to_text(), r#"{"type":"step-start","x":1,"snapshot":"abc"}"#);
    view.set_snapshot(None);
    assert_eq!(view.to_text(), r#"{"type":"step-start","x":1}"#);
}

#[test]
fn the_samples_are_sound() {
    for text in sample::PARTS {
        let part = Part::parse(text).unwrap();
        assert_eq!(part.problems(), [], "{text}");
        assert_eq!(part.tag().as_deref(), part.wire_name());
    }
    for text in sample::MESSAGES {
        assert_eq!(Message::parse(text).unwrap().problems(), [], "{text}");
    }
    for text in sample::ERRORS {
        assert_eq!(MessageError::parse(text).unwrap().problems(), [], "{text}");
    }
    assert_eq!(Session::parse(sample::SESSION).unwrap().problems(), []);
    let mut types = Vec::new();
    for (event_type, text) in sample::events() {
        let event = Event::from_type(event_type, Object::parse(&text).unwrap());
        assert_eq!(event.problems(), [], "{event_type}");
        types.push(event_type);
    }
    assert_eq!(types, [DurableEvent::TYPES, PassingEvent::TYPES].concat());
    let parts: std::collections::BTreeSet<&str> =
        sample::PARTS.iter().filter_map(|text| Part::parse(text).unwrap().wire_name()).collect();
    assert_eq!(parts, Part::NAMES.iter().copied().collect());
}
