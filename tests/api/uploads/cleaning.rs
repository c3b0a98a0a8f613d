//! Scheduled deletion of files.

use super::{attachments, content, link, load, upload};
use crate::harness::TestServer;
use serde_json::json;
use std::sync::Arc;
use teamchat::api::uploads::cleaning;

const WEEK: i64 = 7 * 24 * 60 * 60;

/// Deletes files that are due by the test's clock.
async fn clean(server: &TestServer) {
    cleaning::clean_due(&Arc::clone(server.app())).await.unwrap();
}

#[tokio::test]
async fn unused_files_are_deleted_after_five_weeks() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let linked = upload(&ada, "linked", b"linked").await;
    let message = ada.send_direct(&[&ada], &link(&linked)).await;
    let lost = upload(&ada, "lost", b"lost").await;
    let mut events = ada.register(json!({"event_types": ["attachment"]})).await;
    server.clock.advance(5 * WEEK - 1);
    // Another one is removed at this moment.
    upload(&ada, "deleted", b"deleted").await;
    let deleted = attachments(&ada).await.as_array().unwrap().iter().map(|file| file["id"].as_i64()).max();
    ada.delete(&format!("/attachments/{}", deleted.flatten().unwrap()), ()).await.ok();
    clean(&server).await;
    assert_eq!(load(&ada, &lost).await.status, 200);
    events.expect_kinds(&["attachment/add", "attachment/remove"]).await;
    server.clock.advance(1);
    clean(&server).await;
    assert_eq!((load(&ada, &lost).await.status, load(&ada, &linked).await.status), (404, 200));
    let received = events.expect_kinds(&["attachment/remove"]).await;
    assert_eq!(received[0]["upload_space_used"], 6);
    // The retention starts again when the last link is removed.
    server
        .sql(&format!("UPDATE message SET timestamp = timestamp + {} WHERE id = {message}", 5 * WEEK))
        .await;
    ada.patch(&format!("/messages/{message}"), &[("content", "nothing")]).await.ok();
    server.clock.advance(4 * WEEK);
    clean(&server).await;
    assert_eq!(attachments(&ada).await[0]["name"], "linked");
    server.clock.advance(WEEK);
    clean(&server).await;
    assert_eq!(attachments(&ada).await, json!([]));
    events.expect_kinds(&["attachment/update", "attachment/remove"]).await;
}

#[tokio::test]
async fn the_content_of_a_deleted_file_is_removed_to_the_last_piece() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    upload(&ada, "large", &content(20 << 20)).await;
    let kept = upload(&ada, "kept", b"kept").await;
    let id = attachments(&ada).await[0]["id"].clone();
    assert_eq!(server.column("SELECT count(*) FROM upload_piece").await, ["81"]);
    ada.delete(&format!("/attachments/{id}"), ()).await.ok();
    clean(&server).await;
    for table in ["upload_piece", "upload_content"] {
        assert_eq!(server.column(&format!("SELECT count(*) FROM {table}")).await, ["1"], "{table}");
    }
    assert_eq!(load(&ada, &kept).await.bytes, b"kept");
}
