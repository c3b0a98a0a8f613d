//! `GET /users/me/{stream_id}/topics`.

use crate::harness::{Answer, Client, TestServer};
use serde_json::{Value, json};

async fn ask(client: &Client, stream_id: i64) -> Answer {
    client.get(&format!("/users/me/{stream_id}/topics"), json!({"allow_empty_topic_name": true})).await
}

async fn topics(client: &Client, stream_id: i64) -> Value {
    ask(client, stream_id).await.ok()["topics"].clone()
}

// conformance: fetch-98, fetch-99
#[tokio::test]
async fn topics_are_listed_by_their_newest_message() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada]).await;
    assert_eq!(topics(&ada, garden).await, json!([]));
    ada.send(garden, "Apples", "x").await;
    let pears = ada.send(garden, "pears", "x").await;
    let empty = ada.send(garden, "", "x").await;
    // One topic, spelled as in its newest message.
    let apples = ada.send(garden, "APPLES", "x").await;
    let listed = json!([
        {"name": "APPLES", "max_id": apples},
        {"name": "", "max_id": empty},
        {"name": "pears", "max_id": pears},
    ]);
    assert_eq!(topics(&ada, garden).await, listed);
    // A public channel's are for every member.
    assert_eq!(topics(&bob, garden).await, listed);
    let path = format!("/users/me/{garden}/topics");
    assert_eq!(ada.get(&path, ()).await.ok()["topics"][1]["name"], "general chat");
    // A topic without messages is none.
    ada.delete(&format!("/messages/{apples}"), ()).await.ok();
    let rename = json!({"topic": "plums", "send_notification_to_new_thread": false});
    ada.patch(&format!("/messages/{pears}"), rename).await.ok();
    assert_eq!(
        topics(&ada, garden).await,
        json!([
            {"name": "", "max_id": empty},
            {"name": "plums", "max_id": pears},
            {"name": "Apples", "max_id": pears - 1},
        ])
    );
}

// conformance: fetch-100
#[tokio::test]
async fn where_history_is_protected_only_topics_with_received_messages_are_listed() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let bot = server.bot("helper", &ada).await;
    let shed = server.private_channel("shed", &[&owner]).await;
    owner.send(shed, "before", "x").await;
    let both = owner.send(shed, "both", "x").await;
    let comes = async |client: &Client| {
        let request = json!({"subscriptions": [{"name": "shed"}], "principals": [client.user_id]});
        owner.post("/users/me/subscriptions", request).await.ok();
    };
    comes(&ada).await;
    let after = owner.send(shed, "after", "x").await;
    let again = owner.send(shed, "both", "x").await;
    // Her bot sees only the messages that it received itself.
    comes(&bot).await;
    let last = owner.send(shed, "last", "x").await;
    owner.delete(&format!("/messages/{again}"), ()).await.ok();
    assert_eq!(
        topics(&ada, shed).await,
        json!([{"name": "last", "max_id": last}, {"name": "after", "max_id": after}])
    );
    assert_eq!(topics(&bot, shed).await, json!([{"name": "last", "max_id": last}]));
    let of_owner = topics(&owner, shed).await;
    let names: Vec<&Value> = of_owner.as_array().unwrap().iter().map(|topic| &topic["name"]).collect();
    assert_eq!(names, ["last", "after", "both", "before"]);
    assert_eq!(of_owner[2]["max_id"], both);
}

// conformance: fetch-101
#[tokio::test]
async fn channels_that_the_caller_cannot_read_do_not_exist() {
    let server = TestServer::start().await;
    let (owner, ada, guest) = (server.owner().await, server.member("ada").await, server.guest("gus").await);
    let garden = server.channel("garden", &[&owner]).await;
    let shed = server.private_channel("shed", &[&owner]).await;
    for (client, stream_id) in [(&ada, 999), (&ada, shed), (&guest, garden), (&guest, shed)] {
        ask(client, stream_id).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    }
    // Guests may read web-public channels.
    server.sql(&format!("UPDATE stream SET is_web_public = 1 WHERE stream_id = {garden}")).await;
    assert_eq!(topics(&guest, garden).await, json!([]));
}
