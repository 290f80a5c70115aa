use crate::support::{Room, Stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread")]
async fn streams_are_told_and_the_server_ends() {
    let mut room = Room::new().await;
    let folder = room.folder.display().to_string();
    let mut here = Stream::open(&room, "/event").await;
    let mut all = Stream::open(&room, "/global/event").await;
    here.until("server.connected").await.unwrap();
    all.until("server.connected").await.unwrap();
    room.tell_to_end();
    let told = here.rest().await;
    assert!(
        told.contains(&format!("\"type\":\"server.instance.disposed\",\"properties\":{{\"directory\":\"{folder}\"}}")),
        "{told}"
    );
    assert!(all.rest().await.contains("\"global.disposed\""));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_under_way_is_finished() {
    let mut room = Room::new().await;
    let session = room.session().await;
    let body = r#"{"noReply":true,"parts":[{"type":"text","text":"late"}]}"#;
    let mut stream = TcpStream::connect(room.address).await.unwrap();
    let head = format!(
        "POST /session/{session}/message HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\nexpect: 100-continue\r\n\r\n",
        room.address,
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    // The server has taken the request up when it asks for the body.
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).await.unwrap();
    assert!(go_on.starts_with(b"HTTP/1.1 100"));
    room.tell_to_end();
    stream.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(room.everything().contains("late"));
}

#[tokio::test(flavor = "multi_thread")]
async fn it_ends_without_anyone_there() {
    let room = Room::new().await;
    room.session().await;
    room.end().await.unwrap();
}
