//! Links from messages to files, and files without links.

use super::{attachments, link, load, upload};
use crate::harness::{Client, START, TestServer};
use serde_json::{Value, json};

/// The ids of the messages that link to the caller's first file.
async fn linking(client: &Client) -> Vec<i64> {
    let listed = attachments(client).await;
    let messages = listed[0]["messages"].as_array().unwrap().iter();
    messages.map(|message| message["id"].as_i64().unwrap()).collect()
}

async fn has_attachment(client: &Client, id: i64) -> bool {
    let narrow = json!([["has", "attachment"], ["id", id.to_string()]]);
    let found = json!({"anchor": "newest", "num_before": 9, "num_after": 0, "narrow": narrow});
    !client.get("/messages", found).await.ok()["messages"].as_array().unwrap().is_empty()
}

// conformance: edit-2, edit-10
#[tokio::test]
async fn messages_claim_files_and_let_them_go() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let url = upload(&ada, "a.txt", b"hello").await;
    let mut events = ada.register(json!({"event_types": ["attachment"]})).await;
    let mut others = bob.register(json!({"event_types": ["attachment"]})).await;
    let first = ada.send(general, "t", &format!("{} and again {url}", link(&url))).await;
    server.clock.advance(5);
    let second = bob.send(general, "t", &link(&url)).await;
    let both =
        json!([{"id": first, "date_sent": START * 1000}, {"id": second, "date_sent": (START + 5) * 1000}]);
    assert_eq!(attachments(&ada).await[0]["messages"], both);
    let received = events.expect_kinds(&["attachment/update"; 2]).await;
    assert_eq!(
        (&received[1]["attachment"]["messages"], &received[1]["upload_space_used"]),
        (&both, &json!(5))
    );
    others.expect_nothing().await;
    assert!(has_attachment(&bob, first).await && has_attachment(&ada, second).await);

    // An edit that keeps the link changes nothing.
    let edit = async |client: &Client, id: i64, content: &str| -> Value {
        client.patch(&format!("/messages/{id}"), json!({"content": content})).await.ok()["detached_uploads"]
            .clone()
    };
    assert_eq!(edit(&ada, first, &link(&url)).await, json!([]));
    events.expect_nothing().await;
    // An edit removes one link; another user's message still links to the file.
    assert_eq!(edit(&ada, first, "nothing").await, json!([]));
    assert_eq!(linking(&ada).await, [second]);
    assert!(!has_attachment(&ada, first).await);
    events.expect_kinds(&["attachment/update"]).await;
    // The last link decides: only the uploader has access.
    assert_eq!(edit(&bob, second, "nothing").await, json!([]));
    let received = events.expect_kinds(&["attachment/update"]).await;
    assert_eq!(received[0]["attachment"]["messages"], json!([]));
    assert_eq!(edit(&ada, first, &link(&url)).await, json!([]));
    assert!(has_attachment(&ada, first).await);
    let detached = edit(&ada, first, "nothing again").await;
    assert_eq!(detached, attachments(&ada).await);
    assert_eq!(detached[0]["name"], "a.txt");
    assert_eq!(load(&ada, &url).await.status, 200);
    events.expect_kinds(&["attachment/update"; 2]).await;
    assert_eq!(load(&bob, &url).await.status, 403);
}

// conformance: delete-12
#[tokio::test]
async fn a_file_is_deleted_with_the_last_message_that_links_to_it() {
    let server = TestServer::start().await;
    let ada = server.administrator("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let url = upload(&ada, "a.txt", b"hello").await;
    let (first, second) =
        (ada.send(general, "t", &link(&url)).await, ada.send_direct(&[&bob], &link(&url)).await);
    let mut events = ada.register(json!({"event_types": ["attachment"]})).await;
    ada.delete(&format!("/messages/{first}"), ()).await.ok();
    assert_eq!(linking(&ada).await, [second]);
    ada.delete(&format!("/messages/{second}"), ()).await.ok();
    assert_eq!(attachments(&ada).await, json!([]));
    assert_eq!(load(&ada, &url).await.status, 404);
    let received = events.expect_kinds(&["attachment/update", "attachment/remove"]).await;
    assert_eq!(received[1]["upload_space_used"], 0);
    // A whole topic.
    let url = upload(&bob, "b.txt", b"hello").await;
    for _ in 0..3 {
        bob.send(general, "files", &link(&url)).await;
    }
    ada.post(&format!("/streams/{general}/delete_topic"), &[("topic_name", "files")]).await.ok();
    assert_eq!(load(&bob, &url).await.status, 404);
    events.expect_nothing().await;
}

#[tokio::test]
async fn only_files_that_are_there_are_attachments() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let gone = upload(&ada, "a.txt", b"hello").await;
    ada.delete(&format!("/attachments/{}", attachments(&ada).await[0]["id"]), ()).await.ok();
    for text in ["[x](/user_uploads/1/none/none.txt)", &link(&gone), "[x](/user_uploads/)"] {
        let id = ada.send_direct(&[&ada], text).await;
        assert!(!has_attachment(&ada, id).await, "{text}");
    }
    // A message keeps its text when its file is deleted.
    let url = upload(&ada, "b.txt", b"hello").await;
    let origin = format!("http://{}", server.address());
    let id = ada.send_direct(&[&ada], &format!("{origin}{url}")).await;
    assert_eq!(linking(&ada).await, [id]);
    ada.delete(&format!("/attachments/{}", attachments(&ada).await[0]["id"]), ()).await.ok();
    assert!(has_attachment(&ada, id).await);
    assert_eq!(
        ada.patch(&format!("/messages/{id}"), &[("content", "x")]).await.ok()["detached_uploads"],
        json!([])
    );
}

#[tokio::test]
async fn a_scheduled_message_holds_its_files() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let url = upload(&ada, "a.txt", b"hello").await;
    let unclaimed = "SELECT count(*) FROM attachment WHERE unclaimed_since IS NOT NULL";
    let schedule = async |content: &str| {
        let message = json!({"type": "direct", "to": [bob.user_id], "content": content,
            "scheduled_delivery_timestamp": START + 1000});
        ada.post("/scheduled_messages", message).await.ok()["scheduled_message_id"].as_i64().unwrap()
    };
    assert_eq!(server.column(unclaimed).await, ["1"]);
    let id = schedule(&link(&url)).await;
    assert_eq!(server.column(unclaimed).await, ["0"]);
    // The receiver has not got it yet.
    assert_eq!(load(&bob, &url).await.status, 403);
    assert_eq!(linking(&ada).await, [0; 0]);
    // A message that is sent and edited leaves it to the one that is not.
    let sent = ada.send_direct(&[&ada], &link(&url)).await;
    let edited = ada.patch(&format!("/messages/{sent}"), &[("content", "x")]).await.ok();
    assert_eq!(edited["detached_uploads"], json!([]));
    let path = format!("/scheduled_messages/{id}");
    ada.patch(&path, &[("content", "nothing")]).await.ok();
    assert_eq!(server.column(unclaimed).await, ["1"]);
    ada.patch(&path, json!({"content": link(&url)})).await.ok();
    ada.patch(&path, json!({"scheduled_delivery_timestamp": START + 2000})).await.ok();
    assert_eq!(server.column(unclaimed).await, ["0"]);
    ada.delete(&path, ()).await.ok();
    assert_eq!(server.column(unclaimed).await, ["1"]);
    schedule(&link(&url)).await;
    server.clock.advance(1000);
    server.deliver_due().await;
    assert_eq!(load(&bob, &url).await.bytes, b"hello");
    assert_eq!(linking(&ada).await.len(), 1);
    assert_eq!(server.column("SELECT count(*) FROM attachment_scheduled_message").await, ["0"]);
    assert_eq!(server.column(unclaimed).await, ["0"]);
}

#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let ada = server.administrator("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let kept = upload(&ada, "kept.txt", b"kept").await;
    let old = ada.send(general, "t", &link(&kept)).await;
    server
        .check_state_sync(&[&ada, &bob], async || {
            let url = upload(&ada, "new.png", &super::png(30, 20)).await;
            let first = ada.send(general, "t", &link(&url)).await;
            bob.send_direct(&[&ada], &format!("{} {}", link(&url), link(&kept))).await;
            ada.patch(&format!("/messages/{first}"), json!({"content": link(&kept)})).await.ok();
            ada.patch(&format!("/messages/{old}"), &[("content", "x")]).await.ok();
            let lost = upload(&bob, "lost.txt", b"lost").await;
            let message = bob.send(general, "t", &link(&lost)).await;
            ada.delete(&format!("/messages/{message}"), ()).await.ok();
            upload(&bob, "third.txt", b"third").await;
            let id = attachments(&ada).await[1]["id"].clone();
            ada.delete(&format!("/attachments/{id}"), ()).await.ok();
        })
        .await;
}
