use crate::support::Room;
use annalist_schema::raw::Json;

#[tokio::test(flavor = "multi_thread")]
async fn pages_lead_through_all_messages() {
    let room = Room::new().await;
    let session = room.session().await;
    let mut said = Vec::new();
    for n in 0..5 {
        said.push(room.say(&session, &format!("message {n}")).await);
    }
    let path = format!("/session/{session}/message");
    let whole = ids(&room.get(&path).await.list());
    assert_eq!(whole, said);
    let mut met: Vec<String> = Vec::new();
    let mut next = format!("{path}?directory=%2Fa%20b&limit=2&x=%26");
    let mut pages = 0;
    loop {
        let page = room.get(&next).await;
        assert_eq!(page.status, 200);
        pages += 1;
        met.splice(0..0, ids(&page.list()));
        let Some(link) = page.header("link") else {
            assert!(page.header("x-next-cursor").is_none() && page.header("access-control-expose-headers").is_none());
            break;
        };
        let cursor = page.header("x-next-cursor").unwrap();
        assert_eq!(page.header("access-control-expose-headers").as_deref(), Some("Link, X-Next-Cursor"));
        let wanted = format!("<http://{}{path}?directory=%2Fa+b&limit=2&x=%26&before={cursor}>; rel=\"next\"", room.address);
        assert_eq!(link, wanted);
        next = link.split_once(&room.address.to_string()).unwrap().1.split('>').next().unwrap().to_owned();
    }
    assert_eq!((met, pages), (said, 3));
    // As recorded: exactly as many as there are is no page, nor is zero.
    for all in ["limit=5", "limit=0", "limit=99999999999", "limit="] {
        let answer = room.get(&format!("{path}?{all}")).await;
        assert!(answer.header("link").is_none(), "{all}");
    }
    for bad in ["limit=-1", "limit=x", "limit=1.5", "limit=2&before=garbage", "before=x"] {
        assert_eq!(room.get(&format!("{path}?{bad}")).await.status, 400, "{bad}");
    }
}

fn ids(messages: &[Json<'static>]) -> Vec<String> {
    let id = |message: &Json<'_>| {
        let info = message.as_object().unwrap().get("info").unwrap().as_object().unwrap().into_static();
        info.text("id").unwrap().into_owned()
    };
    messages.iter().map(id).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_list_of_all_projects_has_pages_too() {
    let room = Room::new().await;
    for _ in 0..3 {
        room.session().await;
    }
    let first = room.get("/experimental/session?limit=2").await;
    assert_eq!(first.list().len(), 2);
    let updated = first.list()[1].as_object().unwrap().get("time").unwrap().as_object().unwrap().into_static();
    assert_eq!(first.header("x-next-cursor").as_deref(), Some(updated.get("updated").unwrap().as_str()));
    let all = room.get("/experimental/session?limit=3").await;
    assert_eq!((all.list().len(), all.header("x-next-cursor")), (3, None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_in_the_query_narrows_a_list_and_one_in_the_header_does_not() {
    let room = Room::new().await;
    let below = room.write("below/file", b"").parent().unwrap().to_owned();
    let below = below.to_str().unwrap();
    assert_eq!(room.ask("POST", "/session", &[("x-opencode-directory", &below.replace('/', "%2F"))], b"").await.status, 200);
    room.session().await;
    assert_eq!(room.get(&format!("/session?directory={below}")).await.list().len(), 1);
    assert_eq!(room.ask("GET", "/session", &[("x-opencode-directory", below)], b"").await.list().len(), 2);
    assert_eq!(room.get(&format!("/session?directory={below}&scope=project")).await.list().len(), 2);
    assert_eq!(room.get("/session/?limit=0").await.body, "[]");
}
