//! Automatic topic policies by sending, reacting, voting and being mentioned.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

/// Sends a message. Returns the resulting policy.
async fn send(from: &Client, stream_id: i64, topic: &str) -> Value {
    let message = json!({"type": "channel", "to": stream_id, "topic": topic, "content": "hi"});
    let answer = from.post("/messages", message).await.ok();
    answer.get("automatic_new_visibility_policy").cloned().unwrap_or_default()
}

async fn settings(client: &Client, follow: i64, unmute: i64) {
    let settings = json!({
        "automatically_follow_topics_policy": follow,
        "automatically_unmute_topics_in_muted_streams_policy": unmute,
    });
    client.patch("/settings", settings).await.ok();
}

async fn mute(client: &Client, stream_id: i64) {
    let data = json!([{"stream_id": stream_id, "property": "is_muted", "value": true}]);
    client.post("/users/me/subscriptions/properties", json!({"subscription_data": data})).await.ok();
}

async fn choose(client: &Client, stream_id: i64, topic: &str, policy: i64) {
    let choice = json!({"stream_id": stream_id, "topic": topic, "visibility_policy": policy});
    client.post("/user_topics", choice).await.ok();
}

/// The policies of a user, by topic.
async fn policies(client: &Client) -> Value {
    let state = client.post("/register", json!({"fetch_event_types": ["user_topic"]})).await.ok();
    let topics = state["user_topics"].as_array().unwrap();
    topics
        .iter()
        .map(|one| (one["topic_name"].as_str().unwrap().to_owned(), one["visibility_policy"].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

// conformance: send-49, topic-21
#[tokio::test]
async fn sending_follows_or_unmutes_as_the_sender_wishes() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let muted = server.channel("muted", &[&ada, &bob]).await;
    mute(&ada, muted).await;
    settings(&bob, 4, 4).await;
    let mut number = 0;
    // 1 participating, 2 sending, 3 starting, 4 never; then the resulting policies after starting and after sending
    // again, in both channels.
    for (follow, unmute, begin, go_on, begin_muted, go_on_muted) in [
        (1, 4, json!(3), json!(3), json!(3), json!(3)),
        (2, 4, json!(3), json!(3), json!(3), json!(3)),
        (3, 4, json!(3), json!(null), json!(3), json!(null)),
        (4, 4, json!(null), json!(null), json!(null), json!(null)),
        (4, 1, json!(null), json!(null), json!(2), json!(2)),
        (4, 2, json!(null), json!(null), json!(2), json!(2)),
        (4, 3, json!(null), json!(null), json!(2), json!(null)),
        (3, 2, json!(3), json!(null), json!(3), json!(2)),
        (2, 3, json!(3), json!(3), json!(3), json!(3)),
    ] {
        settings(&ada, follow, unmute).await;
        for (stream_id, first, other) in [(garden, begin, go_on), (muted, begin_muted, go_on_muted)] {
            number += 1;
            let (new, old) = (format!("new {number}"), format!("old {number}"));
            assert_eq!(send(&ada, stream_id, &new).await, first, "{follow} {unmute} begins");
            assert_eq!(send(&bob, stream_id, &old).await, json!(null));
            assert_eq!(send(&ada, stream_id, &old).await, other, "{follow} {unmute} goes on");
            // An existing policy does not change again.
            let again = send(&ada, stream_id, &new).await;
            assert!(again.is_null() || again != first, "{follow} {unmute} again");
        }
    }
}

// conformance: send-49, topic-22
#[tokio::test]
async fn explicit_policies_are_only_raised() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let garden = server.channel("garden", &[&ada]).await;
    mute(&ada, garden).await;
    settings(&ada, 4, 2).await;
    for (topic, chosen, expected) in
        [("followed", 3, json!(null)), ("unmuted", 2, json!(null)), ("muted", 1, json!(2))]
    {
        choose(&ada, garden, topic, chosen).await;
        assert_eq!(send(&ada, garden, topic).await, expected, "{topic}");
    }
    // An explicit policy prevents automatic changes.
    settings(&ada, 3, 3).await;
    choose(&ada, garden, "chosen", 1).await;
    assert_eq!(send(&ada, garden, "chosen").await, json!(null));
    assert_eq!(policies(&ada).await, json!({"followed": 3, "unmuted": 2, "muted": 2, "chosen": 1}));
}

// conformance: send-51, topic-23
#[tokio::test]
async fn automatic_policies_precede_the_message() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let types =
        json!({"event_types": ["user_topic", "message"], "client_capabilities": {"empty_topic_name": true}});
    let (mut of_ada, mut of_bob) = (ada.register(&types).await, bob.register(&types).await);
    send(&ada, garden, "").await;
    let message = json!({"type": "message", "message": "*", "flags": []});
    let policy = json!({"type": "user_topic", "stream_id": garden, "topic_name": "", "last_updated": "*",
        "visibility_policy": 3});
    of_ada.expect(&[policy, message.clone()]).await;
    of_bob.expect(&[message]).await;
    // A bot has no policies.
    let bot = server.bot("bot", &ada).await;
    let workshop = server.channel("workshop", &[&bot]).await;
    assert_eq!(send(&bot, workshop, "bots").await, json!(null));
    assert_eq!(policies(&bot).await, json!({}));
}

#[tokio::test]
async fn senders_start_topics_without_visible_messages() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    let shed = server.private_channel("shed", &[&owner]).await;
    send(&owner, shed, "lunch").await;
    let request = json!({"subscriptions": [{"name": "shed"}], "principals": [bob.user_id]});
    owner.post("/users/me/subscriptions", request).await.ok();
    assert_eq!(send(&bob, shed, "lunch").await, 3);
    assert_eq!(send(&bob, shed, "lunch").await, json!(null));
}

// conformance: react-6, sub-15, topic-24
#[tokio::test]
async fn reactions_and_votes_take_part() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    settings(&ada, 4, 4).await;
    for (follow, expected) in [(1, json!(3)), (2, json!(null)), (3, json!(null)), (4, json!(null))] {
        settings(&bob, follow, 4).await;
        let (reacted, voted) = (format!("reacted {follow}"), format!("voted {follow}"));
        let id = ada.send(garden, &reacted, "hi").await;
        bob.post(&format!("/messages/{id}/reactions"), json!({"emoji_name": "tada"})).await.ok();
        let id = ada.send(garden, &voted, "/poll What?\na\nb").await;
        let vote = json!({"type": "vote", "key": "canned,0", "vote": 1}).to_string();
        bob.post("/submessage", json!({"message_id": id, "msg_type": "widget", "content": vote})).await.ok();
        let found = policies(&bob).await;
        assert_eq!((&found[&reacted], &found[&voted]), (&expected, &expected), "{follow}");
    }
    let direct = ada.send_direct(&[&bob], "psst").await;
    bob.post(&format!("/messages/{direct}/reactions"), json!({"emoji_name": "tada"})).await.ok();
}

// conformance: send-50, topic-25
#[tokio::test]
async fn mentioned_users_follow_the_topic() {
    let server = TestServer::start().await;
    let (ada, bob, eve) =
        (server.member("ada").await, server.member("bob").await, server.member("eve").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let bob_and_eve = format!("@**{}** @**{}**", bob.full_name, eve.full_name);
    ada.send(garden, "named", &bob_and_eve).await;
    ada.send(garden, "silent", &format!("@_**{}**", bob.full_name)).await;
    ada.send(garden, "everybody", "@**all**").await;
    choose(&bob, garden, "muted", 1).await;
    ada.send(garden, "muted", &bob_and_eve).await;
    choose(&bob, garden, "unmuted", 2).await;
    ada.send(garden, "unmuted", &bob_and_eve).await;
    bob.patch("/settings", json!({"automatically_follow_topics_where_mentioned": false})).await.ok();
    ada.send(garden, "unwanted", &bob_and_eve).await;
    assert_eq!(policies(&bob).await, json!({"named": 3, "muted": 1, "unmuted": 3}));
    // A user who does not receive the message does not follow.
    assert_eq!(policies(&eve).await, json!({}));
}

// conformance: send-50
#[tokio::test]
async fn users_mentioned_by_an_edit_follow_the_topic() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&ada, &bob]).await;
    let mut queue = bob.register(json!({"event_types": ["user_topic", "update_message"]})).await;
    let change = async |id: i64, content: &str| {
        ada.patch(&format!("/messages/{id}"), json!({"content": content})).await.ok();
    };
    let id = ada.send(garden, "named", "who knows?").await;
    change(id, "@**Bob** knows").await;
    queue.expect_kinds(&["user_topic", "update_message"]).await;
    assert_eq!(policies(&bob).await, json!({"named": 3}));
    // A mention counts once: his later choice stays.
    choose(&bob, garden, "named", 0).await;
    change(id, "@**Bob** should know").await;
    assert_eq!(policies(&bob).await, json!({}));
    bob.patch("/settings", json!({"automatically_follow_topics_where_mentioned": false})).await.ok();
    let id = ada.send(garden, "unwanted", "who knows?").await;
    change(id, "@**Bob** knows").await;
    assert_eq!(policies(&bob).await, json!({}));
    queue.ignore();
}

// conformance: move-57
#[tokio::test]
async fn first_senders_of_split_topics_start_them() {
    let server = TestServer::start().await;
    let (owner, ada, bob) = (server.owner().await, server.member("ada").await, server.member("bob").await);
    let garden = server.channel("garden", &[&owner, &ada, &bob]).await;
    let muted = server.channel("muted", &[&owner, &ada]).await;
    let shed = server.private_channel("shed", &[&owner]).await;
    mute(&ada, muted).await;
    settings(&ada, 4, 4).await;
    let split = async |topic: &str, to: Option<i64>| {
        owner.send(garden, "old", "stays").await;
        let id = ada.send(garden, "old", "hi").await;
        owner.send(garden, "old", "follows").await;
        let mut changes = json!({"topic": topic, "propagate_mode": "change_later"});
        if let Some(stream_id) = to {
            changes["stream_id"] = stream_id.into();
        }
        owner.patch(&format!("/messages/{id}"), changes).await.ok();
    };
    split("never", None).await;
    settings(&ada, 2, 4).await;
    split("only by sending", None).await;
    settings(&ada, 3, 3).await;
    let mut queue = ada.register(json!({"event_types": ["user_topic", "update_message"]})).await;
    split("begun", None).await;
    queue.expect_kinds(&["user_topic", "update_message"]).await;
    // There is an older message in the topic already.
    bob.send(garden, "known", "first").await;
    split("known", None).await;
    choose(&ada, garden, "chosen", 1).await;
    split("chosen", None).await;
    // Where Ada may not read, she does not start a topic.
    split("away", Some(shed)).await;
    settings(&ada, 4, 3).await;
    split("unmuted", Some(muted)).await;
    split("not muted", None).await;
    assert_eq!(policies(&ada).await, json!({"old": 3, "begun": 3, "chosen": 1, "unmuted": 2}));
    queue.ignore();
}
