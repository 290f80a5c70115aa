use crate::support::Room;
use annalist_schema::raw::{Json, write_pretty};

#[tokio::test(flavor = "multi_thread")]
async fn the_document() {
    let room = Room::new().await;
    let answer = room.get("/doc").await;
    assert_eq!(answer.status, 200);
    let mut text = Vec::new();
    write_pretty(Json::parse(answer.body.as_str()).unwrap().as_str(), 0, &mut text).unwrap();
    insta::assert_snapshot!(String::from_utf8(text).unwrap());
}
