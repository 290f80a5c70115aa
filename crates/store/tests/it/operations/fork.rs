//! Forks (reference-storage 1.8; user reports C40, C79-C83).

use super::room::{Room, assistant, folder, id, info, part_ids, parts, step_finish, texts, user, with};
use annalist_schema::raw::Object;
use annalist_store::Folder;
use annalist_store::session::{Forked, NewSession, SessionPatch};
use serde_json::json;

const START: i64 = 1_790_000_000_000;

/// Four turns: question, answer with a step of a dollar.
fn conversation(room: &Room) -> String {
    let mut new = NewSession::new(folder());
    new.title = Some("talk".into());
    let session = room.created(new);
    for turn in 1..=4_i64 {
        let (question, answer) = (format!("msg_q{turn}"), format!("msg_a{turn}"));
        room.say(&session, user(&question, START + 10 * turn), &[&format!("question {turn}")]);
        room.say(&session, assistant(&answer, &question, START + 10 * turn + 5), &[&format!("answer {turn}")]);
        room.part(&session, &answer, step_finish(&format!("prt_zs{turn}"), 1.0));
    }
    session
}

fn fork(room: &Room, session: &str, before: Option<&str>) -> (String, Forked) {
    let forked = room.store.fork_session(session, before).wait().unwrap();
    (forked.session.id().unwrap().into_owned(), forked)
}

#[test]
fn a_fork_has_all_messages_or_those_before_one() {
    let room = Room::new();
    let session = conversation(&room);
    let source = texts(&room.messages(&session));
    for (before, messages) in [(None, 8), (Some("msg_a2"), 3), (Some("msg_q1"), 0), (Some("msg_nowhere"), 8), (Some("msg_q4"), 6)] {
        let (id, forked) = fork(&room, &session, before);
        assert_eq!(forked.messages, messages as u64, "{before:?}");
        assert_eq!(texts(&room.messages(&id)), source[..messages], "{before:?}");
        let steps = (messages / 2) as f64;
        assert_eq!(forked.session.object().get("cost").unwrap().as_number().unwrap().as_f64(), steps, "the answer has its usage");
        assert_eq!(room.info(&id), super::room::value(&forked.session));
        assert_eq!(room.kinds(&id, 0).len() as u64, 1 + forked.messages + forked.parts);
    }
    assert!(room.store.fork_session("ses_nowhere", None).wait().unwrap_err().is_not_found());
    assert_eq!(texts(&room.messages(&session)), source, "the source stays as it is");
}

#[test]
fn titles_are_numbered_and_only_some_fields_go_along() {
    let room = Room::new();
    let parent = room.session();
    let mut new = NewSession::new(folder());
    new.parent = Some(parent);
    new.title = Some("talk".into());
    new.agent = Some("fixer".into());
    new.workspace = Some("wrk_1".into());
    new.metadata = Some(Object::parse(r#"{"a":{"b":1.0}}"#).unwrap().into_static());
    let session = room.created(new);
    room.store.patch_session(&session, vec![SessionPatch::Share(Some("https://x".into()))]).wait().unwrap();
    room.store.archive(&session).wait().unwrap();
    room.say(&session, user("msg_1", START), &["x"]);
    room.store.revert_session(&session, "msg_1", None).wait().unwrap();
    let (one, forked) = fork(&room, &session, None);
    let made = super::room::value(&forked.session);
    assert_eq!(made["title"], "talk (fork #1)");
    assert_eq!((&made["workspaceID"], &made["metadata"]), (&json!("wrk_1"), &json!({"a": {"b": 1.0}})));
    for absent in ["parentID", "agent", "model", "permission", "summary", "revert", "share"] {
        assert!(made.get(absent).is_none(), "{absent}");
    }
    assert!(made["time"].get("archived").is_none());
    assert_ne!(made["slug"], room.info(&session)["slug"]);
    assert_eq!(fork(&room, &session, None).1.session.title().unwrap(), "talk (fork #1)");
    assert_eq!(fork(&room, &one, None).1.session.title().unwrap(), "talk (fork #2)");
}

#[test]
fn fields_that_no_column_holds_go_along() {
    let room = Room::new();
    let session = conversation(&room);
    let id = session.clone();
    room.store
        .update_session_with(&session, move |info| {
            info.object_mut().set("novel", Object::tagged("of", &id));
        })
        .wait()
        .unwrap();
    room.sql().execute("UPDATE session SET model = '{broken' WHERE id = ?1", [&session]).unwrap();
    let (fork, _) = fork(&room, &session, None);
    assert_eq!(room.info(&fork)["novel"], json!({"of": fork}));
    assert!(room.info(&fork).get("metadata").is_none(), "the source's broken column is not the fork's");
}

#[test]
fn references_are_renamed_and_what_was_said_is_not() {
    let room = Room::new();
    let session = conversation(&room);
    room.store
        .patch_session(
            &session,
            vec![SessionPatch::Metadata(Some(
                Object::parse(&json!({"root": session, "at": ["msg_q1"], "msg_a4": 1}).to_string()).unwrap().into_static(),
            ))],
        )
        .wait()
        .unwrap();
    // A part may name what comes later or is not copied, in any field; a word that is an id is still a word.
    let tool = json!({"id": "prt_0t", "type": "tool", "tool": "task", "callID": "msg_q1", "metadata": {"by": {"session": session}},
                      "state": {"status": "completed", "input": {"of": "prt_zs1", "deep": [["prt_zs4"]]}, "title": "msg_q1 is it",
                                "output": "msg_q1", "metadata": {"msg_q2": "prt_a4_0", "outside": "msg_elsewhere"},
                                "time": {"start": 1, "end": 2}}});
    room.part(&session, "msg_a1", tool);
    room.part(&session, "msg_a1", json!({"id": "prt_0u", "type": "text", "text": "msg_q1", "metadata": {"text": "msg_q1"}}));
    let (fork, _) = fork(&room, &session, Some("msg_q3"));
    let messages = room.messages(&fork);
    let ids: Vec<String> = messages.iter().map(id).collect();
    let answer = parts(&messages[1]);
    let by_type = |kind: &str| answer.iter().filter(|part| part["type"] == kind).cloned().collect::<Vec<_>>();
    let tool = &by_type("tool")[0];
    assert_eq!(tool["metadata"]["by"]["session"], json!(fork));
    assert_eq!(tool["callID"], json!(ids[0]), "a call id that is a message's id is renamed as any other field");
    assert_eq!(tool["state"]["input"]["of"], by_type("step-finish")[0]["id"]);
    assert_eq!((&tool["state"]["output"], &tool["state"]["title"]), (&json!("msg_q1"), &json!("msg_q1 is it")));
    assert_eq!(tool["state"]["metadata"]["outside"], "msg_elsewhere");
    let named = tool["state"]["metadata"].as_object().unwrap();
    assert!(named.contains_key(&ids[2]) && !named.contains_key("msg_q2"), "{named:?}");
    let text = by_type("text").into_iter().find(|part| part["text"] == "msg_q1").unwrap();
    assert_eq!(text["metadata"]["text"], json!(ids[0]));
    let whole = room.events(&fork).iter().map(|event| event.data.to_string()).collect::<String>();
    for id in [session.as_str(), "prt_zs4", "prt_a4_0", "prt_zs1", "msg_a4"] {
        assert!(!whole.contains(id), "{id}");
    }
    assert_eq!(room.info(&fork)["metadata"]["at"], json!([ids[0]]));
}

#[test]
fn a_parent_that_was_not_copied_is_the_nearest_question() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, assistant("msg_first", "msg_late", START), &["no question yet"]);
    room.say(&session, user("msg_q", START + 1), &["q"]);
    room.say(&session, assistant("msg_a", "msg_late", START + 2), &["its question has a later time"]);
    room.say(&session, assistant("msg_b", "msg_of_another_session", START + 3), &["b"]);
    room.say(&session, user("msg_late", START + 4), &["late"]);
    let (fork, _) = fork(&room, &session, Some("msg_late"));
    let messages = room.messages(&fork);
    let parents: Vec<_> = messages.iter().map(|message| info(message)["parentID"].clone()).collect();
    let ids: Vec<String> = messages.iter().map(id).collect();
    assert_eq!(parents, [json!(ids[0]), json!(null), json!(ids[1]), json!("msg_of_another_session")]);
}

/// Ids of real files: whatever a provider or another program made of them.
#[test]
fn parents_and_tails_of_any_spelling_are_renamed() {
    let room = Room::new();
    let session = room.session();
    room.plant_message(&session, "u\"1", START, r#"{"role":"user","time":{"created":1790000000000}}"#);
    let answer =
        json!({"role": "assistant", "time": {"created": START + 1}, "parentID": "u\"1", "summary": true, "finish": "stop"});
    room.plant_message(&session, "a1", START + 1, &answer.to_string());
    room.plant_part(&session, "u\"1", "call_9", 1, r#"{"type":"compaction","auto":true,"tail_start_id":"a1"}"#);
    let (fork, _) = fork(&room, &session, None);
    let messages = room.messages(&fork);
    assert_eq!(info(&messages[1])["parentID"], json!(id(&messages[0])));
    assert_eq!(parts(&messages[0])[0]["tail_start_id"], json!(id(&messages[1])));
    assert!(part_ids(&messages[0])[0].starts_with("prt_"));
}

/// User report C80: the compacted view of a fork is that of its source, wherever it ends; a fork of a fork too.
#[test]
fn the_filtered_view_is_that_of_the_source() {
    let room = Room::new();
    let session = conversation(&room);
    room.say(&session, user("msg_c", START + 60), &[]);
    room.part(&session, "msg_c", json!({"id": "prt_c", "type": "compaction", "auto": false, "tail_start_id": "msg_q4"}));
    room.say(&session, with(assistant("msg_d", "msg_c", START + 65), "summary", true), &["SUMMARY"]);
    room.say(&session, user("msg_q5", START + 70), &["question 5"]);
    let filtered = |session: &str| texts(&room.store.filter_compacted(session).unwrap());
    let source = filtered(&session);
    assert_eq!(source.concat(), ["SUMMARY", "question 4", "answer 4", "question 5"]);
    let (one, _) = fork(&room, &session, None);
    let (two, _) = fork(&room, &one, None);
    let (three, _) = fork(&room, &session, None);
    for fork in [&one, &two, &three] {
        assert_eq!(filtered(fork), source);
    }
    // C81: compacting the fork again, its newest marker wins.
    let tail = room.ids(&two).pop().unwrap();
    let now = annalist_schema::id::now_ms();
    room.say(&two, user("msg_e", now), &[]);
    room.part(&two, "msg_e", json!({"id": "prt_e", "type": "compaction", "auto": false, "tail_start_id": tail}));
    room.say(&two, with(assistant("msg_f", "msg_e", now + 1), "summary", true), &["SUMMARY 2"]);
    assert_eq!(filtered(&two).concat(), ["SUMMARY 2", "question 5"]);
    assert_eq!(filtered(&session), source);
}

#[test]
fn a_tail_that_was_not_copied_is_left_out() {
    let room = Room::new();
    let session = conversation(&room);
    room.part(&session, "msg_q2", json!({"id": "prt_c", "type": "compaction", "auto": false, "tail_start_id": "msg_q4"}));
    room.part(&session, "msg_q3", json!({"id": "prt_d", "type": "compaction", "auto": false, "tail_start_id": "msg_elsewhere"}));
    let (fork, _) = fork(&room, &session, Some("msg_q4"));
    let messages = room.messages(&fork);
    let compaction = |at: usize| parts(&messages[at]).into_iter().find(|part| part["type"] == "compaction").unwrap();
    assert!(compaction(2).get("tail_start_id").is_none());
    assert_eq!(compaction(4)["tail_start_id"], "msg_elsewhere");
}

/// Reference-storage 4.4: a later write may have said another time than the first, which fixed the place.
#[test]
fn messages_and_parts_keep_their_order() {
    let room = Room::new();
    let session = room.session();
    for (id, at) in [("msg_b", START), ("msg_a", START), ("msg_c", START - 600_000), ("msg_z", START + 1)] {
        room.say(&session, user(id, at), &[id]);
    }
    room.say(&session, user("msg_c", START + 900_000), &[]);
    for (id, at) in [("call_9", 10), ("call_1", 20), ("prt_m", 15), ("prt_l", 20)] {
        room.plant_part(&session, "msg_a", id, at, &json!({"type": "text", "text": id}).to_string());
    }
    let source = room.messages(&session);
    assert_eq!(texts(&source), [vec!["msg_c"], vec!["call_9", "prt_m", "call_1", "prt_l", "msg_a"], vec!["msg_b"], vec!["msg_z"]]);
    let (fork, forked) = fork(&room, &session, None);
    let copy = room.messages(&fork);
    assert_eq!(texts(&copy), texts(&source));
    assert_eq!(forked.messages, 4);
    assert_eq!(info(&copy[0])["time"]["created"], START + 900_000, "what it says goes along as it is");
    let mut ids = part_ids(&copy[1]);
    assert!(ids.is_sorted());
    ids.dedup();
    assert_eq!(ids.len(), 5);
}

#[test]
fn one_bad_row_is_copied_as_it_is() {
    let room = Room::new();
    let session = conversation(&room);
    room.plant_message(&session, "msg_bad", START + 12, "{broken");
    room.plant_part(&session, "msg_bad", "prt_bad", 1, "not json either");
    let (fork, forked) = fork(&room, &session, None);
    assert_eq!(forked.messages, 9);
    let count = |sql: &str| room.sql().query_row(sql, [&fork], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM message WHERE session_id = ?1 AND data = '{broken'"), 1);
    assert_eq!(count("SELECT count(*) FROM part WHERE session_id = ?1 AND data = 'not json either'"), 1);
    assert_eq!(room.ids(&fork).len(), 9);
}

/// User report C40: the folder of the source is gone, the fork is to work in another.
#[test]
fn a_fork_into_another_folder() {
    let room = Room::new();
    let session = conversation(&room);
    let other = Folder {
        project: "0123456789abcdef".into(),
        worktree: "/other".into(),
        directory: "/other/sub".into(),
        path: "sub".into(),
        git: true,
        previous: None,
    };
    let forked = room.store.fork_session_into(&session, Some("msg_q2"), other).wait().unwrap();
    let made = super::room::value(&forked.session);
    assert_eq!((&made["projectID"], &made["directory"]), (&json!("0123456789abcdef"), &json!("/other/sub")));
    assert_eq!((&made["path"], forked.messages), (&json!("sub"), 2));
    assert_eq!(room.count("project"), 2);
}

/// User report C83: a question queued while a turn ran stands behind the fork point, by its time.
#[test]
fn a_question_queued_during_a_turn_is_behind_the_fork_point() {
    let room = Room::new();
    let session = room.session();
    room.say(&session, user("msg_q1", START), &["question 1"]);
    room.say(&session, assistant("msg_a1", "msg_q1", START + 1), &["step 1"]);
    // Its id says that it is older than all others.
    room.say(&session, user("msg_000000000000queued", START + 5), &["queued"]);
    room.say(&session, assistant("msg_a2", "msg_q1", START + 9), &["step 2"]);
    let (fork, _) = fork(&room, &session, Some("msg_000000000000queued"));
    assert_eq!(texts(&room.messages(&fork)).concat(), ["question 1", "step 1"]);
}
