//! Every route of the document that takes JSON, with bodies that are none of the kind: a 4xx, and nothing changed.

use crate::support::Room;
use annalist_schema::raw::{Json, Object};

/// Method, path with ids that are there, and whether it takes blank for `{}`.
async fn routes(room: &Room, session: &str, message: &str) -> Vec<(String, String)> {
    let document = room.get("/doc").await;
    let paths = document.object().get("paths").unwrap().as_object().unwrap().into_static();
    let mut found = Vec::new();
    for path in paths.entries() {
        for (method, operation) in path.value().as_object().unwrap().entries().iter().map(|e| (e.key(), e.value())) {
            if operation.as_object().unwrap().has("requestBody") {
                let filled = path
                    .key()
                    .replace("{sessionID}", session)
                    .replace("{messageID}", message)
                    .replace("{partID}", "prt_x")
                    .replace("{permissionID}", "per_x")
                    .replace("{requestID}", if path.key().starts_with("/question") { "que_x" } else { "per_x" });
                found.push((method.to_uppercase(), filled));
            }
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn misfits_are_refused_and_change_nothing() {
    let room = Room::with(|options| options.body_limit = 64 * 1024).await;
    let session = room.session().await;
    let message = room.say(&session, "there").await;
    let before = room.everything();
    let routes = routes(&room, &session, &message).await;
    assert!(routes.len() > 12, "{routes:?}");
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(2_000), close.repeat(2_000));
    let bodies: Vec<(&str, Vec<u8>)> = vec![
        ("cut", b"{\"title\": ".to_vec()),
        ("open", b"{".to_vec()),
        ("no JSON", b"nonsense".to_vec()),
        ("a number", b"5".to_vec()),
        ("a string", b"\"x\"".to_vec()),
        ("null", b"null".to_vec()),
        ("a list", b"[]".to_vec()),
        ("two values", b"{} {}".to_vec()),
        ("no UTF-8", b"{\"title\":\"\xff\"}".to_vec()),
        ("a byte order mark", b"\xef\xbb\xbf{}".to_vec()),
        ("a NUL", b"{\0}".to_vec()),
        ("deep lists", deep("[", "]").into_bytes()),
        ("deep objects", format!("{}1{}", "{\"metadata\":".repeat(2_000), "}".repeat(2_000)).into_bytes()),
        ("deep and open", "[".repeat(20_000).into_bytes()),
        ("large", format!("{{\"title\":\"{}\"}}", "x".repeat(100_000)).into_bytes()),
    ];
    for (method, path) in &routes {
        for (name, body) in &bodies {
            let answer = room.ask(method, path, &[("content-type", "application/json")], body).await;
            assert!((400..500).contains(&answer.status), "{method} {path} {name}: {} {}", answer.status, answer.body);
            let error = answer.object();
            assert!(error.has("_tag") || error.has("name"), "{method} {path} {name}: {}", answer.body);
            assert_eq!(answer.status == 413, *name == "large", "{method} {path} {name}");
        }
    }
    assert_eq!(room.everything(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_over_the_limit_is_told_so_however_it_comes() {
    let room = Room::with(|options| options.body_limit = 1_000).await;
    let head = format!("POST /session HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", room.address);
    // Announced, and not sent at all.
    let asked = room.raw(format!("{head}content-length: 5000\r\nexpect: 100-continue\r\n\r\n").as_bytes()).await;
    assert_eq!(asked.status, 413);
    // In chunks, without a length.
    let chunk = format!("7d0\r\n{}\r\n0\r\n\r\n", " ".repeat(2_000));
    let chunked = room.raw(format!("{head}transfer-encoding: chunked\r\n\r\n{chunk}").as_bytes()).await;
    assert_eq!(chunked.status, 413);
    let data = chunked.object().get("data").map(Json::as_object).unwrap().unwrap().into_static();
    assert!(data.text("message").unwrap().contains("larger"), "{}", chunked.body);
    assert_eq!(room.post("/session", &" ".repeat(1_000)).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_nested_below_the_limit_comes_back_as_it_was() {
    let room = Room::new().await;
    let nested = format!("{}{}", "[".repeat(900), "]".repeat(900));
    let made = room.post("/session", &format!("{{\"metadata\":{{\"a\":{nested}}}}}")).await;
    assert_eq!(made.status, 200, "{}", made.body);
    let again = room.get(&format!("/session/{}", made.text("id"))).await;
    let metadata = again.object().get("metadata").unwrap().as_object().map(Object::into_static).unwrap();
    assert_eq!(metadata.get("a").unwrap().as_str(), nested);
}

#[tokio::test(flavor = "multi_thread")]
async fn other_media_types() {
    let room = Room::new().await;
    let session = room.session().await;
    let path = format!("/session/{session}");
    assert_eq!(room.ask("PATCH", &path, &[("content-type", "text/plain")], b"{}").await.status, 415);
    assert_eq!(room.ask("PATCH", &path, &[("content-type", "application/json; charset=utf-8")], b"{}").await.status, 200);
    assert_eq!(room.ask("PATCH", &path, &[], b"{}").await.status, 200);
    // The two bodies that the reference reads by hand are taken whatever they call themselves.
    assert_eq!(room.ask("POST", "/session", &[("content-type", "text/plain")], b"{}").await.status, 200);
}
