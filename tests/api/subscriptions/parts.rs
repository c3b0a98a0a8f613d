//! Requests for many subscriptions: several jobs, so that other changes do not wait for all of it.

use super::{members, subscribe};
use crate::channels::channel;
use crate::harness::{Queue, TestServer};
use crate::messages::bounds::count_steps;
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

/// The number of users in each event about subscribers of a channel.
async fn sizes(queue: &mut Queue, op: &str) -> Vec<usize> {
    let events = queue.take().await;
    let sizes = events.iter().filter(|event| event["op"] == op);
    sizes.map(|event| event["user_ids"].as_array().unwrap().len()).collect()
}

#[tokio::test]
async fn many_users_join_and_leave_a_channel_in_several_jobs() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let ids: Vec<i64> = server.crowd(2100).await.iter().map(|person| person.user_id).collect();
    let stream_id = channel(&ada, "one").await;
    let mut queue = ada.register(json!({"event_types": ["subscription"]})).await;

    let answer = subscribe(&ada, "one", json!({"principals": ids})).await.ok();
    let expected: serde_json::Map<String, Value> =
        ids.iter().map(|id| (id.to_string(), json!(["one"]))).collect();
    assert_eq!((&answer["subscribed"], &answer["already_subscribed"]), (&json!(expected), &json!({})));
    assert_eq!(sizes(&mut queue, "peer_add").await, [1000, 1000, 100]);
    let all: Vec<i64> = std::iter::once(ada.user_id).chain(ids.iter().copied()).collect();
    assert_eq!(members(&ada, stream_id).await, json!(all));

    // The caller is named first and leaves last.
    let parameters = json!({"subscriptions": ["one"], "principals": all});
    let answer = ada.delete("/users/me/subscriptions", parameters).await.ok();
    assert_eq!((&answer["removed"], &answer["not_removed"]), (&json!(vec!["one"; 2101]), &json!([])));
    assert_eq!(sizes(&mut queue, "peer_remove").await, [1000, 1000, 101]);
    assert_eq!(members(&ada, stream_id).await, json!([]));

    let answer = ada.post("/channels/create", json!({"name": "two", "subscribers": ids})).await.ok();
    assert_eq!(sizes(&mut queue, "peer_add").await, [1000, 1000, 100]);
    assert_eq!(members(&ada, answer["id"].as_i64().unwrap()).await, json!(ids));
}

/// Each different set of receivers of moved messages is looked at for each user.
#[tokio::test]
async fn fewer_users_leave_a_channel_with_moved_messages_at_once() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let ids: Vec<i64> = server.crowd(210).await.iter().map(|person| person.user_id).collect();
    let stream_id = channel(&ada, "one").await;
    subscribe(&ada, "one", json!({"principals": ids})).await.ok();
    // The set that consists of the number 1.
    let set = "x'3a3000000100000000000000100000000100'";
    server
        .sql(&format!(
            "WITH RECURSIVE one (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM one WHERE number < 90)
             INSERT INTO arrival (recipient_id, message_ids, user_ids)
             SELECT recipient_id, {set}, {set} FROM one JOIN recipient ON stream_id = {stream_id}"
        ))
        .await;
    let mut queue = ada.register(json!({"event_types": ["subscription"]})).await;
    let parameters = json!({"subscriptions": ["one"], "principals": ids});
    ada.delete("/users/me/subscriptions", parameters).await.ok();
    assert_eq!(sizes(&mut queue, "peer_remove").await, [100, 100, 10]);
}

#[tokio::test]
async fn users_times_channels_are_split() {
    let server = TestServer::start().await;
    let ada = server.administrator("ada").await;
    let ids: Vec<i64> = server.crowd(7).await.iter().map(|person| person.user_id).collect();
    let mut queue = ada.register(json!({"event_types": ["subscription"]})).await;
    let names: Vec<Value> = (0..300).map(|number| json!({"name": format!("channel {number}")})).collect();
    let parameters =
        json!({"subscriptions": names, "principals": ids, "send_new_subscription_messages": false});
    let answer = ada.post("/users/me/subscriptions", parameters).await.ok();
    assert_eq!(answer["subscribed"].as_object().unwrap().len(), 7);
    assert!(
        answer["subscribed"]
            .as_object()
            .unwrap()
            .values()
            .all(|names| names.as_array().unwrap().len() == 300)
    );
    // 1,000 subscriptions a job: three users with 300 channels each.
    assert_eq!(sizes(&mut queue, "peer_add").await, [3, 3, 1]);

    // Messages about subscriptions to channels that exist come from each of the jobs.
    let names: Vec<Value> = (0..300).map(|number| format!("channel {number}").into()).collect();
    let parameters = json!({"subscriptions": names, "principals": ids});
    ada.delete("/users/me/subscriptions", parameters).await.ok();
    let names: Vec<Value> = (0..300).map(|number| json!({"name": format!("channel {number}")})).collect();
    ada.forget_notices().await;
    let parameters = json!({"subscriptions": names, "principals": ids});
    let answer = ada.post("/users/me/subscriptions", parameters).await.ok();
    assert_eq!(answer["new_subscription_messages_sent"], true);
    let query = "SELECT count(*) FROM message JOIN recipient USING (recipient_id) WHERE user_ids IS NOT NULL
                 AND content LIKE '%subscribed you%'";
    assert_eq!(server.column(query).await, ["7"]);
    queue.take().await;
}

/// The notice of its creation is the first message of a channel, of which all who can see the channel have to know.
#[tokio::test]
async fn users_are_not_loaded_for_each_new_channel() {
    let mut counts = Vec::new();
    for size in [100, 600] {
        let server = TestServer::start().await;
        let ada = server.member("ada").await;
        server.crowd(size).await;
        let counter = count_steps(&server).await;
        for is_private in [false, true] {
            let name = |number: i32| json!({"name": format!("private {is_private} {number}")});
            let names: Vec<Value> = (0..40).map(name).collect();
            let parameters = json!({"subscriptions": names, "invite_only": is_private});
            ada.post("/users/me/subscriptions", parameters).await.ok();
        }
        counts.push(counter.load(Ordering::Relaxed));
    }
    // A user takes about ten steps each time.
    assert!(counts[1] < counts[0] + 500 * 300, "{counts:?}");
}
