use crate::support::Room;

#[tokio::test(flavor = "multi_thread")]
async fn the_shapes_of_errors() {
    let room = Room::new().await;
    let session = room.session().await;
    let none = "ses_000000000000AAAAAAAAAAAAAA";
    for (method, path, body, status, wanted) in [
        ("GET", format!("/session/{none}"), "", 404, format!(r#"{{"name":"NotFoundError","data":{{"message":"Session not found: {none}"}}}}"#)),
        (
            "GET",
            format!("/session/{session}/message/msg_none"),
            "",
            404,
            r#"{"name":"NotFoundError","data":{"message":"Message not found: msg_none"}}"#.to_owned(),
        ),
        (
            "GET",
            "/session/bad".to_owned(),
            "",
            400,
            r#"{"name":"BadRequest","data":{"message":"Expected a string starting with \"ses\", got \"bad\"\n  at [\"sessionID\"]","kind":"Params"}}"#
                .to_owned(),
        ),
        (
            "GET",
            "/session?roots=1".to_owned(),
            "",
            400,
            r#"{"name":"BadRequest","data":{"message":"Expected \"true\" | \"false\", got \"1\"\n  at [\"roots\"]","kind":"Query"}}"#.to_owned(),
        ),
        (
            "PATCH",
            format!("/session/{session}"),
            "",
            400,
            r#"{"name":"BadRequest","data":{"message":"Expected object, got undefined","kind":"Payload"}}"#.to_owned(),
        ),
        ("POST", "/session".to_owned(), "{\"title\":7}", 400, r#"{"_tag":"BadRequest"}"#.to_owned()),
        (
            "POST",
            "/permission/per_x/reply".to_owned(),
            "{\"reply\":\"once\"}",
            404,
            r#"{"_tag":"PermissionNotFoundError","requestID":"per_x","message":"Permission request not found: per_x"}"#.to_owned(),
        ),
        (
            "PUT",
            "/session".to_owned(),
            "",
            404,
            r#"{"name":"NotFoundError","data":{"message":"There is no PUT /session; /doc lists what there is"}}"#.to_owned(),
        ),
        (
            "GET",
            "/api/session".to_owned(),
            "",
            404,
            r#"{"name":"NotFoundError","data":{"message":"The second generation of the interface (/api) is not served"}}"#.to_owned(),
        ),
    ] {
        let answer = room.ask(method, &path, &[], body.as_bytes()).await;
        assert_eq!((answer.status, answer.body), (status, wanted), "{method} {path}");
        assert_eq!(answer.head.to_ascii_lowercase().matches("content-type: application/json").count(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_needs_a_model_says_so() {
    let room = Room::new().await;
    let session = room.session().await;
    let before = room.everything();
    for (path, body) in [
        ("message", r#"{"parts":[{"type":"text","text":"x"}]}"#),
        ("prompt_async", r#"{"parts":[]}"#),
        ("summarize", r#"{"providerID":"a","modelID":"b"}"#),
        ("shell", r#"{"agent":"build","command":"true"}"#),
        ("command", r#"{"command":"init","arguments":""}"#),
        ("init", r#"{"providerID":"a","modelID":"b","messageID":"msg_x"}"#),
    ] {
        let answer = room.post(&format!("/session/{session}/{path}"), body).await;
        assert_eq!(answer.status, 501, "{path}: {}", answer.body);
        assert_eq!(answer.text("name"), "NotImplementedError");
        assert_eq!(room.post(&format!("/session/ses_none/{path}"), body).await.status, 404, "{path}");
    }
    assert_eq!(room.everything(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_configuration_is_named() {
    let room = Room::new().await;
    let session = room.session().await;
    room.write("opencode.json", b"{ \"model\": ");
    let answer = room.get("/config").await;
    assert_eq!((answer.status, answer.text("name").as_str()), (500, "ConfigInvalidError"));
    assert!(answer.body.contains("opencode.json"), "{}", answer.body);
    let before = room.everything();
    let said = room.post(&format!("/session/{session}/message"), r#"{"noReply":true,"parts":[]}"#).await;
    assert_eq!(said.status, 500);
    assert_eq!(room.everything(), before);
}
