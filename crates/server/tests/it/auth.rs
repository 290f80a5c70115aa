use crate::support::Room;
use annalist_server::{Login, Options, Places, Server, StartError};
use annalist_store::{Create, Store};

// "opencode:secret", "other:secret", ":secret", "opencode:wrong", "opencode:secret2"
const RIGHT: &str = "b3BlbmNvZGU6c2VjcmV0";
const WRONG: [&str; 6] =
    ["b3RoZXI6c2VjcmV0", "OnNlY3JldA==", "b3BlbmNvZGU6d3Jvbmc=", "b3BlbmNvZGU6c2VjcmV0Mg==", "%%%", "b3BlbmNvZGU6c2VjcmV"];

async fn locked() -> Room {
    Room::with(|options| {
        options.login = Some(Login { username: "opencode".to_owned(), password: "secret".to_owned() });
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_password_there_is_nothing() {
    let room = locked().await;
    for path in ["/session", "/global/health", "/doc", "/event", "/nowhere", "/"] {
        let answer = room.get(path).await;
        assert_eq!((answer.status, answer.body.as_str()), (401, ""), "{path}");
        assert_eq!(answer.header("www-authenticate").as_deref(), Some("Basic realm=\"Secure Area\""));
        assert!(answer.header("x-annalist-version").is_some());
    }
    let made = room.post("/session", "{}").await;
    assert_eq!(made.status, 401);
    assert_eq!(room.everything(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_password_opens_in_a_header_and_in_the_query() {
    let room = locked().await;
    for scheme in ["Basic", "basic", "BASIC"] {
        let value = format!("{scheme} {RIGHT}");
        assert_eq!(room.ask("GET", "/session", &[("authorization", &value)], b"").await.status, 200);
    }
    assert_eq!(room.get(&format!("/session?auth_token={RIGHT}")).await.status, 200);
    for wrong in WRONG {
        let value = format!("Basic {wrong}");
        assert_eq!(room.ask("GET", "/session", &[("authorization", &value)], b"").await.status, 401, "{wrong}");
        let query = wrong.replace('%', "%25").replace('=', "%3D");
        assert_eq!(room.get(&format!("/session?auth_token={query}")).await.status, 401, "{wrong}");
    }
    assert_eq!(room.ask("GET", "/session", &[("authorization", "Bearer secret")], b"").await.status, 401);
    // A browser asks before it can say who it is.
    assert_eq!(room.ask("OPTIONS", "/session", &[], b"").await.status, 204);
}

#[tokio::test]
async fn other_addresses_take_a_password() {
    let home = tempfile::tempdir().unwrap();
    let at = home.path().to_owned();
    let places = Places { home: at.clone(), state: at.clone(), config: at.clone(), config_file: None, config_content: None };
    let mut options = Options::new(at.clone(), places);
    options.address = "0.0.0.0".parse().unwrap();
    options.port = 0;
    let store = Store::open(&at.join("record.db"), Create::IfMissing).unwrap();
    assert!(matches!(Server::bind(store.clone(), options.clone()).await, Err(StartError::NoPassword { .. })));
    options.login = Some(Login { username: "a".to_owned(), password: "b".to_owned() });
    assert!(Server::bind(store, options.clone()).await.is_ok());
    assert!(!format!("{options:?}").contains("\"b\""), "a password is never shown");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_loopback_the_host_must_be_loopback() {
    let room = Room::new().await;
    for good in ["localhost", "localhost:4096", "127.0.0.1", "127.0.0.1:1", "[::1]:4096", "LOCALHOST.", "app.localhost:1"] {
        assert_eq!(room.ask("GET", "/global/health", &[("host", good)], b"").await.status, 200, "{good}");
    }
    for bad in ["evil.com", "evil.com:4096", "localhost.evil.com", "127.0.0.1.evil.com", "10.0.0.1", "", "[::2]:1"] {
        let answer = room.ask("POST", "/session", &[("host", bad)], b"{}").await;
        assert_eq!(answer.status, 403, "{bad}");
    }
    assert_eq!(room.everything(), "");
}
