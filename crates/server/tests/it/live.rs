use crate::support::{Room, Stream};
use std::time::Duration;

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_begins_and_stays_alive() {
    let room = Room::with(|options| options.heartbeat = Duration::from_millis(20)).await;
    let mut folder = Stream::open(&room, "/event").await;
    let begin = folder.until("server.heartbeat").await.unwrap().to_owned();
    for header in [
        "content-type: text/event-stream",
        "cache-control: no-cache, no-transform",
        "x-accel-buffering: no",
        "x-content-type-options: nosniff",
    ] {
        assert!(begin.to_ascii_lowercase().contains(header), "{begin}");
    }
    let connected = begin.find("data: {\"id\":\"evt_").unwrap();
    assert!(connected < begin.find("server.heartbeat").unwrap());
    assert!(begin.contains("\"type\":\"server.connected\",\"properties\":{}}\n\n"), "{begin}");
    let mut all = Stream::open(&room, "/global/event").await;
    assert!(all.until("\"type\":\"server.heartbeat\"").await.unwrap().contains("data: {\"payload\":{\"id\":\"evt_"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_happens_is_told_in_its_folder_and_everywhere() {
    let room = Room::new().await;
    let other = room.write("other/file", b"").parent().unwrap().display().to_string();
    let mut here = Stream::open(&room, "/event").await;
    let mut there = Stream::open(&room, &format!("/event?directory={other}")).await;
    let mut all = Stream::open(&room, "/global/event").await;
    for stream in [&mut here, &mut there, &mut all] {
        stream.until("server.connected").await.unwrap();
    }
    let session = room.session().await;
    room.say(&session, "hello").await;
    assert_eq!(room.ask("DELETE", &format!("/session/{session}"), &[], b"").await.body, "true");
    let abort = room.ask("POST", &format!("/session/ses_none/abort?directory={other}"), &[], b"").await;
    assert_eq!(abort.body, "true");

    let told = here.until("\"session.deleted\"").await.unwrap().to_owned();
    // The session's first change is replaced by the second in the same transaction.
    let order = ["session.created", "message.updated", "message.part.updated", "session.updated", "session.deleted"];
    let mut rest = told.as_str();
    for kind in order {
        let at =
            rest.find(&format!("\"type\":\"{kind}\"")).unwrap_or_else(|| panic!("{kind} is not told, or not in order: {told}"));
        rest = &rest[at + 1..];
    }
    let elsewhere = there.until("\"session.idle\"").await.unwrap();
    assert!(elsewhere.contains("\"session.status\"") && !elsewhere.contains("session.created"), "{elsewhere}");
    let everywhere = all.until("\"session.idle\"").await.unwrap();
    for kind in ["session.created", "message.part.updated", "session.deleted"] {
        let live = everywhere.find(&format!("\"type\":\"{kind}\"")).unwrap();
        let sync = everywhere.find(&format!("\"type\":\"{kind}.1\"")).unwrap();
        assert!(live < sync, "the live form comes first");
    }
    assert!(everywhere.contains("{\"directory\":"));
}
