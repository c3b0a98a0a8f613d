//! `/poll`, `/todo` and `POST /submessage`.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

/// Sends a message to a channel of two, and returns its id and its data.
async fn widget(client: &Client, stream_id: i64, content: &str) -> (i64, Value) {
    let id = client.send(stream_id, "plans", content).await;
    (id, client.message(id).await["submessages"].clone())
}

async fn add(client: &Client, id: i64, content: &Value) -> crate::harness::Answer {
    let content = content.to_string();
    client.post("/submessage", json!({"message_id": id, "msg_type": "widget", "content": content})).await
}

// conformance: send-28, sub-1, sub-2, sub-5
#[tokio::test]
async fn a_poll_has_its_question_from_the_start() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let mut events = bob.register(json!({"event_types": ["message"]})).await;
    let (id, data) = widget(&ada, general, "/poll Lunch?\n- yes\n- no").await;
    let content: Value = serde_json::from_str(data[0]["content"].as_str().unwrap()).unwrap();
    let poll = json!({"widget_type": "poll", "extra_data": {"question": "Lunch?", "options": ["yes", "no"]}});
    assert_eq!(content, poll);
    let expected = json!([{"id": data[0]["id"], "message_id": id, "sender_id": ada.user_id,
        "msg_type": "widget", "content": data[0]["content"]}]);
    assert_eq!(data, expected);
    let received = events.expect_kinds(&["message"]).await;
    assert_eq!(received[0]["message"]["submessages"], expected);
    let (_, none) = widget(&ada, general, "a /poll?").await;
    assert_eq!(none, json!([]));
    events.ignore();
}

// conformance: sub-80
#[tokio::test]
async fn a_bot_sends_choices_with_its_message() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let mut events = bob.register(json!({"event_types": ["message"]})).await;
    let choice =
        json!({"type": "multiple_choice", "short_name": "A", "long_name": "yes", "reply": "answer A"});
    let form = json!({"widget_type": "zform",
        "extra_data": {"type": "choices", "heading": "Well?", "choices": [choice]}});
    let message = |widget: &Value| {
        json!({"type": "channel", "to": general, "topic": "quiz", "content": "Well?",
        "widget_content": widget.to_string()})
    };
    let sent = ada.post("/messages", message(&form)).await.ok();
    let received = events.expect_kinds(&["message"]).await;
    let data = &received[0]["message"]["submessages"];
    assert_eq!((&data[0]["message_id"], &data[0]["msg_type"]), (&sent["id"], &json!("widget")));
    let content: Value = serde_json::from_str(data[0]["content"].as_str().unwrap()).unwrap();
    assert_eq!(content, form);
    assert_eq!(bob.message(sent["id"].as_i64().unwrap()).await["submessages"], *data);
    let refused = ada.post("/messages", message(&json!({"widget_type": "zform"}))).await;
    refused.error(400, "BAD_REQUEST", "Widgets: extra_data is not in widget_content");
    events.expect_nothing().await;
}

// conformance: fetch-35, sub-6, sub-8, sub-9, sub-10
#[tokio::test]
async fn votes_are_emitted_to_receivers() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let eve = server.member("eve").await;
    let general = server.private_channel("general", &[&ada, &bob]).await;
    let (id, first) = widget(&ada, general, "/poll Lunch?").await;
    let mut events = ada.register(json!({"event_types": ["submessage"]})).await;
    let mut outsiders = eve.register(json!({"event_types": ["submessage"]})).await;
    let vote = json!({"type": "vote", "key": "canned,0", "vote": 1});
    add(&bob, id, &vote).await.ok();
    add(&ada, id, &json!({"type": "question", "question": "Dinner?"})).await.ok();
    add(&eve, id, &vote).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    let received = events.expect_kinds(&["submessage", "submessage"]).await;
    let data = bob.message(id).await["submessages"].clone();
    assert_eq!(data.as_array().unwrap().len(), 3);
    assert_eq!(data[0], first[0]);
    for (event, submessage) in received.iter().zip(&data.as_array().unwrap()[1..]) {
        let expected = json!({"id": event["id"], "type": "submessage", "msg_type": "widget", "message_id": id,
            "submessage_id": submessage["id"], "sender_id": submessage["sender_id"],
            "content": submessage["content"]});
        assert_eq!(*event, expected);
    }
    assert_eq!(
        (&received[0]["sender_id"], &received[0]["content"]),
        (&json!(bob.user_id), &json!(vote.to_string()))
    );
    outsiders.expect_nothing().await;
}

// conformance: sub-11, sub-12, sub-13, sub-14, sub-18, sub-21, sub-22, sub-25, sub-26
#[tokio::test]
async fn unreadable_html_is_refused() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let (poll, _) = widget(&ada, general, "/poll Lunch?").await;
    let (todo, _) = widget(&ada, general, "/todo").await;
    let (plain, _) = widget(&ada, general, "hello").await;
    let refused = async |client: &Client, id: i64, content: Value, msg: &str| {
        add(client, id, &content).await.error(400, "BAD_REQUEST", msg);
    };
    refused(&bob, plain, json!({}), "You cannot attach a submessage to this message.").await;
    refused(&bob, poll, json!({"type": "vote"}), "key key is missing from poll data").await;
    let vote = json!({"type": "vote", "key": "soup", "vote": 1});
    refused(&bob, poll, vote, "Invalid poll data[\"key\"]").await;
    let question = json!({"type": "question", "question": "x"});
    refused(&bob, poll, question, "You can't edit a question unless you are the author.").await;
    refused(&ada, todo, json!({"type": "vote"}), "Unknown type for todo data: vote").await;
    let title = json!({"type": "new_task_list_title", "title": "x"});
    refused(&bob, todo, title, "You can't edit the task list title unless you are the author.").await;
    let parameters = json!({"message_id": poll, "msg_type": "widget", "content": "{"});
    let answer = ada.post("/submessage", parameters).await;
    answer.error(400, "BAD_REQUEST", "Invalid json for submessage");
    for name in ["message_id", "msg_type", "content"] {
        let mut parameters = json!({"message_id": poll, "msg_type": "widget", "content": "{}"});
        parameters.as_object_mut().unwrap().remove(name);
        let msg = format!("Missing '{name}' argument");
        ada.post("/submessage", parameters).await.error(400, "REQUEST_VARIABLE_MISSING", &msg);
    }
    assert_eq!(ada.message(poll).await["submessages"].as_array().unwrap().len(), 1);
    // The sender may make a widget of any message of theirs; from then on others may add to it.
    add(&ada, plain, &json!({"widget_type": "game"})).await.ok();
    add(&bob, plain, &json!({"move": "e4"})).await.ok();
}

// conformance: sub-14
#[tokio::test]
async fn data_of_unknown_kinds_are_kept_as_they_are() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let general = server.channel("general", &[&ada, &bob]).await;
    let (game, _) = widget(&ada, general, "chess?").await;
    let mut events = bob.register(json!({"event_types": ["submessage"]})).await;
    let sent = [
        (&ada, r#"{"widget_type":  "game", "zeta": 1.50, "alpha": [null, {"b": "\u00e9", "a": true}]}"#),
        (&bob, r#"["anything", {"z": 1, "a": 2}]"#),
        (&bob, "17"),
        (&ada, r#" "a text" "#),
    ];
    for (author, content) in sent {
        let parameters = json!({"message_id": game, "msg_type": "widget", "content": content});
        author.post("/submessage", parameters).await.ok();
    }
    let kept = ada.message(game).await["submessages"].clone();
    let received = events.expect_kinds(&["submessage"; 4]).await;
    assert_eq!(kept.as_array().unwrap().len(), sent.len());
    for (index, (author, content)) in sent.into_iter().enumerate() {
        let expected = (&json!(author.user_id), &json!(content));
        assert_eq!((&kept[index]["sender_id"], &kept[index]["content"]), expected, "stored");
        assert_eq!((&received[index]["sender_id"], &received[index]["content"]), expected, "received");
    }
}

// conformance: delete-13, edit-28, sub-7
#[tokio::test]
async fn widgets_are_not_edited_but_can_be_deleted() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let general = server.channel("general", &[&owner]).await;
    let (poll, _) = widget(&owner, general, "/poll Lunch?").await;
    let answer = owner.patch(&format!("/messages/{poll}"), &[("content", "Dinner?")]).await;
    answer.error(400, "BAD_REQUEST", "Widgets cannot be edited.");
    owner.delete(&format!("/messages/{poll}"), ()).await.ok();
    let answer = owner.get(&format!("/messages/{poll}"), ()).await;
    answer.error(400, "BAD_REQUEST", "Invalid message(s)");
}

// conformance: sub-16
#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let general = server.channel("general", &[&ada, &bob]).await;
    let (before, _) = widget(&ada, general, "/poll Lunch?").await;
    server
        .check_state_sync(&[&ada, &bob], async || {
            let vote = json!({"type": "vote", "key": "canned,0", "vote": 1});
            add(&bob, before, &vote).await.ok();
            let (id, _) = widget(&bob, general, "/todo Trip\ntickets").await;
            add(&ada, id, &json!({"type": "strike", "key": "0,canned"})).await.ok();
        })
        .await;
}
