use crate::support::{Answer, Room};
use annalist_schema::raw::{Json, Object};

async fn prompt(room: &Room, session: &str, body: &str) -> Answer {
    room.post(&format!("/session/{session}/message"), body).await
}

fn parts(answer: &Answer) -> Vec<Object<'static>> {
    let object = answer.object();
    let parts = object.get("parts").unwrap_or_else(|| panic!("{}", answer.body)).as_array().unwrap();
    parts.into_iter().map(|part| part.into_object().unwrap().into_static()).collect()
}

fn texts(answer: &Answer) -> Vec<String> {
    parts(answer).iter().filter_map(|part| Some(part.text("text")?.into_owned())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_prompt_again_is_answered_as_before() {
    let room = Room::new().await;
    let session = room.session().await;
    let file = room.write("hello.txt", b"one\n");
    let url = format!("file://{}", file.display());
    let gone = room.folder.join("gone.txt");
    let bodies = [
        r#"{"noReply":true,"messageID":"msg_a","parts":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}"#.to_owned(),
        format!(
            r#"{{"noReply":true,"messageID":"msg_b","agent":"plan","system":"s","tools":{{"bash":false}},"variant":"v","parts":[
            {{"type":"text","text":"see"}},{{"type":"file","mime":"text/plain","url":"{url}"}},{{"type":"agent","name":"general"}},
            {{"type":"file","mime":"text/plain","url":"file://{}"}},{{"type":"text","text":"end","synthetic":null}}]}}"#,
            gone.display()
        ),
        r#"{"noReply":true,"messageID":"msg_c","parts":[]}"#.to_owned(),
    ];
    for body in &bodies {
        let first = prompt(&room, &session, body).await;
        assert_eq!(first.status, 200, "{}", first.body);
        let before = room.everything();
        let again = prompt(&room, &session, body).await;
        assert_eq!(again.status, 200, "{}", again.body);
        assert_eq!(texts(&again), texts(&first));
        assert_eq!(room.everything(), before, "nothing is written twice");
    }
    // What a file says now is no matter.
    std::fs::write(&file, "changed\n").unwrap();
    std::fs::write(&gone, "now there\n").unwrap();
    assert_eq!(prompt(&room, &session, &bodies[1]).await.status, 200);

    let before = room.everything();
    for (from, to) in [
        ("\"see\"", "\"look\""),
        ("\"end\"", "\"end\",\"ignored\":true"),
        ("\"plan\"", "\"build\""),
        ("\"system\":\"s\"", "\"system\":\"t\""),
        ("\"bash\":false", "\"bash\":true"),
        ("\"variant\":\"v\"", "\"variant\":\"w\""),
        ("hello.txt", "other.txt"),
        ("{\"type\":\"agent\",\"name\":\"general\"},", ""),
    ] {
        let other = bodies[1].replace(from, to);
        assert_ne!(other, bodies[1]);
        let refused = prompt(&room, &session, &other).await;
        assert_eq!((refused.status, refused.text("name").as_str()), (409, "ConflictError"), "{from}: {}", refused.body);
    }
    let longer = bodies[0].replace("\"two\"}", "\"two\"},{\"type\":\"text\",\"text\":\"three\"}");
    assert_eq!(prompt(&room, &session, &longer).await.status, 409);
    let shorter = bodies[0].replace(",{\"type\":\"text\",\"text\":\"two\"}", "");
    assert_eq!(prompt(&room, &session, &shorter).await.status, 409);
    let other = room.session().await;
    assert_eq!(prompt(&room, &other, &bodies[0]).await.status, 409, "another session's id");
    assert!(room.everything().contains(&before[before.len() / 2..]), "the first session is as it was");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_folders_pictures_and_agents_become_what_was_recorded() {
    let room = Room::new().await;
    let session = room.session().await;
    room.write("hello.txt", b"one\ntwo\n");
    room.write("list/B/x", b"");
    room.write("list/a.txt", b"");
    room.write("sub/AGENTS.md", b"sub agents\n");
    room.write("sub/inner.txt", b"inner\n");
    room.write("bin.dat", b"\0");
    let at = room.folder.display().to_string();
    let file = |name: &str, mime: &str| format!(r#"{{"type":"file","mime":"{mime}","url":"file://{at}/{name}"}}"#);
    let all = [
        file("hello.txt?start=2&end=2", "text/plain"),
        file("list", "text/plain"),
        file("sub/inner.txt", "text/plain"),
        file("bin.dat", "text/plain"),
        file("nodir/", "application/x-directory"),
        r#"{"type":"agent","name":"general","id":"prt_own"}"#.to_owned(),
        r#"{"type":"file","mime":"text/plain","filename":"n","url":"data:text/plain;base64,aMOp"}"#.to_owned(),
        file("hello.txt", "text/markdown"),
    ];
    let answer = prompt(&room, &session, &format!(r#"{{"noReply":true,"parts":[{}]}}"#, all.join(","))).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let called = |input: &str| format!("Called the Read tool with the following input: {input}");
    let path = |name: &str| format!("\"filePath\":\"{at}/{name}\"");
    assert_eq!(
        texts(&answer),
        [
            called(&format!("{{{},\"offset\":2,\"limit\":1}}", path("hello.txt"))),
            format!(
                "<path>{at}/hello.txt</path>\n<type>file</type>\n<content>\n2: two\n\n(End of file - total 2 lines)\n</content>"
            ),
            called(&format!("{{{}}}", path("list"))),
            format!("<path>{at}/list</path>\n<type>directory</type>\n<entries>\na.txt\nB/\n\n(2 entries)\n</entries>"),
            called(&format!("{{{}}}", path("sub/inner.txt"))),
            format!(
                "<path>{at}/sub/inner.txt</path>\n<type>file</type>\n<content>\n1: inner\n\n(End of file - total 1 lines)\n</content>\n\n<system-reminder>\nInstructions from: {at}/sub/AGENTS.md\nsub agents\n\n</system-reminder>"
            ),
            called(&format!("{{{}}}", path("bin.dat"))),
            format!("Read tool failed to read {at}/bin.dat with the following error: Cannot read binary file: {at}/bin.dat"),
            format!("Read tool failed to read {at}/nodir/ with the following error: File not found: {at}/nodir/"),
            " Use the above message and context to generate a prompt and call the task tool with subagent: general".to_owned(),
            called("{\"filePath\":\"n\"}"),
            "hé".to_owned(),
            called(&format!("{{{}}}", path("hello.txt"))),
        ]
    );
    let parts = parts(&answer);
    let of = |kind: &str| parts.iter().filter(|part| part.text("type").as_deref() == Some(kind)).collect::<Vec<_>>();
    let shown: Vec<String> =
        of("file").iter().map(|part| format!("{} {}", part.text("mime").unwrap(), part.text("url").unwrap())).collect();
    assert_eq!(
        shown,
        [
            format!("text/plain file://{at}/hello.txt?start=2&end=2"),
            format!("application/x-directory file://{at}/list"),
            format!("text/plain file://{at}/sub/inner.txt"),
            "text/plain data:text/plain;base64,aMOp".to_owned(),
            "text/markdown data:text/markdown;base64,b25lCnR3bwo=".to_owned(),
        ]
    );
    assert_eq!(of("agent")[0].text("id").unwrap(), "prt_own");
    let stored = room.get(&format!("/session/{session}/message")).await;
    assert_eq!(stored.list().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_sent_is_refused_whole() {
    let room = Room::new().await;
    let session = room.session().await;
    room.write("fake.png", b"no picture");
    let at = room.folder.display().to_string();
    let before = room.everything();
    for (mime, url) in [
        ("image/png", format!("file://{at}/fake.png")),
        ("text/plain", format!("file://{at}/fake.png")),
        ("image/png", format!("file://{at}/none.png")),
        ("image/png", "http://localhost:1/a.png".to_owned()),
        ("image/gif", "data:image/gif;base64,bm9wZQ==".to_owned()),
        ("text/plain", "nonsense".to_owned()),
        ("text/plain", "file://elsewhere/x".to_owned()),
    ] {
        let body =
            format!(r#"{{"noReply":true,"parts":[{{"type":"text","text":"x"}},{{"type":"file","mime":"{mime}","url":"{url}"}}]}}"#);
        let answer = prompt(&room, &session, &body).await;
        assert_eq!(answer.status, 400, "{mime} {url}: {}", answer.body);
    }
    assert_eq!(prompt(&room, &session, r#"{"noReply":true,"agent":"nobody","parts":[]}"#).await.status, 400);
    assert_eq!(room.everything(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_session_follows_its_prompts() {
    let room = Room::new().await;
    room.write(
        "opencode.jsonc",
        br#"{ "agent": { "mine": { "model": "chat/m2", "variant": "high", "permission": { "task": "deny" } } }, }"#,
    );
    let session = room.session().await;
    let info = |answer: &Answer| answer.object().get("info").unwrap().as_object().unwrap().into_static();
    let mine = prompt(&room, &session, r#"{"noReply":true,"agent":"mine","parts":[{"type":"agent","name":"general"}]}"#).await;
    assert_eq!(info(&mine).get("model").unwrap().as_str(), r#"{"providerID":"chat","modelID":"m2","variant":"high"}"#);
    assert!(texts(&mine)[0].ends_with("general . Invoked by user; guaranteed to exist."));
    let row = room.get(&format!("/session/{session}")).await;
    assert_eq!(row.object().get("model").unwrap().as_str(), r#"{"id":"m2","providerID":"chat","variant":"high"}"#);
    // The agent is the usual one again, the model stays, its variant goes: as asked of the reference.
    let next = prompt(&room, &session, r#"{"noReply":true,"tools":{"bash":false,"edit":true},"parts":[]}"#).await;
    assert_eq!(info(&next).text("agent").unwrap(), "build");
    assert_eq!(info(&next).get("model").unwrap().as_str(), r#"{"providerID":"chat","modelID":"m2"}"#);
    let row = room.get(&format!("/session/{session}")).await;
    assert_eq!(row.object().get("model").unwrap().as_str(), r#"{"id":"m2","providerID":"chat","variant":"default"}"#);
    assert_eq!(
        row.object().get("permission").unwrap().as_str(),
        r#"[{"permission":"bash","pattern":"*","action":"deny"},{"permission":"edit","pattern":"*","action":"allow"}]"#
    );
    let format = prompt(&room, &session, r#"{"noReply":true,"format":{"type":"json_schema","schema":{}},"parts":[]}"#).await;
    let info = info(&format);
    assert_eq!(info.get("format").map(Json::as_str), Some(r#"{"type":"json_schema","schema":{},"retryCount":2}"#));
    assert_eq!(room.get(&format!("/session/{session}/message")).await.list().len(), 3);
}
