//! Resolving topics, and the notices about it and about moves.

use super::{Place, contents, edit, message, subscribe};
use crate::harness::Client;
use serde_json::json;
use teamchat::domain::groups::system::SystemGroup;

async fn retitle(by: &Client, id: i64, topic: &str) -> crate::harness::Answer {
    by.patch(&format!("/messages/{id}"), json!({"topic": topic, "propagate_mode": "change_all"})).await
}

// conformance: fetch-32, move-31, move-32, move-33
#[tokio::test]
async fn a_topic_is_resolved_and_opened_again() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let ada = server.member("ada").await;
    subscribe(&owner, "garden", &[&ada]).await;
    let id = owner.send(garden, "lunch", "hi").await;
    retitle(&ada, id, "✔ lunch").await.ok();
    let by = format!("@_**Ada|{}**", ada.user_id);
    let resolved = format!("{by} has marked this topic as resolved.");
    assert_eq!(contents(&ada, garden, "✔ lunch").await, ["hi".to_owned(), resolved.clone()]);
    let moved = message(&ada, id).await;
    assert_eq!(moved.get("last_moved_timestamp"), None, "resolving is no move");
    assert_eq!(moved["edit_history"][0]["topic"], "✔ lunch");
    // Undoing it soon removes the notice.
    server.clock.advance(60);
    retitle(&ada, id, "lunch").await.ok();
    assert_eq!(contents(&ada, garden, "lunch").await, ["hi"]);
    retitle(&ada, id, "✔ lunch").await.ok();
    server.clock.advance(61);
    retitle(&ada, id, "lunch").await.ok();
    let unresolved = format!("{by} has marked this topic as unresolved.");
    assert_eq!(contents(&ada, garden, "lunch").await, ["hi".to_owned(), resolved, unresolved]);
    let notice =
        ada.get("/messages", json!({"anchor": "newest", "num_before": 1, "num_after": 0})).await.ok();
    let notice = &notice["messages"][0];
    assert_eq!(notice["sender_email"], "notification-bot@zulip.com");
    assert_eq!(notice["flags"], json!(["read"]), "the mention is a silent one");
}

// conformance: move-35
#[tokio::test]
async fn notices_of_resolved_topics_are_unread_by_setting() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let mut users = Vec::new();
    // Followers of the topic and their settings, empty if they have not set it: is the notice unread?
    for (number, (follows, policy, is_unread)) in [
        (false, "always", false),
        (true, "always", false),
        (false, "except_followed", false),
        (true, "except_followed", true),
        (false, "never", true),
        (false, "", false),
        (true, "", true),
    ]
    .into_iter()
    .enumerate()
    {
        let user = server.member(&format!("user{number}")).await;
        if !policy.is_empty() {
            user.patch("/settings", json!({"resolved_topic_notice_auto_read_policy": policy})).await.ok();
        }
        if follows {
            let follow = json!({"stream_id": garden, "topic": "lunch", "visibility_policy": 3});
            user.post("/user_topics", follow).await.ok();
        }
        users.push((user, is_unread));
    }
    subscribe(&owner, "garden", &users.iter().map(|(user, _)| user).collect::<Vec<_>>()).await;
    let id = owner.send(garden, "lunch", "hi").await;
    let types = json!({"event_types": ["message"]});
    let mut queues = Vec::new();
    for (user, _) in &users {
        queues.push(user.register(&types).await);
    }
    retitle(&owner, id, "✔ lunch").await.ok();
    for (queue, (user, is_unread)) in queues.iter_mut().zip(&users) {
        let flags = if *is_unread { json!([]) } else { json!(["read"]) };
        queue.expect(&[json!({"type": "message", "message": "*", "flags": flags})]).await;
        let newest = json!({"anchor": "newest", "num_before": 1, "num_after": 0});
        let newest = user.get("/messages", newest).await.ok();
        assert_eq!(newest["messages"][0]["flags"], flags);
    }
}

// conformance: move-14, move-29
#[tokio::test]
async fn resolving_has_its_own_permission() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let ada = server.member("ada").await;
    subscribe(&owner, "garden", &[&ada]).await;
    let (id, empty) = (owner.send(garden, "lunch", "hi").await, owner.send(garden, "", "hi").await);
    for topic in ["✔", "✔ general chat", "✔ (no topic)"] {
        retitle(&ada, empty, topic).await.error(
            400,
            "BAD_REQUEST",
            "General chat cannot be marked as resolved",
        );
    }
    server.set_realm_group("can_move_messages_between_topics_group", SystemGroup::Nobody).await;
    retitle(&ada, id, "✔ lunch").await.ok();
    server.set_realm_group("can_resolve_topics_group", SystemGroup::Nobody).await;
    let refused = retitle(&ada, id, "lunch").await;
    refused.error(400, "BAD_REQUEST", "You don't have permission to resolve topics.");
    retitle(&ada, id, "✔ dinner").await.error(
        400,
        "BAD_REQUEST",
        "You don't have permission to edit this message",
    );
    let members = json!({"can_resolve_topics_group": {"new": SystemGroup::Members.id()}});
    owner.patch(&format!("/streams/{garden}"), members).await.ok();
    retitle(&ada, id, "lunch").await.ok();
}

// conformance: move-37, move-38, move-39, move-40, move-41, move-44
#[tokio::test]
async fn move_notices_are_sent_on_request() {
    let Place { server: _running, owner, garden, shed } = Place::new().await;
    let by = format!("@_**Owner|{}**", owner.user_id);
    let mut ids = Vec::new();
    for content in ["one", "two", "three", "four"] {
        ids.push(owner.send(garden, "lunch", content).await);
    }
    let path = |id: i64| format!("/messages/{id}");
    // One message, to a new topic.
    let both = json!({"topic": "tea time", "send_notification_to_old_thread": true});
    owner.patch(&path(ids[0]), both).await.ok();
    let from = "#**garden>lunch**";
    let link = format!("#narrow/channel/{garden}-garden/topic/tea.20time/near/{}", ids[0]);
    assert_eq!(
        contents(&owner, garden, "tea time").await,
        ["one".to_owned(), format!("[A message]({link}) was moved here from {from} by {by}.")]
    );
    assert_eq!(
        contents(&owner, garden, "lunch").await[3],
        format!("A message was moved from this topic to #**garden>tea time** by {by}.")
    );
    // Several, without a word in the old topic.
    owner.patch(&path(ids[2]), json!({"topic": "tea time", "propagate_mode": "change_later"})).await.ok();
    assert_eq!(
        contents(&owner, garden, "tea time").await.last().unwrap(),
        &format!("3 messages were moved here from {from} by {by}.")
    );
    // A whole topic, to another channel.
    let whole = json!({
        "stream_id": shed, "topic": "tools", "propagate_mode": "change_all", "send_notification_to_old_thread": true,
    });
    owner.patch(&path(ids[1]), whole).await.ok();
    assert_eq!(
        contents(&owner, shed, "tools").await,
        ["two".to_owned(), format!("This topic was moved here from {from} by {by}.")]
    );
    assert_eq!(
        contents(&owner, garden, "lunch").await,
        [format!("This topic was moved to #**shed>tools** by {by}.")]
    );
    // Quiet.
    edit(&owner, ids[1], json!({"topic": "quiet"})).await.ok();
    assert_eq!(contents(&owner, shed, "quiet").await, ["two"]);
}

/// Readers of a channel do not learn the name of a private channel, in notices about moves in either direction. Guests learn no
/// name of a channel that they are not in.
// conformance: move-71
#[tokio::test]
async fn a_notice_of_a_move_names_no_channel_that_its_readers_do_not_see() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let (ada, _bob) = (server.member("ada").await, server.member("bob").await);
    let vault = server.private_channel("vault", &[&owner]).await;
    let cellar = server.private_channel("cellar", &[&owner, &ada]).await;
    let yard = server.channel("yard", &[&owner, &server.guest("gus").await]).await;
    let by = format!("@_**Owner|{}**", owner.user_id);
    // All users but the guest see the garden, and users who see the vault see the cellar.
    let cases = [
        ((vault, "vault"), (garden, "garden"), [false, true]),
        ((garden, "garden"), (vault, "vault"), [true, false]),
        ((vault, "vault"), (cellar, "cellar"), [false, true]),
        ((cellar, "cellar"), (vault, "vault"), [true, false]),
        ((garden, "garden"), (cellar, "cellar"), [true, false]),
        ((garden, "garden"), (yard, "yard"), [false, true]),
        ((yard, "yard"), (garden, "garden"), [true, false]),
    ];
    for ((from, source), (to, target), [names_source, names_target]) in cases {
        let topic = format!("{source} to {target}");
        let id = owner.send(from, &topic, "words").await;
        let whole =
            json!({"stream_id": to, "propagate_mode": "change_all", "send_notification_to_old_thread": true});
        owner.patch(&format!("/messages/{id}"), whole).await.ok();
        let named = |channel: &str, is_named: bool| {
            if is_named { format!("#**{channel}>{topic}**") } else { "another channel".to_owned() }
        };
        let arrived = format!("This topic was moved here from {} by {by}.", named(source, names_source));
        assert_eq!(contents(&owner, to, &topic).await, ["words".to_owned(), arrived]);
        let left = format!("This topic was moved to {} by {by}.", named(target, names_target));
        assert_eq!(contents(&owner, from, &topic).await, [left]);
    }
}

/// Visitors are no users, and read the notices of a web-public channel.
// conformance: move-71
#[tokio::test]
async fn a_notice_in_a_web_public_channel_names_no_other() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let lawn = server.channel("lawn", &[&owner]).await;
    server.sql(&format!("UPDATE stream SET is_web_public = 1 WHERE stream_id = {garden}")).await;
    let by = format!("@_**Owner|{}**", owner.user_id);
    for (from, to, topic, [source, target]) in [
        (lawn, garden, "inward", ["another channel", "#**garden>inward**"]),
        (garden, lawn, "outward", ["#**garden>outward**", "another channel"]),
    ] {
        let id = owner.send(from, topic, "words").await;
        let whole =
            json!({"stream_id": to, "propagate_mode": "change_all", "send_notification_to_old_thread": true});
        owner.patch(&format!("/messages/{id}"), whole).await.ok();
        let arrived = format!("This topic was moved here from {source} by {by}.");
        assert_eq!(contents(&owner, to, topic).await, ["words".to_owned(), arrived]);
        let left = format!("This topic was moved to {target} by {by}.");
        assert_eq!(contents(&owner, from, topic).await, [left]);
    }
}

// conformance: move-28, move-34, move-36
#[tokio::test]
async fn resolving_sends_a_notice_without_other_changes() {
    let Place { server: _running, owner, garden, shed } = Place::new().await;
    let by = format!("@_**Owner|{}**", owner.user_id);
    // A change of the channel makes it a move.
    let id = owner.send(garden, "lunch", "one").await;
    let path = format!("/messages/{id}");
    owner.patch(&path, json!({"topic": "✔ lunch", "stream_id": shed})).await.ok();
    assert_eq!(
        contents(&owner, shed, "✔ lunch").await,
        ["one".to_owned(), format!("This topic was moved here from #**garden>lunch** by {by}.")]
    );
    assert_eq!(message(&owner, id).await["last_moved_timestamp"], crate::harness::START);
    // A change of the content sends no notice.
    let id = owner.send(garden, "tea", "one").await;
    let path = format!("/messages/{id}");
    owner.patch(&path, json!({"topic": "✔ tea", "content": "two"})).await.ok();
    assert_eq!(contents(&owner, garden, "✔ tea").await, ["two"]);
    // The old topic may get a notice, as for a move.
    let id = owner.send(garden, "soup", "one").await;
    let path = format!("/messages/{id}");
    let changes = json!({
        "topic": "✔ soup", "propagate_mode": "change_all", "send_notification_to_old_thread": true,
        "send_notification_to_new_thread": true,
    });
    owner.patch(&path, changes).await.ok();
    assert_eq!(
        contents(&owner, garden, "✔ soup").await,
        ["one".to_owned(), format!("{by} has marked this topic as resolved.")]
    );
    assert_eq!(
        contents(&owner, garden, "soup").await,
        [format!("This topic was moved to #**garden>✔ soup** by {by}.")]
    );
    // A second mark or another change of the topic does not resolve.
    for (before, after) in [("✔ a", "✔ ✔ a"), ("b", "✔ c"), ("✔ d", "e")] {
        let id = owner.send(garden, before, "one").await;
        let changes = json!({"topic": after, "send_notification_to_new_thread": false});
        owner.patch(&format!("/messages/{id}"), changes).await.ok();
        assert_eq!(contents(&owner, garden, after).await, ["one"], "{before} {after}");
        assert!(message(&owner, id).await["last_moved_timestamp"].is_number(), "{before} {after}");
    }
}

// conformance: move-42, move-45
#[tokio::test]
async fn notices_count_messages_and_link_to_whatever_the_places_are_called() {
    let Place { server: _running, owner, garden, .. } = Place::new().await;
    let by = format!("@_**Owner|{}**", owner.user_id);
    let mut ids = Vec::new();
    for content in ["one", "two", "three"] {
        ids.push(owner.send(garden, "lunch", content).await);
    }
    let later = json!({
        "topic": "tea", "propagate_mode": "change_later", "send_notification_to_old_thread": true,
    });
    owner.patch(&format!("/messages/{}", ids[1]), later).await.ok();
    assert_eq!(
        contents(&owner, garden, "lunch").await,
        ["one".to_owned(), format!("2 messages were moved from this topic to #**garden>tea** by {by}.")]
    );
    assert_eq!(
        contents(&owner, garden, "tea").await[2],
        format!("2 messages were moved here from #**garden>lunch** by {by}.")
    );
    // A name that would end the link early, and the empty topic.
    let odd = crate::channels::channel(&owner, "a > b").await;
    let all = json!({"stream_id": odd, "topic": "", "propagate_mode": "change_all"});
    owner.patch(&format!("/messages/{}", ids[1]), all).await.ok();
    let all = json!({"topic": "**x**", "propagate_mode": "change_all"});
    owner.patch(&format!("/messages/{}", ids[1]), all).await.ok();
    let narrow = json!([["channel", "a > b"], ["topic", "**x**"]]);
    let request = json!({"anchor": "newest", "num_before": 2, "num_after": 0, "narrow": narrow});
    let found = owner.get("/messages", request).await.ok();
    let mention =
        format!("<span class=\"user-mention silent\" data-user-id=\"{}\">Owner</span>", owner.user_id);
    let notice = |link: &str| format!("<p>This topic was moved here from {link} by {mention}.</p>");
    let href =
        |stream_id: i64, name: &str, topic: &str| format!("#narrow/channel/{stream_id}-{name}/topic/{topic}");
    let shown: Vec<_> = found["messages"].as_array().unwrap().iter().map(|one| &one["content"]).collect();
    let tea = format!(
        "<a class=\"stream-topic\" data-stream-id=\"{garden}\" href=\"/{}\">#garden &gt; tea</a>",
        href(garden, "garden", "tea")
    );
    let empty = format!(
        "<a class=\"stream-topic\" data-stream-id=\"{odd}\" href=\"/{}\">#a &gt; b &gt; <em>general chat</em></a>",
        href(odd, "a-.3E-b", "")
    );
    assert_eq!(shown, [&json!(notice(&tea)), &json!(notice(&empty))]);
}

// conformance: move-43, move-44
#[tokio::test]
async fn notices_are_read_for_the_acting_user() {
    let Place { server, owner, garden, .. } = Place::new().await;
    let ada = server.member("ada").await;
    subscribe(&owner, "garden", &[&ada]).await;
    for client in [&owner, &ada] {
        client.patch("/settings", json!({"resolved_topic_notice_auto_read_policy": "never"})).await.ok();
    }
    let ids = [ada.send(garden, "lunch", "one").await, ada.send(garden, "lunch", "two").await];
    let types = json!({"event_types": ["message"]});
    let mut queues = [owner.register(&types).await, ada.register(&types).await];
    let both = json!({"topic": "tea", "send_notification_to_old_thread": true});
    owner.patch(&format!("/messages/{}", ids[0]), both).await.ok();
    retitle(&owner, ids[1], "✔ lunch").await.ok();
    for (queue, flags) in queues.iter_mut().zip([json!(["read"]), json!([])]) {
        let notice = json!({"type": "message", "message": "*", "flags": flags});
        let received = queue.expect(&[notice.clone(), notice.clone(), notice]).await;
        let topics: Vec<_> = received.iter().map(|one| one["message"]["subject"].as_str().unwrap()).collect();
        assert_eq!(topics, ["tea", "lunch", "✔ lunch"], "the new place first");
    }
}
