//! `POST /user_topics`.

use super::lunch;
use crate::harness::{Client, START, TestServer};
use crate::messages::finding::{stream_id, subscribe};
use serde_json::{Value, json};

async fn set(client: &Client, stream_id: i64, topic: &str, policy: i64) -> crate::harness::Answer {
    let parameters = json!({"stream_id": stream_id, "topic": topic, "visibility_policy": policy});
    client.post("/user_topics", parameters).await
}

// conformance: topic-1, topic-3, topic-4, topic-5
#[tokio::test]
async fn policies_are_stored_and_emitted() {
    let server = TestServer::start().await;
    let (ada, stream_id) = lunch(&server).await;
    let bob = server.member("bob").await;
    let mut queue = ada.register(&[("event_types", "[\"user_topic\", \"muted_topics\"]")]).await;
    let mut others = bob.register(()).await;
    for policy in [1, 2, 3, 3, 0, 0] {
        set(&ada, stream_id, "Soup", policy).await.ok();
    }
    let event = |policy: i64| {
        json!({"type": "user_topic", "stream_id": stream_id, "topic_name": "Soup", "last_updated": START,
            "visibility_policy": policy})
    };
    queue.expect(&[event(1), event(2), event(3), event(0)]).await;
    others.expect_nothing().await;
    server.clock.advance(60);
    set(&ada, stream_id, "soup", 2).await.ok();
    set(&ada, stream_id, " SOUP ", 3).await.ok();
    queue.expect_kinds(&["user_topic", "user_topic"]).await;
    let state = ada.register(&[("fetch_event_types", "[\"user_topic\"]")]).await.state.clone();
    let kept = json!([{"stream_id": stream_id, "topic_name": "SOUP", "last_updated": START + 60,
        "visibility_policy": 3}]);
    assert_eq!(state["user_topics"], kept);
    assert_eq!(state.get("muted_topics"), None);
}

// conformance: topic-19, topic-20
#[tokio::test]
async fn older_clients_receive_muted_topics() {
    let server = TestServer::start().await;
    let (ada, stream_id) = lunch(&server).await;
    let mut older = ada.register(&[("event_types", "[\"muted_topics\"]")]).await;
    let mut all = ada.register(()).await;
    set(&ada, stream_id, "soup", 1).await.ok();
    set(&ada, stream_id, "", 1).await.ok();
    set(&ada, stream_id, "soup", 3).await.ok();
    // Not muted, before or now: the list is the same.
    set(&ada, stream_id, "soup", 2).await.ok();
    set(&ada, stream_id, "bread", 3).await.ok();
    let event = |topics: Value| json!({"type": "muted_topics", "muted_topics": topics});
    older
        .expect(&[
            event(json!([["lunch", "soup", START]])),
            event(json!([["lunch", "general chat", START], ["lunch", "soup", START]])),
            event(json!([["lunch", "general chat", START]])),
        ])
        .await;
    let both = ["muted_topics", "user_topic"];
    all.expect_kinds(&[&both[..], &both, &both, &both[1..], &both[1..]].concat()).await;
    let asked = [
        ("[\"muted_topics\"]", true, false),
        ("[\"user_topic\"]", false, true),
        ("[\"muted_topics\", \"user_topic\"]", false, true),
    ];
    for (types, muted, policies) in asked {
        let state = ada.register(&[("fetch_event_types", types), ("event_types", "[]")]).await.state.clone();
        let present = (state.get("muted_topics").is_some(), state.get("user_topics").is_some());
        assert_eq!(present, (muted, policies), "{types}");
    }
    let state = ada.register(&[("event_types", "[\"muted_topics\"]")]).await.state.clone();
    assert_eq!(state["muted_topics"], json!([["lunch", "general chat", START]]));
}

// conformance: queue-38, topic-6
#[tokio::test]
async fn the_empty_topic_is_shown_as_the_client_knows_it() {
    let server = TestServer::start().await;
    let (ada, stream_id) = lunch(&server).await;
    let knows = json!({"event_types": ["user_topic"], "client_capabilities": {"empty_topic_name": true}});
    let mut newer = ada.register(&knows).await;
    let mut older = ada.register(json!({"event_types": ["user_topic"]})).await;
    set(&ada, stream_id, "general chat", 3).await.ok();
    assert_eq!(newer.expect_kinds(&["user_topic"]).await[0]["topic_name"], "");
    assert_eq!(older.expect_kinds(&["user_topic"]).await[0]["topic_name"], "general chat");
    assert_eq!(ada.register(&knows).await.state["user_topics"][0]["topic_name"], "");
}

// conformance: topic-11
#[tokio::test]
async fn policy_events_reproduce_state() {
    let server = TestServer::start().await;
    let (ada, stream_id) = lunch(&server).await;
    server
        .check_state_sync(&[&ada], async || {
            set(&ada, stream_id, "soup", 1).await.ok();
            set(&ada, stream_id, "bread", 2).await.ok();
            set(&ada, stream_id, "", 3).await.ok();
        })
        .await;
    server
        .check_state_sync(&[&ada], async || {
            set(&ada, stream_id, "soup", 0).await.ok();
            set(&ada, stream_id, "bread", 1).await.ok();
        })
        .await;
}

// conformance: topic-1, topic-7, topic-8, topic-9
#[tokio::test]
async fn invalid_settings_are_refused() {
    let server = TestServer::start().await;
    let (ada, lunch) = lunch(&server).await;
    let bob = server.member("bob").await;
    subscribe(&ada, &["board"], json!({"invite_only": true})).await;
    let board = stream_id(&ada, "board").await;
    set(&ada, lunch, "soup", 4).await.error(400, "BAD_REQUEST", "Invalid visibility_policy");
    set(&ada, lunch, "soup", -1).await.error(400, "BAD_REQUEST", "Invalid visibility_policy");
    set(&ada, lunch, &"x".repeat(60), 1).await.ok();
    let long = set(&ada, lunch, &"x".repeat(61), 1).await;
    long.error(400, "BAD_REQUEST", "topic is too long (limit: 60 characters)");
    let control = set(&ada, lunch, "a\nb", 1).await;
    control.error(400, "BAD_REQUEST", "Invalid character in topic, at position 2!");
    for policy in 0..4 {
        set(&ada, 999, "soup", policy).await.error(400, "BAD_REQUEST", "Invalid channel ID");
        set(&bob, board, "soup", policy).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    }
    set(&bob, lunch, "soup", 1).await.ok();
    for name in ["stream_id", "topic", "visibility_policy"] {
        let mut parameters = json!({"stream_id": lunch, "topic": "soup", "visibility_policy": 1});
        parameters.as_object_mut().unwrap().remove(name);
        let missing = ada.post("/user_topics", parameters).await;
        missing.error(400, "REQUEST_VARIABLE_MISSING", &format!("Missing '{name}' argument"));
    }
}

// conformance: topic-10
#[tokio::test]
async fn a_policy_in_a_lost_channel_can_be_taken_away() {
    let server = TestServer::start().await;
    let (ada, _) = lunch(&server).await;
    let bob = server.member("bob").await;
    let people = json!({"principals": [ada.user_id, bob.user_id], "invite_only": true});
    subscribe(&ada, &["board"], people).await;
    let board = stream_id(&ada, "board").await;
    set(&bob, board, "money", 3).await.ok();
    bob.delete("/users/me/subscriptions", json!({"subscriptions": ["board"]})).await.ok();
    set(&bob, board, "other", 1).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    set(&bob, board, "money", 0).await.ok();
    assert_eq!(bob.register(()).await.state["user_topics"], json!([]));
    set(&bob, board, "money", 0).await.error(400, "BAD_REQUEST", "Invalid channel ID");
}

#[tokio::test]
async fn topics_of_an_archived_channel_keep_their_policies() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, lunch) = lunch(&server).await;
    set(&ada, lunch, "soup", 3).await.ok();
    owner.delete(&format!("/streams/{lunch}"), ()).await.ok();
    let mut queue = ada.register(json!({"event_types": ["user_topic"], "fetch_event_types": []})).await;
    for policy in 1..4 {
        set(&ada, lunch, "soup", policy).await.error(400, "BAD_REQUEST", "Invalid channel ID");
        set(&ada, lunch, "bread", policy).await.error(400, "BAD_REQUEST", "Invalid channel ID");
    }
    queue.expect_nothing().await;
    assert_eq!(server.column("SELECT visibility_policy FROM user_topic").await, ["3"]);
    // It can only be taken away.
    set(&ada, lunch, "soup", 0).await.ok();
    queue.expect_kinds(&["user_topic"]).await;
}
