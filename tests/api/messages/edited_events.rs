//! `update_message` and `delete_message` for each audience: every field, and only the messages that a reader knows of.

use super::{Place, assert_unseen, edit, message, subscribe};
use crate::channels::private_channel;
use crate::harness::{Client, Queue, START};
use serde_json::{Value, json};

async fn listen(client: &Client, types: &[&str]) -> Queue {
    let capabilities = json!({"bulk_message_deletion": true, "empty_topic_name": true});
    client.register(json!({"event_types": types, "client_capabilities": capabilities})).await
}

// conformance: edit-1, edit-3, edit-6, edit-8, edit-38, edit-39, edit-40
#[tokio::test]
async fn content_edits_have_the_old_content_and_no_channel() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, bob, eve) =
        (server.member("ada").await, server.member("bob").await, server.member("eve").await);
    subscribe(&owner, "garden", &[&ada, &bob]).await;
    let in_channel = ada.send(garden, "lunch", "hi").await;
    let direct = ada.send_direct(&[&bob], "hi").await;
    let mut queues = [listen(&ada, &["update_message"]).await, listen(&bob, &["update_message"]).await];
    let mut outsider = listen(&eve, &["update_message"]).await;
    bob.post("/messages/flags", json!({"op": "add", "flag": "read", "messages": [direct]})).await.ok();
    server.clock.advance(7);
    let (unread, read) = (json!([]), json!(["read"]));
    for (id, place, flags) in [
        (in_channel, json!({"stream_id": garden, "stream_name": "garden"}), [&unread, &unread]),
        (direct, json!({}), [&unread, &read]),
    ] {
        let content = json!({"content": "/me waves at *everybody*"});
        assert_eq!(edit(&ada, id, content).await.ok()["detached_uploads"], json!([]));
        for (queue, flags) in queues.iter_mut().zip(flags) {
            let mut expected = json!({
                "type": "update_message", "user_id": ada.user_id, "rendering_only": false, "message_id": id,
                "message_ids": [id], "edit_timestamp": START + 7, "orig_content": "hi",
                "orig_rendered_content": "<p>hi</p>", "content": "/me waves at *everybody*",
                "rendered_content": "<p>/me waves at <em>everybody</em></p>", "is_me_message": true, "flags": flags,
            });
            expected.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
            queue.expect(&[expected]).await;
        }
        let now = message(&ada, id).await;
        assert_eq!((&now["last_edit_timestamp"], &now["is_me_message"]), (&json!(START + 7), &json!(true)));
        assert_eq!(now.get("last_moved_timestamp"), None);
        // The same again is no edit.
        edit(&ada, id, json!({"content": "/me waves at *everybody*"})).await.ok();
    }
    assert_eq!(message(&bob, direct).await["flags"], json!(["read"]), "an edit leaves what is read");
    outsider.expect_nothing().await;
}

// conformance: edit-32, edit-33, edit-34, edit-40
#[tokio::test]
async fn mentions_by_edits_are_flagged_counted_and_followed() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, bob, cleo) =
        (server.member("ada").await, server.member("bob").await, server.member("cleo").await);
    let (dan, eve) = (server.member("dan").await, server.member("eve").await);
    subscribe(&owner, "garden", &[&ada, &bob, &cleo, &dan]).await;
    cleo.patch("/settings", json!({"automatically_follow_topics_where_mentioned": false})).await.ok();
    dan.post("/users/me/alert_words", json!({"alert_words": ["urgent"]})).await.ok();
    let id = ada.send(garden, "lunch", "hi @**Bob**").await;
    let types = ["update_message", "user_topic", "update_message_flags"];
    let (mut of_bob, mut of_cleo, mut of_dan, mut of_eve) = (
        listen(&bob, &types).await,
        listen(&cleo, &types).await,
        listen(&dan, &types).await,
        listen(&eve, &types).await,
    );
    // Bob no longer follows, and an edit that mentions him again changes nothing about that.
    let choice = json!({"stream_id": garden, "topic": "lunch", "visibility_policy": 0});
    bob.post("/user_topics", choice).await.ok();
    of_bob.expect_kinds(&["user_topic"]).await;
    let content = "urgent: @**Bob** @**Cleo** @**Dan** @**Eve**";
    edit(&ada, id, json!({ "content": content })).await.ok();
    let flags = async |queue: &mut Queue, kinds: &[&str]| {
        queue.expect_kinds(kinds).await.last().unwrap()["flags"].clone()
    };
    assert_eq!(flags(&mut of_bob, &["update_message"]).await, json!(["mentioned"]));
    assert_eq!(flags(&mut of_cleo, &["update_message"]).await, json!(["mentioned"]));
    let events = of_dan.expect_kinds(&["user_topic", "update_message"]).await;
    assert_eq!((&events[0]["topic_name"], &events[0]["visibility_policy"]), (&json!("lunch"), &json!(3)));
    assert_eq!(events[1]["flags"], json!(["mentioned", "has_alert_word"]));
    of_eve.expect_nothing().await;
    let state = json!({"fetch_event_types": ["message", "update_message_flags"], "event_types": ["realm"]});
    let mentions = async || dan.post("/register", &state).await.ok()["unread_msgs"]["mentions"].clone();
    assert_eq!(mentions().await, json!([id]));
    // A wildcard, then the topic's participants, then no mention.
    edit(&ada, id, json!({"content": "@**all**"})).await.ok();
    let everybody = json!(["stream_wildcard_mentioned", "wildcard_mentioned"]);
    assert_eq!(flags(&mut of_bob, &["update_message"]).await, everybody);
    bob.send(garden, "lunch", "here").await;
    edit(&ada, id, json!({"content": "@**topic**"})).await.ok();
    let participants = json!(["topic_wildcard_mentioned", "wildcard_mentioned"]);
    assert_eq!(flags(&mut of_bob, &["update_message"]).await, participants);
    assert_eq!(message(&bob, id).await["flags"], participants);
    edit(&ada, id, json!({"content": "nobody"})).await.ok();
    assert_eq!(flags(&mut of_bob, &["update_message"]).await, json!([]));
    assert_eq!(message(&dan, id).await["flags"], json!([]));
    assert_eq!(mentions().await, json!([]));
    of_cleo.ignore();
    of_dan.ignore();
}

// conformance: delete-20, edit-42
#[tokio::test]
async fn stars_on_public_messages_need_no_subscription() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let id = owner.send(garden, "lunch", "hi").await;
    ada.post("/messages/flags", json!({"op": "add", "flag": "starred", "messages": [id]})).await.ok();
    let types = ["update_message", "delete_message", "reaction"];
    let (mut of_ada, mut of_bob) = (listen(&ada, &types).await, listen(&bob, &types).await);
    edit(&owner, id, json!({"content": "hello"})).await.ok();
    edit(&owner, id, json!({"topic": "tea"})).await.ok();
    owner.post(&format!("/messages/{id}/reactions"), json!({"emoji_name": "tada"})).await.ok();
    let events = of_ada.expect_kinds(&["update_message", "update_message", "reaction/add"]).await;
    assert_eq!(events[0]["flags"], json!(["read", "starred"]));
    owner.delete(&format!("/messages/{id}"), ()).await.ok();
    of_ada.expect_kinds(&["delete_message"]).await;
    of_bob.expect_nothing().await;
    let state = ada.register(json!({"event_types": ["starred_messages"]})).await;
    assert_eq!(state.state["starred_messages"], json!([]));
    // A guest does so where no account is needed to read.
    let gus = server.guest("gus").await;
    server.sql(&format!("UPDATE stream SET is_web_public = 1 WHERE stream_id = {garden}")).await;
    let id = owner.send(garden, "lunch", "hi").await;
    gus.post("/messages/flags", json!({"op": "add", "flag": "starred", "messages": [id]})).await.ok();
    let mut of_gus = listen(&gus, &types).await;
    owner.delete(&format!("/messages/{id}"), ()).await.ok();
    of_gus.expect_kinds(&["delete_message"]).await;
}

// conformance: move-10, move-63, move-64
#[tokio::test]
async fn empty_topics_depend_on_capabilities() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, late, eve, gus) = (
        server.member("ada").await,
        server.member("late").await,
        server.member("eve").await,
        server.guest("gus").await,
    );
    subscribe(&owner, "garden", &[&ada]).await;
    let id = ada.send(garden, "", "hi").await;
    subscribe(&owner, "garden", &[&late, &gus]).await;
    let older = json!({"event_types": ["update_message"]});
    let all_public = json!({"event_types": ["update_message"], "all_public_streams": true});
    let mut of_newer = listen(&ada, &["update_message"]).await;
    // Later subscribers receive the event with the flag `read`.
    let mut of_older = [
        ada.register(&older).await,
        late.register(&older).await,
        gus.register(&older).await,
        eve.register(&all_public).await,
    ];
    let mut of_outsider = eve.register(&older).await;
    let event = |before: &str, after: &str, flags: Value| {
        json!({
            "type": "update_message", "user_id": ada.user_id, "rendering_only": false, "message_id": id,
            "message_ids": [id], "edit_timestamp": START, "stream_id": garden, "stream_name": "garden",
            "propagate_mode": "change_one", "orig_subject": before, "subject": after, "topic_links": [],
            "flags": flags,
        })
    };
    edit(&ada, id, json!({"topic": "tea"})).await.ok();
    edit(&ada, id, json!({"topic": "general chat"})).await.ok();
    let (unread, read) = (json!([]), json!(["read"]));
    of_newer.expect(&[event("", "tea", unread.clone()), event("tea", "", unread.clone())]).await;
    for (queue, flags) in of_older.iter_mut().zip([&unread, &read, &read, &unread]) {
        let topics = [("general chat", "tea"), ("tea", "general chat")];
        queue.expect(&topics.map(|(before, after)| event(before, after, flags.clone()))).await;
    }
    of_outsider.expect_nothing().await;
}

/// A channel with protected history in which three messages of one topic were sent: Early received the first two and
/// left, Late the last two, and the owner all.
struct Vault {
    place: Place,
    stream_id: i64,
    early: Client,
    late: Client,
    ids: [i64; 3],
}

impl Vault {
    async fn new() -> Self {
        let place = Place::new().await;
        let Place { server, owner, .. } = &place;
        let (early, late) = (server.member("early").await, server.member("late").await);
        let vault = private_channel(owner, "vault").await;
        subscribe(owner, "vault", &[&early]).await;
        let first = owner.send(vault, "lunch", "one").await;
        subscribe(owner, "vault", &[&late]).await;
        let second = owner.send(vault, "lunch", "two").await;
        // Early is away for the third, and back.
        let leave = json!({"subscriptions": ["vault"]});
        early.delete("/users/me/subscriptions", leave).await.ok();
        let third = owner.send(vault, "lunch", "three").await;
        subscribe(owner, "vault", &[&early]).await;
        Self { stream_id: vault, early, late, ids: [first, second, third], place }
    }

    async fn listen(&self) -> [Queue; 3] {
        let types = ["update_message", "delete_message"];
        [
            listen(&self.place.owner, &types).await,
            listen(&self.early, &types).await,
            listen(&self.late, &types).await,
        ]
    }
}

// conformance: history-17, move-67
#[tokio::test]
async fn move_events_list_received_messages_only() {
    let vault = Vault::new().await;
    let (owner, [first, second, third]) = (&vault.place.owner, vault.ids);
    assert_unseen(&vault.late, first).await;
    assert_unseen(&vault.early, third).await;
    let [mut of_owner, mut of_early, mut of_late] = vault.listen().await;
    let event = |id: i64, ids: &[i64], flags: Value| {
        json!({
            "type": "update_message", "user_id": owner.user_id, "rendering_only": false, "message_id": id,
            "message_ids": ids, "edit_timestamp": START, "stream_id": vault.stream_id, "stream_name": "vault",
            "propagate_mode": "change_all", "orig_subject": "lunch", "subject": "tea", "topic_links": [],
            "flags": flags,
        })
    };
    let changes = json!({"topic": "tea", "propagate_mode": "change_all", "content": "changed"});
    edit(owner, first, changes).await.ok();
    let mut with_content = event(first, &[first, second, third], json!([]));
    for (name, value) in [
        ("content", json!("changed")),
        ("rendered_content", json!("<p>changed</p>")),
        ("orig_content", json!("one")),
        ("orig_rendered_content", json!("<p>one</p>")),
        ("is_me_message", json!(false)),
    ] {
        with_content[name] = value;
    }
    of_owner.expect(std::slice::from_ref(&with_content)).await;
    with_content["message_ids"] = json!([first, second]);
    with_content["flags"] = json!(["read"]);
    of_early.expect(&[with_content]).await;
    // A user who cannot see the edited message receives an event for the first visible one, without the content.
    of_late.expect(&[event(second, &[second, third], json!([]))]).await;
    // The history of the other messages contains only the move.
    let moved = json!({"user_id": owner.user_id, "timestamp": START, "prev_topic": "lunch", "topic": "tea"});
    assert_eq!(message(owner, second).await["edit_history"], json!([moved]));
    let history = message(owner, first).await["edit_history"].clone();
    assert_eq!((history.as_array().unwrap().len(), &history[0]["prev_content"]), (1, &json!("one")));
}

// conformance: delete-22
#[tokio::test]
async fn deletion_events_list_received_messages_only() {
    let vault = Vault::new().await;
    let [first, second, third] = vault.ids;
    let [mut of_owner, mut of_early, mut of_late] = vault.listen().await;
    let path = format!("/streams/{}/delete_topic", vault.stream_id);
    vault.place.owner.post(&path, json!({"topic_name": "lunch"})).await.ok();
    let event = |ids: &[i64]| {
        json!({
            "type": "delete_message", "message_ids": ids, "message_type": "stream", "stream_id": vault.stream_id,
            "topic": "lunch",
        })
    };
    of_owner.expect(&[event(&[first, second, third])]).await;
    of_early.expect(&[event(&[first, second])]).await;
    of_late.expect(&[event(&[second, third])]).await;
}

// conformance: move-68
#[tokio::test]
async fn lost_messages_of_protected_histories_list_received_ones() {
    let vault = Vault::new().await;
    let Place { owner, shed, .. } = &vault.place;
    let [first, second, third] = vault.ids;
    subscribe(owner, "shed", &[&vault.early]).await;
    let [mut of_owner, mut of_early, mut of_late] = vault.listen().await;
    edit(owner, first, json!({"stream_id": shed, "propagate_mode": "change_all"})).await.ok();
    let moved = |flags: Value| {
        json!({
            "type": "update_message", "user_id": owner.user_id, "rendering_only": false, "message_id": first,
            "message_ids": vault.ids, "edit_timestamp": START, "stream_id": vault.stream_id, "stream_name": "vault",
            "new_stream_id": shed, "propagate_mode": "change_all", "orig_subject": "lunch", "flags": flags,
        })
    };
    of_owner.expect(&[moved(json!([]))]).await;
    // Early sees the third one too, where they came to.
    of_early.expect(&[moved(json!(["read"]))]).await;
    assert_eq!(message(&vault.early, third).await["flags"], json!(["read", "historical"]));
    of_late
        .expect(&[json!({
            "type": "delete_message", "message_ids": [second, third], "message_type": "stream",
            "stream_id": vault.stream_id, "topic": "lunch",
        })])
        .await;
    assert_unseen(&vault.late, second).await;
}
