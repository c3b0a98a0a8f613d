//! Custom emoji in messages and reactions.

use super::{add, all, deactivate};
use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

async fn react(client: &Client, id: i64, parameters: Value) -> crate::harness::Answer {
    client.post(&format!("/messages/{id}/reactions"), parameters).await
}

// conformance: md-51
#[tokio::test]
async fn texts_show_custom_emoji_until_they_are_deactivated() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.administrator("ada").await, server.member("bob").await);
    add(&bob, "green_tick").await.ok();
    add(&ada, "smile").await.ok();
    let emoji = all(&ada).await;
    let image = |id: &str, name: &str, title: &str| {
        let url = emoji[id]["source_url"].as_str().unwrap();
        format!(r#"<p><img alt=":{name}:" class="emoji" src="{url}" title="{title}"></p>"#)
    };
    let first = ada.send_direct(&[&bob], ":green_tick:").await;
    assert_eq!(ada.message(first).await["content"], image("1", "green_tick", "green tick"));
    let second = ada.send_direct(&[&bob], ":smile:").await;
    assert_eq!(ada.message(second).await["content"], image("2", "smile", "smile"));
    let extra = ada.send_direct(&[&bob], ":zulip:").await;
    assert_eq!(
        ada.message(extra).await["content"],
        r#"<p><img alt=":zulip:" class="emoji" src="/static/generated/emoji/images/emoji/unicode/zulip.png" title="zulip"></p>"#
    );
    deactivate(&bob, "green_tick").await.ok();
    deactivate(&ada, "smile").await.ok();
    assert_eq!(ada.message(first).await["content"], image("1", "green_tick", "green tick"));
    let plain = ada.send_direct(&[&bob], ":green_tick:").await;
    assert_eq!(ada.message(plain).await["content"], "<p>:green_tick:</p>");
    let built_in = ada.send_direct(&[&bob], ":smile:").await;
    assert_eq!(
        ada.message(built_in).await["content"],
        r#"<p><span aria-label="smile" class="emoji emoji-1f642" role="img" title="smile">:smile:</span></p>"#
    );
}

// conformance: react-1, react-2, react-4, react-10, react-15
#[tokio::test]
async fn reactions_are_custom_emoji_by_name_or_by_id() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.administrator("ada").await, server.member("bob").await);
    for name in ["green_tick", "smile", "tick_0"] {
        add(&ada, name).await.ok();
    }
    let id = ada.send_direct(&[&bob], "hello").await;
    react(&bob, id, json!({"emoji_name": "tick_0"})).await.ok();
    deactivate(&ada, "tick_0").await.ok();
    let emoji = |name: &str, code: &str| json!({"emoji_name": name, "emoji_code": code, "reaction_type": "realm_emoji"});
    for (parameters, msg) in [
        (emoji("green_tick", "99"), "Invalid custom emoji."),
        (emoji("green_tick", "01"), "Invalid custom emoji."),
        (emoji("green_tick", "green_tick"), "Invalid custom emoji."),
        (emoji("smile", "1"), "Invalid custom emoji name."),
        (emoji("tada", "1"), "Invalid custom emoji name."),
        (json!({"emoji_name": "tick_0"}), "Emoji 'tick_0' does not exist"),
    ] {
        react(&ada, id, parameters).await.error(400, "BAD_REQUEST", msg);
    }
    let other = ada.send_direct(&[&bob], "hello again").await;
    let msg = "This custom emoji has been deactivated.";
    react(&ada, other, emoji("tick_0", "3")).await.error(400, "BAD_REQUEST", msg);

    // Other users can add a reaction that exists already.
    react(&ada, id, emoji("tick_0", "3")).await.ok();
    ada.delete(&format!("/messages/{id}/reactions"), emoji("tick_0", "3")).await.ok();

    let mut events = ada.register(json!({"event_types": ["reaction"]})).await;
    react(&bob, id, json!({"emoji_name": "green_tick"})).await.ok();
    react(&bob, id, json!({"emoji_name": "smile"})).await.ok();
    // A custom emoji takes precedence over a Unicode emoji of the same name, which is available by its code.
    let known = json!({"emoji_name": "smile", "emoji_code": "1f642", "reaction_type": "unicode_emoji"});
    react(&bob, id, known).await.ok();
    let added = |name: &str, code: &str, kind: &str| {
        json!({"type": "reaction", "op": "add", "message_id": id, "user_id": bob.user_id, "emoji_name": name,
            "emoji_code": code, "reaction_type": kind, "user": "*"})
    };
    events
        .expect(&[
            added("green_tick", "1", "realm_emoji"),
            added("smile", "2", "realm_emoji"),
            added("smile", "1f642", "unicode_emoji"),
        ])
        .await;
    // A reaction with a deactivated emoji can be removed by its id.
    let by_id = json!({"emoji_code": "3", "reaction_type": "realm_emoji"});
    bob.delete(&format!("/messages/{id}/reactions"), by_id).await.ok();
    bob.delete(&format!("/messages/{id}/reactions"), json!({"emoji_name": "green_tick"})).await.ok();
    let removed = |name: &str, code: &str| {
        let mut event = added(name, code, "realm_emoji");
        event["op"] = "remove".into();
        event
    };
    events.expect(&[removed("tick_0", "3"), removed("green_tick", "1")]).await;
    let left = ada.message(id).await["reactions"].clone();
    assert_eq!(
        left,
        json!([
            {"emoji_name": "smile", "emoji_code": "2", "reaction_type": "realm_emoji", "user_id": bob.user_id},
            {"emoji_name": "smile", "emoji_code": "1f642", "reaction_type": "unicode_emoji", "user_id": bob.user_id},
        ])
    );
}

#[tokio::test]
async fn statuses_are_custom_emoji_by_name_or_by_id() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.administrator("ada").await, server.member("bob").await);
    add(&ada, "green_tick").await.ok();
    add(&ada, "tick_0").await.ok();
    deactivate(&ada, "tick_0").await.ok();
    let emoji = |name: &str, code: &str| json!({"emoji_name": name, "emoji_code": code, "reaction_type": "realm_emoji"});
    for (parameters, msg) in [
        (emoji("green_tick", "9"), "Invalid custom emoji."),
        (emoji("tick_0", "1"), "Invalid custom emoji name."),
        (emoji("tick_0", "2"), "This custom emoji has been deactivated."),
        (json!({"emoji_name": "tick_0"}), "Emoji 'tick_0' does not exist"),
    ] {
        bob.post("/users/me/status", parameters).await.error(400, "BAD_REQUEST", msg);
    }
    let mut events = ada.register(json!({"event_types": ["user_status"]})).await;
    bob.post("/users/me/status", json!({"emoji_name": "green_tick"})).await.ok();
    let mut status = emoji("green_tick", "1");
    let answer = bob.get(&format!("/users/{}/status", bob.user_id), ()).await.ok();
    assert_eq!(answer["status"], status);
    (status["type"], status["user_id"]) = (json!("user_status"), json!(bob.user_id));
    events.expect(&[status]).await;
}
