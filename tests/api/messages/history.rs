//! `GET /messages/{message_id}/history`, and how much of it may be seen.

use super::{Place, assert_unseen, edit, message, subscribe};
use crate::harness::START;
use serde_json::{Value, json};

// conformance: history-1, history-2, history-3, history-8, history-10, history-12
#[tokio::test]
async fn history_lists_versions_from_first_to_last() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let ada = server.member("ada").await;
    let id = owner.send(garden, "", "Hello!").await;
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
         "content_html_diff": format!("<div><p>{} {}</p></div>", mark("inserted", "Hello &amp; bye!"), mark("deleted", "Hello!"))},
        {"topic": "tea", "prev_topic": "", "content": "Bye!", "rendered_content": "<p>Bye!</p>",
         "timestamp": START + 2, "user_id": owner.user_id, "prev_content": "Hello & bye!",
         "prev_rendered_content": "<p>Hello &amp; bye!</p>",
         "content_html_diff": format!("<div><p>{} {}</p></div>", mark("inserted", "Bye!"), mark("deleted", "Hello &amp; bye!"))},
        {"topic": "tea", "content": "Bye!", "rendered_content": "<p>Bye!</p>", "timestamp": START + 3,
         "user_id": owner.user_id, "prev_stream": garden, "stream": shed},
    ]);
    assert_eq!(history, expected);
    ada.get(&path, ()).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    assert_unseen(&ada, id).await;
}

// conformance: fetch-30, history-13, history-14, history-15
#[tokio::test]
async fn visible_history_follows_the_organization() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let ada = server.member("ada").await;
    subscribe(&owner, "garden", &[&ada]).await;
    let id = owner.send(garden, "lunch", "secret").await;
    edit(&owner, id, json!({"content": "better"})).await.ok();
    edit(&owner, id, json!({"content": "best", "topic": "tea"})).await.ok();
    let path = format!("/messages/{id}/history");
    let policy = async |policy: &str| {
        server.set_realm_setting("message_edit_history_visibility_policy", json!(policy)).await;
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

// conformance: history-4, history-5, history-6, history-7, history-10, history-11, history-12, history-13
#[tokio::test]
async fn history_entries_name_the_editor() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    subscribe(&owner, "garden", &[&ada, &bob]).await;
    subscribe(&owner, "shed", &[&ada, &bob]).await;
    let id = ada.send(garden, "lunch", "one").await;
    let other = owner.send(garden, "lunch", "other").await;
    server.clock.advance(1);
    edit(&bob, other, json!({"topic": "", "propagate_mode": "change_all"})).await.ok();
    server.clock.advance(1);
    edit(&owner, id, json!({"topic": "tea", "stream_id": shed})).await.ok();
    server.clock.advance(1);
    edit(&bob, id, json!({"topic": "✔ tea"})).await.ok();
    server.clock.advance(1);
    edit(&ada, id, json!({"content": "two"})).await.ok();
    let path = format!("/messages/{id}/history");
    let one = |mut fields: Value, age: i64, by: &crate::harness::Client| {
        fields["timestamp"] = (START + age).into();
        fields["user_id"] = by.user_id.into();
        if fields.get("content").is_none() {
            fields["content"] = "one".into();
            fields["rendered_content"] = "<p>one</p>".into();
        }
        fields
    };
    let expected = json!([
        one(json!({"topic": "lunch"}), 0, &ada),
        one(json!({"topic": "general chat", "prev_topic": "lunch"}), 1, &bob),
        one(
            json!({"topic": "tea", "prev_topic": "general chat", "stream": shed, "prev_stream": garden}),
            2,
            &owner
        ),
        one(json!({"topic": "✔ tea", "prev_topic": "tea"}), 3, &bob),
        one(
            json!({
                "topic": "✔ tea", "content": "two", "rendered_content": "<p>two</p>", "prev_content": "one",
                "prev_rendered_content": "<p>one</p>", "content_html_diff": "*",
            }),
            4,
            &ada
        ),
    ]);
    let found = bob.get(&path, ()).await.ok()["message_history"].clone();
    assert_eq!(crate::harness::differences(&expected, &found), [""; 0]);
    // Moves only: the contents are those of today, and the edit of content has no snapshot.
    server.set_realm_setting("message_edit_history_visibility_policy", json!("moves")).await;
    let moves = bob.get(&path, json!({"allow_empty_topic_name": true})).await.ok()["message_history"].clone();
    let mut expected: Vec<Value> = expected.as_array().unwrap()[..4].to_vec();
    for snapshot in &mut expected {
        snapshot["content"] = "two".into();
        snapshot["rendered_content"] = "<p>two</p>".into();
        for name in ["topic", "prev_topic"] {
            if snapshot[name] == "general chat" {
                snapshot[name] = "".into();
            }
        }
    }
    assert_eq!(moves, json!(expected));
    // A direct message has no topic.
    server.set_realm_setting("message_edit_history_visibility_policy", json!("all")).await;
    let direct = ada.send_direct(&[&bob], "hi").await;
    edit(&ada, direct, json!({"content": "hello"})).await.ok();
    let path = format!("/messages/{direct}/history");
    let found = bob.get(&path, ()).await.ok()["message_history"].clone();
    assert_eq!((&found[0]["topic"], &found[1]["topic"]), (&json!(""), &json!("")));
    owner.get(&path, ()).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    owner.get("/messages/9999/history", ()).await.error(400, "BAD_REQUEST", "Invalid message(s)");
}

// conformance: history-19
#[tokio::test]
async fn of_many_edits_the_newest_are_kept() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let id = owner.send(garden, "lunch", "0").await;
    for number in 1..=103 {
        edit(&owner, id, json!({"content": number.to_string()})).await.ok();
    }
    let history = owner.get(&format!("/messages/{id}/history"), ()).await.ok()["message_history"].clone();
    let contents: Vec<_> = history.as_array().unwrap().iter().map(|one| one["content"].clone()).collect();
    // The original version stays, with the first edit.
    let mut expected = vec![json!("0")];
    expected.extend((3..=103).map(|number| json!(number.to_string())));
    assert_eq!(contents, expected);
    assert_eq!(history[0]["user_id"], owner.user_id);
    let shown = message(&owner, id).await["edit_history"].clone();
    assert_eq!(shown.as_array().unwrap().len(), 101);
    assert_eq!((&shown[0]["prev_content"], &shown[100]["prev_content"]), (&json!("102"), &json!("0")));
    let kept = "SELECT count(*) FROM message_edit";
    assert_eq!(server.column(kept).await, ["101"]);
    // Longer versions are fewer, and the first and the last are always there.
    for number in 0..5 {
        // Some 800 kB of HTML.
        let content = format!("{number} {}", "\u{1faf0}".repeat(4000));
        edit(&owner, id, json!({ "content": content })).await.ok();
    }
    let shown = message(&owner, id).await["edit_history"].clone();
    assert_eq!(shown.as_array().unwrap().len(), 3);
    assert_eq!(shown[2]["prev_content"], "0");
    assert_eq!(server.column(kept).await, ["3"]);
    // A move is kept in addition to the limited number of edits.
    edit(&owner, id, json!({"topic": "dinner"})).await.ok();
    assert_eq!(message(&owner, id).await["edit_history"][0]["topic"], "dinner");
}

#[tokio::test]
async fn moves_push_no_version_out_of_the_history() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let bob = server.member("bob").await;
    let id = owner.send(garden, "lunch", "I owe Bob 100").await;
    edit(&owner, id, json!({"content": "I owe Bob nothing"})).await.ok();
    for number in 0..103 {
        let topic = format!("lunch {}", number % 2);
        edit(&bob, id, json!({"topic": topic, "send_notification_to_new_thread": false})).await.ok();
    }
    let history = bob.get(&format!("/messages/{id}/history"), ()).await.ok()["message_history"].clone();
    assert_eq!(history.as_array().unwrap().len(), 102);
    assert_eq!(history[0]["content"], "I owe Bob 100");
    assert_eq!(history[1]["prev_content"], "I owe Bob 100");
    let kept = "SELECT count(*) FROM message_edit";
    assert_eq!(server.column(kept).await, ["101"]);
}
