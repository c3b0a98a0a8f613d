//! `PATCH /messages/{message_id}`: invalid requests, permissions, and changes of content.

use super::{Place, edit, message, subscribe};
use crate::channels::channel_with;
use crate::harness::START;
use serde_json::json;
use teamchat::domain::groups::system::SystemGroup;

// conformance: edit-13, edit-14, edit-20, edit-24, edit-25, edit-26, edit-27, edit-29, edit-30, move-4
// conformance: move-7
#[tokio::test]
async fn contradictory_parameters_are_refused_as_published() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let ada = server.member("ada").await;
    let id = owner.send(garden, "lunch", "hi").await;
    let direct = owner.send_direct(&[&ada], "psst").await;
    let bad = (400, "BAD_REQUEST");
    for (id, changes, (status, code), msg) in [
        (id, json!({}), bad, "Nothing to change"),
        (id, json!({"topic": "lunch"}), bad, "Nothing to change"),
        (
            id,
            json!({"topic": "lunch", "stream_id": garden, "propagate_mode": "change_all"}),
            bad,
            "Nothing to change",
        ),
        (id, json!({"propagate_mode": "change_one"}), bad, "Nothing to change"),
        (
            id,
            json!({"content": "x", "propagate_mode": "change_all"}),
            bad,
            "Invalid propagate_mode without topic edit",
        ),
        (id, json!({"topic": "x", "propagate_mode": "all"}), bad, "Invalid propagate_mode"),
        (
            id,
            json!({"content": "x", "stream_id": shed}),
            bad,
            "Cannot change message content while changing channel",
        ),
        (id, json!({"topic": "a\nb"}), bad, "Invalid character in topic, at position 2!"),
        (id, json!({"stream_id": 999}), bad, "Invalid channel ID"),
        (id, json!({"content": "a\u{0}b"}), bad, "Message must not contain null bytes"),
        (direct, json!({"stream_id": garden}), bad, "Direct messages cannot be moved to channels."),
        (direct, json!({"topic": "x"}), bad, "Direct messages cannot have topics."),
        (9999, json!({"content": "x"}), bad, "Invalid message(s)"),
    ] {
        edit(&owner, id, changes).await.error(status, code, msg);
    }
    edit(&ada, direct, json!({"content": "x"})).await.error(
        400,
        "BAD_REQUEST",
        "You don't have permission to edit this message",
    );
    let wrong = json!({"content": "x", "prev_content_sha256": "00"});
    let msg = "'prev_content_sha256' value does not match the expected value.";
    edit(&owner, id, wrong).await.error(400, "EXPECTATION_MISMATCH", msg);
    // SHA-256 of "hi".
    let digest = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4";
    edit(&owner, id, json!({"content": "x", "prev_content_sha256": digest})).await.ok();
    assert_eq!(message(&owner, id).await["content"], "x");
    edit(&owner, id, json!({"content": " "})).await.ok();
    assert_eq!(message(&owner, id).await["content"], "(deleted)");
}

// conformance: edit-18, edit-19
#[tokio::test]
async fn content_is_changed_by_its_sender_and_for_a_while() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let ada = server.member("ada").await;
    subscribe(&owner, "garden", &[&ada]).await;
    let id = ada.send(garden, "lunch", "hi").await;
    let by_owner = edit(&owner, id, json!({"content": "x"})).await;
    by_owner.error(400, "BAD_REQUEST", "You don't have permission to edit this message");
    server.clock.advance(620);
    edit(&ada, id, json!({"content": "in time"})).await.ok();
    server.clock.advance(1);
    let late = edit(&ada, id, json!({"content": "x"})).await;
    late.error(400, "BAD_REQUEST", "The time limit for editing this message has passed");
    server.set_realm_setting("message_content_edit_limit_seconds", json!(null)).await;
    edit(&ada, id, json!({"content": "whenever"})).await.ok();
    server.set_realm_setting("allow_message_editing", json!(false)).await;
    let off = edit(&ada, id, json!({"content": "x"})).await;
    off.error(400, "BAD_REQUEST", "Your organization has turned off message editing");
    edit(&ada, id, json!({"topic": "dinner"})).await.ok();
}

// conformance: edit-7, edit-41, history-16
#[tokio::test]
async fn edits_reach_exactly_the_readers() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, bob, gus) = (server.member("ada").await, server.member("bob").await, server.guest("gus").await);
    subscribe(&owner, "garden", &[&ada, &gus]).await;
    let id = ada.send(garden, "lunch", "hi").await;
    let types = json!({"event_types": ["update_message"], "client_capabilities": {"empty_topic_name": true}});
    let mut seeing = [ada.register(&types).await, gus.register(&types).await, owner.register(&types).await];
    let mut outsider = bob.register(&types).await;
    edit(&ada, id, json!({"content": "hello @**Gus**", "topic": "dinner"})).await.ok();
    for (queue, flags) in seeing.iter_mut().zip([json!([]), json!(["mentioned"]), json!([])]) {
        let expected = json!({
            "type": "update_message",
            "user_id": ada.user_id,
            "rendering_only": false,
            "message_id": id,
            "message_ids": [id],
            "edit_timestamp": START,
            "stream_id": garden,
            "stream_name": "garden",
            "propagate_mode": "change_one",
            "orig_subject": "lunch",
            "subject": "dinner",
            "topic_links": [],
            "orig_content": "hi",
            "orig_rendered_content": "<p>hi</p>",
            "content": "hello @**Gus**",
            "rendered_content": "*",
            "is_me_message": false,
            "flags": flags,
        });
        queue.expect(&[expected]).await;
    }
    outsider.expect_nothing().await;
    let history = message(&owner, id).await["edit_history"].clone();
    let expected = json!([{
        "user_id": ada.user_id, "timestamp": START, "prev_content": "hi",
        "prev_rendered_content": "<p>hi</p>", "prev_topic": "lunch", "topic": "dinner",
    }]);
    assert_eq!(history, expected, "one entry for one edit");
}

// conformance: delete-9, edit-21, move-8
#[tokio::test]
async fn messages_of_archived_channels_stay_as_they_are() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let ada = server.member("ada").await;
    let id = owner.send(garden, "lunch", "hi").await;
    let other = owner.send(shed, "lunch", "hi").await;
    owner.delete(&format!("/streams/{garden}"), ()).await.ok();
    edit(&owner, id, json!({"content": "x"})).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    owner.delete(&format!("/messages/{id}"), ()).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    edit(&owner, other, json!({"stream_id": garden})).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    // Channels and topics to which the caller may not send.
    let quiet = channel_with(&owner, json!({
        "name": "quiet", "subscribers": [owner.user_id, ada.user_id], "can_send_message_group": SystemGroup::Owners.id(),
    })).await;
    let loud = channel_with(
        &owner,
        json!({
            "name": "loud", "subscribers": [ada.user_id], "topics_policy": "disable_empty_topic",
        }),
    )
    .await;
    let own = ada.send(loud, "x", "hi").await;
    let msg = "You do not have permission to post in this channel.";
    edit(&ada, own, json!({"stream_id": quiet})).await.error(400, "BAD_REQUEST", msg);
    for topic in ["", "(no topic)", "general chat"] {
        let empty = edit(&ada, own, json!({ "topic": topic })).await;
        empty.error(400, "BAD_REQUEST", "Topics are required in this organization");
    }
    server.set_realm_group("can_move_messages_between_topics_group", SystemGroup::Nobody).await;
    edit(&ada, own, json!({"topic": "y"})).await.error(
        400,
        "BAD_REQUEST",
        "You don't have permission to edit this message",
    );
}

// conformance: edit-13, edit-15
#[tokio::test]
async fn a_digest_is_checked_whatever_else_is_asked_for() {
    let Place { server: _running, owner, garden, .. } = Place::new().await;
    let id = owner.send(garden, "lunch", "hi").await;
    // SHA-256 of "hi", and of something else.
    let digest = "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4";
    let msg = "'prev_content_sha256' value does not match the expected value.";
    for changes in [json!({"content": "x"}), json!({"topic": "x"}), json!({"topic": "x", "content": "y"})] {
        let mut wrong = changes.clone();
        wrong["prev_content_sha256"] = digest.replace('8', "9").into();
        edit(&owner, id, wrong).await.error(400, "EXPECTATION_MISMATCH", msg);
    }
    let right = json!({"topic": "x", "content": "y", "prev_content_sha256": digest.to_uppercase()});
    edit(&owner, id, right.clone()).await.ok();
    // The digest is of the previous content, so the same request fails the second time.
    let mut again = right;
    again["topic"] = "z".into();
    edit(&owner, id, again).await.error(400, "EXPECTATION_MISMATCH", msg);
    assert_eq!(message(&owner, id).await["subject"], "x");
}

// conformance: edit-4, edit-5, move-6
#[tokio::test]
async fn a_new_content_is_read_as_that_of_a_new_message() {
    let Place { server: _running, owner, garden, .. } = Place::new().await;
    let id = owner.send(garden, "lunch", "hi").await;
    edit(&owner, id, json!({"content": "  spaces \n\n"})).await.ok();
    assert_eq!(message(&owner, id).await["content"], "  spaces");
    edit(&owner, id, json!({"content": "é".repeat(10_001)})).await.ok();
    let cut = message(&owner, id).await["content"].as_str().unwrap().to_owned();
    assert_eq!(cut.chars().count(), 10_000);
    assert!(cut.ends_with("é\n[message truncated]"));
    let null = edit(&owner, id, json!({"content": "a\u{0}b"})).await;
    null.error(400, "BAD_REQUEST", "Message must not contain null bytes");
    for blank in ["", " ", "\n\t"] {
        edit(&owner, id, json!({ "content": blank })).await.ok();
        let now = message(&owner, id).await;
        assert_eq!((&now["content"], &now["is_me_message"]), (&json!("(deleted)"), &json!(false)));
    }
    let long = "x".repeat(61);
    edit(&owner, id, json!({"topic": format!(" {long} ")})).await.ok();
    assert_eq!(message(&owner, id).await["subject"], "x".repeat(57) + "...");
}

// conformance: edit-12, edit-16, edit-17, edit-22, edit-25, edit-31, move-14
#[tokio::test]
async fn edit_permission_is_checked_first() {
    let Place { server, owner, garden, shed } = Place::new().await;
    let ada = server.member("ada").await;
    subscribe(&owner, "garden", &[&ada]).await;
    let id = owner.send(garden, "lunch", "hi").await;
    let no = "You don't have permission to edit this message";
    for changes in [
        json!({"content": "x"}),
        json!({"content": "x", "stream_id": shed}),
        json!({"content": "x", "propagate_mode": "change_all"}),
        json!({"content": "x", "prev_content_sha256": "00"}),
    ] {
        edit(&ada, id, changes).await.error(400, "BAD_REQUEST", no);
    }
    // Administrators and the owner of the bot that sent it get the same error.
    let bot = server.bot("robot", &ada).await;
    subscribe(&owner, "garden", &[&bot]).await;
    let by_bot = bot.send(garden, "lunch", "beep").await;
    edit(&ada, by_bot, json!({"content": "x"})).await.error(400, "BAD_REQUEST", no);
    edit(&owner, by_bot, json!({"content": "x"})).await.error(400, "BAD_REQUEST", no);
    edit(&bot, by_bot, json!({"content": "x"})).await.ok();
    // Content and mode without another place: the topic that it has already is none.
    let same = json!({"content": "x", "topic": "lunch", "propagate_mode": "change_all"});
    let mode = "Invalid propagate_mode without topic edit";
    edit(&owner, id, same).await.error(400, "BAD_REQUEST", mode);
    for topic in ["✔", "✔ general chat", "✔ (no topic)"] {
        let general = "General chat cannot be marked as resolved";
        edit(&owner, id, json!({ "topic": topic })).await.error(400, "BAD_REQUEST", general);
    }
    let switch = json!({"topic": "x", "send_notification_to_old_thread": "maybe"});
    let answer = owner.patch(&format!("/messages/{id}"), switch).await;
    answer.error(400, "BAD_REQUEST", "send_notification_to_old_thread is not valid JSON");
    let switch = json!({"topic": "x", "send_notification_to_new_thread": 3});
    let answer = owner.patch(&format!("/messages/{id}"), switch).await;
    answer.error(400, "BAD_REQUEST", "send_notification_to_new_thread is not a boolean");
    let answer = edit(&owner, id, json!({"stream_id": "x"})).await;
    answer.error(400, "BAD_REQUEST", "stream_id is not valid JSON");
    let unknown = edit(&owner, id, json!({"topic": "tea", "subtopic": "x"})).await;
    unknown.ok_ignoring(&["subtopic"]);
    let answer = server.anonymous().patch(&format!("/messages/{id}"), json!({"topic": "x"})).await;
    answer.error(401, "UNAUTHORIZED", "Not logged in: API authentication or user session required");
}
