//! `PATCH /users/me/subscriptions/muted_topics`.

use super::lunch;
use crate::harness::{Client, START, TestServer};
use crate::messages::finding::{stream_id, subscribe};
use serde_json::{Value, json};

async fn muted(client: &Client) -> Value {
    client.register(&[("fetch_event_types", "[\"muted_topics\"]")]).await.state["muted_topics"].clone()
}

async fn mute(client: &Client, parameters: Value) -> crate::harness::Answer {
    client.patch("/users/me/subscriptions/muted_topics", parameters).await
}

// conformance: topic-12
#[tokio::test]
async fn topics_are_muted_and_unmuted_by_id_and_by_name() {
    let server = TestServer::start().await;
    let (ada, stream_id) = lunch(&server).await;
    let mut queue = ada.register(&[("event_types", "[\"user_topic\"]")]).await;
    for (channel, value) in [("stream_id", json!(stream_id)), ("stream", json!("Lunch"))] {
        for op in ["add", "add", "remove", "remove"] {
            mute(&ada, json!({channel: value, "topic": "soup", "op": op})).await.ok();
            let topics = muted(&ada).await;
            assert_eq!(topics.as_array().unwrap().len(), usize::from(op == "add"), "{channel} {op}");
        }
    }
    let policies: Vec<Value> =
        queue.events().await.iter().map(|event| event["visibility_policy"].clone()).collect();
    assert_eq!(policies, [1, 0, 1, 0]);
}

// conformance: topic-13
#[tokio::test]
async fn muting_emits_both_forms() {
    let server = TestServer::start().await;
    let (ada, stream_id) = lunch(&server).await;
    let mut older = ada.register(&[("event_types", "[\"muted_topics\"]")]).await;
    let mut newer = ada.register(&[("event_types", "[\"user_topic\"]")]).await;
    for op in ["add", "remove"] {
        mute(&ada, json!({"stream_id": stream_id, "topic": "soup", "op": op})).await.ok();
    }
    let muted = |topics: Value| json!({"type": "muted_topics", "muted_topics": topics});
    older.expect(&[muted(json!([["lunch", "soup", START]])), muted(json!([]))]).await;
    let policy = |policy: i64| {
        json!({"type": "user_topic", "stream_id": stream_id, "topic_name": "soup", "last_updated": START,
            "visibility_policy": policy})
    };
    newer.expect(&[policy(1), policy(0)]).await;
}

// conformance: topic-14, topic-15, topic-16, topic-17, topic-18
#[tokio::test]
async fn invalid_users_to_mute_are_refused() {
    let server = TestServer::start().await;
    let (ada, _) = lunch(&server).await;
    let bob = server.member("bob").await;
    subscribe(&ada, &["board"], json!({"invite_only": true})).await;
    let board = stream_id(&ada, "board").await;
    let good = json!({"stream": "lunch", "topic": "soup", "op": "add"});
    let with = |name: &str, value: Value| {
        let mut parameters = good.clone();
        parameters[name] = value;
        parameters
    };
    let without = |name: &str| {
        let mut parameters = good.clone();
        parameters.as_object_mut().unwrap().remove(name);
        parameters
    };
    mute(&ada, without("stream")).await.error(400, "BAD_REQUEST", "Missing 'stream_id' argument");
    let both = mute(&ada, with("stream_id", json!(board))).await;
    both.error(400, "BAD_REQUEST", "Unsupported parameter combination: stream_id, stream");
    mute(&ada, with("op", json!("toggle"))).await.error(400, "BAD_REQUEST", "Invalid op");
    let control = mute(&ada, with("topic", json!("a\nb"))).await;
    control.error(400, "BAD_REQUEST", "Invalid character in topic, at position 2!");
    let long = mute(&ada, with("topic", json!("x".repeat(61)))).await;
    long.error(400, "BAD_REQUEST", "topic is too long (limit: 60 characters)");
    for name in ["topic", "op"] {
        let missing = mute(&ada, without(name)).await;
        missing.error(400, "REQUEST_VARIABLE_MISSING", &format!("Missing '{name}' argument"));
    }
    let named = |name: &str, op: &str| json!({"stream": name, "topic": "soup", "op": op});
    let by_id = |id: i64, op: &str| json!({"stream_id": id, "topic": "soup", "op": op});
    for name in ["board", "nowhere"] {
        let refused = mute(&bob, named(name, "add")).await;
        refused.error(400, "BAD_REQUEST", &format!("Invalid channel name '{name}'"));
        mute(&bob, named(name, "remove")).await.error(400, "BAD_REQUEST", "Topic is not muted");
    }
    for id in [board, 999] {
        mute(&bob, by_id(id, "add")).await.error(400, "BAD_REQUEST", "Invalid channel ID");
        mute(&bob, by_id(id, "remove")).await.error(400, "BAD_REQUEST", "Topic is not muted");
    }
}
