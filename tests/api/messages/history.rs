//! `GET /messages/{message_id}/history`, and how much of it may be seen.

use super::{Place, assert_unseen, edit, message, say, subscribe};
use crate::channels::set_realm_setting;
use crate::harness::START;
use serde_json::{Value, json};

#[tokio::test]
async fn a_history_goes_from_the_first_to_the_last() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let ada = server.member("ada").await;
    let id = say(&owner, garden, "", "Hello!").await;
    let path = format!("/messages/{id}/history");
    let first = json!({
        "topic": "general chat", "content": "Hello!", "rendered_content": "<p>Hello!</p>", "timestamp": START,
        "user_id": owner.user_id,
    });
    assert_eq!(ada.get(&path, ()).await.ok()["message_history"], json!([first]));
    server.clock.advance(1);
    edit(&owner, id, json!({"content": "Hello & bye!"})).await.ok();
    server.clock.advance(1);
    edit(&owner, id, json!({"topic": "tea", "content": "Bye!"})).await.ok();
    server.clock.advance(1);
    edit(&owner, id, json!({"stream_id": shed})).await.ok();
    let history =
        owner.get(&path, json!({"allow_empty_topic_name": true})).await.ok()["message_history"].clone();
    let mark = |what: &str, text: &str| format!("<span class=\"highlight_text_{what}\">{text}</span>");
    let expected = json!([
        {"topic": "", "content": "Hello!", "rendered_content": "<p>Hello!</p>", "timestamp": START,
         "user_id": owner.user_id},
        {"topic": "", "content": "Hello & bye!", "rendered_content": "<p>Hello &amp; bye!</p>",
         "timestamp": START + 1, "user_id": owner.user_id, "prev_content": "Hello!",
         "prev_rendered_content": "<p>Hello!</p>",
         "content_html_diff": format!("<p>{}{}</p>", mark("deleted", "Hello!"), mark("inserted", "Hello &amp; bye!"))},
        {"topic": "tea", "prev_topic": "", "content": "Bye!", "rendered_content": "<p>Bye!</p>",
         "timestamp": START + 2, "user_id": owner.user_id, "prev_content": "Hello & bye!",
         "prev_rendered_content": "<p>Hello &amp; bye!</p>",
         "content_html_diff": format!("<p>{}{}</p>", mark("deleted", "Hello &amp; bye!"), mark("inserted", "Bye!"))},
        {"topic": "tea", "content": "Bye!", "rendered_content": "<p>Bye!</p>", "timestamp": START + 3,
         "user_id": owner.user_id, "prev_stream": garden, "stream": shed},
    ]);
    assert_eq!(history, expected);
    ada.get(&path, ()).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    assert_unseen(&ada, id).await;
}

#[tokio::test]
async fn the_organization_says_how_much_may_be_seen() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let ada = server.member("ada").await;
    subscribe(&owner, "garden", &[&ada]).await;
    let id = say(&owner, garden, "lunch", "secret").await;
    edit(&owner, id, json!({"content": "better"})).await.ok();
    edit(&owner, id, json!({"content": "best", "topic": "tea"})).await.ok();
    let path = format!("/messages/{id}/history");
    let policy = async |policy: &str| {
        set_realm_setting(&server, "message_edit_history_visibility_policy", json!(policy)).await;
    };
    policy("moves").await;
    let moves: Value =
        json!([{"user_id": owner.user_id, "timestamp": START, "prev_topic": "lunch", "topic": "tea"}]);
    assert_eq!(message(&ada, id).await["edit_history"], moves);
    let history = ada.get(&path, ()).await.ok()["message_history"].clone();
    assert_eq!(history.as_array().unwrap().len(), 2);
    assert!(!history.to_string().contains("secret"), "{history}");
    assert_eq!((&history[0]["topic"], &history[1]["prev_topic"]), (&json!("lunch"), &json!("lunch")));
    policy("none").await;
    assert_eq!(message(&ada, id).await.get("edit_history"), None);
    let disabled = ada.get(&path, ()).await;
    disabled.error(400, "BAD_REQUEST", "Message edit history is disabled in this organization");
    policy("all").await;
    assert_eq!(message(&ada, id).await["edit_history"][1]["prev_content"], "secret");
}
