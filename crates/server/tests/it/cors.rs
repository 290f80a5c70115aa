use crate::support::Room;

/// Asked of the reference, one by one.
const LET_IN: [&str; 11] = [
    "http://localhost:3000",
    "http://127.0.0.1:1",
    "http://localhost:abc",
    "tauri://localhost",
    "http://tauri.localhost",
    "https://tauri.localhost",
    "oc://renderer",
    "https://opencode.ai",
    "https://app.opencode.ai",
    "https://a.b.opencode.ai",
    "https://mine.example",
];
const KEPT_OUT: [&str; 11] = [
    "http://localhost",
    "https://localhost:3",
    "http://app.opencode.ai",
    "https://evil.com",
    "null",
    "vscode-webview://abc",
    "https://opencode.ai.evil.com",
    "http://[::1]:80",
    "http://localhost.evil.com",
    "https://evil.com/.opencode.ai",
    "https://mine.example.evil",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_origins_of_the_reference_and_our_own() {
    let room = Room::with(|options| options.cors = vec!["https://mine.example".to_owned()]).await;
    for (origins, wanted) in [(LET_IN, true), (KEPT_OUT, false)] {
        for origin in origins {
            for (method, status) in [("GET", 200), ("OPTIONS", 204)] {
                let asked = [("origin", origin), ("access-control-request-headers", "content-type,x-foo")];
                let answer = room.ask(method, "/session", &asked, b"").await;
                assert_eq!(answer.status, status);
                let allowed = answer.header("access-control-allow-origin");
                assert_eq!(allowed.as_deref(), wanted.then_some(origin), "{method} {origin}");
                assert!(answer.head.to_ascii_lowercase().contains("vary: origin"));
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preflight_as_recorded() {
    let room = Room::new().await;
    let asked = [("origin", "http://localhost:3000"), ("access-control-request-method", "POST")];
    let answer = room.ask("OPTIONS", "/session", &asked, b"").await;
    assert_eq!(answer.status, 204);
    assert_eq!(answer.header("access-control-allow-methods").as_deref(), Some("GET, HEAD, PUT, PATCH, POST, DELETE"));
    assert_eq!(answer.header("access-control-allow-headers").as_deref(), Some(""));
    assert_eq!(answer.header("access-control-max-age").as_deref(), Some("86400"));
    let asked = [("origin", "http://localhost:3000"), ("access-control-request-headers", "content-type,x-foo")];
    let answer = room.ask("OPTIONS", "/session", &asked, b"").await;
    assert_eq!(answer.header("access-control-allow-headers").as_deref(), Some("content-type,x-foo"));
}
