//! Events about messages tell clients all that a new registration and a new fetch would.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

/// Sends a direct message and answers its id.
async fn send(from: &Client, to: &[&Client], content: &str) -> i64 {
    let to: Vec<i64> = to.iter().map(|client| client.user_id).collect();
    let message = json!({"type": "direct", "to": to, "content": content});
    from.post("/messages", message).await.ok()["id"].as_i64().unwrap()
}

#[tokio::test]
async fn direct_messages_come_and_go() {
    let server = TestServer::start().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let all = [&ada, &bob, &cleo];
    let first = send(&ada, &[&bob], "hello").await;
    let ids = server
        .check_state_sync(&all, async || {
            let group = send(&cleo, &[&ada, &bob], "all of us, @**Bob**").await;
            let own = send(&ada, &[&ada], "*note*").await;
            let answer = send(&bob, &[&ada], "hi @**Ada**").await;
            [group, own, answer]
        })
        .await;
    let [group, own, answer] = ids;
    let flags = async |client: &Client, op: &str, flag: &str, messages: &[i64]| {
        let parameters = json!({"op": op, "flag": flag, "messages": messages});
        client.post("/messages/flags", parameters).await.ok()
    };
    server
        .check_state_sync(&all, async || {
            flags(&ada, "add", "read", &[group, own, answer]).await;
            flags(&ada, "add", "starred", &[first, group]).await;
            flags(&bob, "add", "read", &[first]).await;
            flags(&cleo, "add", "starred", &[group]).await;
        })
        .await;
    server
        .check_state_sync(&all, async || {
            flags(&ada, "remove", "read", &[group, answer]).await;
            flags(&ada, "remove", "starred", &[first]).await;
            flags(&bob, "remove", "read", &[first, group]).await;
        })
        .await;
    server
        .check_state_sync(&all, async || {
            let edit = |content: &str| json!({ "content": content });
            cleo.patch(&format!("/messages/{group}"), edit("without a mention")).await.ok();
            server.clock.advance(5);
            cleo.patch(&format!("/messages/{group}"), edit("/me mentions @**Ada**")).await.ok();
        })
        .await;
    server
        .check_state_sync(&all, async || {
            let path = format!("/messages/{group}/reactions");
            for client in all {
                client.post(&path, json!({"emoji_name": "tada"})).await.ok();
            }
            bob.post(&path, json!({"emoji_name": "heart"})).await.ok();
            ada.delete(&path, json!({"emoji_name": "tada"})).await.ok();
        })
        .await;
    let owner = server.owner().await;
    server.sql("UPDATE user SET role = 100 WHERE email = 'ada@example.com'").await;
    server
        .check_state_sync(&[&ada, &bob, &cleo, &owner], async || {
            ada.delete(&format!("/messages/{answer}"), ()).await.ok();
            ada.delete(&format!("/messages/{group}"), ()).await.ok();
        })
        .await;
    let left = ada.get("/messages", json!({"anchor": "newest", "num_before": 9, "num_after": 0})).await.ok();
    let left: Vec<&Value> =
        left["messages"].as_array().unwrap().iter().map(|message| &message["id"]).collect();
    assert_eq!(left, [first, own]);
}
