//! `GET /events`: acknowledgement, repetition and errors.

use super::ping;
use crate::harness::{Client, TestServer};
use serde_json::{Value, json};
use teamchat::api::drafts::DraftRemoved;

/// The numbers of the pings in an answer.
async fn numbers(client: &Client, parameters: Value) -> Vec<i64> {
    let answer = client.get("/events", parameters).await.ok();
    answer["events"].as_array().unwrap().iter().map(|event| event["draft_id"].as_i64().unwrap()).collect()
}

// conformance: queue-3
#[tokio::test]
async fn a_poll_that_waits_is_answered_by_the_event() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let mut queue = owner.register(json!({"event_types": ["realm_user"]})).await;
    let (events, _) = tokio::join!(queue.wait(), server.member("ada"));
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0]["person"]["full_name"], "Ada");
    queue.expect_nothing().await;
}

// conformance: queue-1, queue-2
#[tokio::test]
async fn a_poll_that_may_not_block_answers_an_empty_list() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let queue = owner.register(()).await;
    let answer = owner.get("/events", queue.poll(true)).await.ok();
    assert_eq!(answer, json!({"result": "success", "msg": "", "events": [], "queue_id": queue.queue_id}));
}

// conformance: queue-5, queue-6
#[tokio::test]
async fn events_come_again_until_they_are_acknowledged() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(()).await;
    let first = queue.poll(true);
    let without_last = json!({"queue_id": queue.queue_id, "dont_block": true});
    let from_older_servers = json!({"queue_id": queue.queue_id, "dont_block": true, "last_event_id": -1});
    for number in 1..=3 {
        server.ping(&[&ada], number, true).await;
    }
    for parameters in [&first, &without_last, &from_older_servers, &first] {
        assert_eq!(numbers(&ada, parameters.clone()).await, [1, 2, 3], "{parameters}");
    }
    let events = queue.expect(&[ping(1), ping(2), ping(3)]).await;
    assert_eq!(numbers(&ada, without_last.clone()).await, [0; 0], "the last poll acknowledged all three");

    let acknowledged = events[2]["id"].as_i64().unwrap();
    let earlier = events[1]["id"].as_i64().unwrap();
    let mut again = first.clone();
    again["last_event_id"] = earlier.into();
    let pruned = format!("An event newer than {earlier} has already been pruned!");
    ada.get("/events", again).await.error(400, "BAD_REQUEST", &pruned);
    let mut again = first;
    again["last_event_id"] = acknowledged.into();
    assert_eq!(numbers(&ada, again).await, [0; 0]);
}

// conformance: queue-7, queue-8
#[tokio::test]
async fn clients_ahead_of_the_log_register_again() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(()).await;
    server.ping(&[&ada], 1, true).await;
    let text = json!({"queue_id": queue.queue_id, "last_event_id": "last"});
    ada.get("/events", text).await.error(400, "BAD_REQUEST", "last_event_id is not valid JSON");
    queue.expect(&[ping(1)]).await;
    let future = json!({"queue_id": queue.queue_id, "last_event_id": 1_000_000, "dont_block": true});
    let refusal = format!("Bad event queue ID: {}", queue.queue_id);
    ada.get("/events", future).await.error(400, "BAD_EVENT_QUEUE_ID", &refusal);
    ada.get("/events", queue.poll(true)).await.error(400, "BAD_EVENT_QUEUE_ID", &refusal);
}

// conformance: queue-9, queue-10
#[tokio::test]
async fn a_queue_is_its_owners_alone() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let queue = ada.register(()).await;
    let refusal = format!("Bad event queue ID: {}", queue.queue_id);
    let error = owner.get("/events", queue.poll(true)).await.error(400, "BAD_EVENT_QUEUE_ID", &refusal);
    assert_eq!(error["queue_id"], queue.queue_id);
    let answer = server.anonymous().get("/events", queue.poll(true)).await;
    answer.error(401, "UNAUTHORIZED", "Not logged in: API authentication or user session required");
    ada.get("/events", queue.poll(true)).await.ok();
    let unknown = ada.get("/events", &[("queue_id", "…"), ("dont_block", "true")]).await;
    unknown.error(400, "BAD_EVENT_QUEUE_ID", "Bad event queue ID: …");
}

// conformance: queue-24
#[tokio::test]
async fn queues_receive_events_of_their_user_and_types() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let mut all = ada.register(()).await;
    let mut pings = ada.register(json!({"event_types": ["drafts", "message"]})).await;
    let mut none = ada.register(json!({"event_types": []})).await;
    let mut other = bob.register(()).await;
    server.ping(&[&ada], 1, true).await;
    server.ping(&[&bob], 2, true).await;
    server.ping(&[&ada, &bob], 3, false).await;
    all.expect(&[ping(1), ping(3)]).await;
    pings.expect(&[ping(1), ping(3)]).await;
    none.expect_nothing().await;
    other.expect(&[ping(2), ping(3)]).await;
}

// conformance: queue-27
#[tokio::test]
async fn new_queues_start_empty() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    server.ping(&[&ada], 1, true).await;
    let mut after_logged = ada.register(()).await;
    server.ping(&[&ada], 2, false).await;
    let mut after_unlogged = ada.register(()).await;
    after_logged.expect(&[ping(2)]).await;
    after_unlogged.expect_nothing().await;
    server.ping(&[&ada], 3, false).await;
    after_unlogged.expect(&[ping(3)]).await;
    after_logged.expect(&[ping(3)]).await;
}

// conformance: queue-15
#[tokio::test]
async fn a_queue_far_behind_reads_the_log_page_by_page() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut behind = ada.register(json!({"event_types": ["drafts"]})).await;
    let mut other = ada.register(json!({"event_types": ["realm_user"]})).await;
    // More than the buffer in memory holds.
    let audience = teamchat::events::Audience::user(teamchat::types::UserId(ada.user_id));
    let job = move |tx: &mut teamchat::store::Tx<'_>| -> Result<(), teamchat::store::StoreError> {
        for number in 0..6000 {
            tx.emit(DraftRemoved { draft_id: number }, audience.clone());
        }
        Ok(())
    };
    server.app().writer.run(job).await.unwrap();
    let page = ada.get("/events", behind.poll(true)).await.ok();
    assert_eq!(page["events"].as_array().unwrap().len(), 1000);
    let found: Vec<i64> =
        behind.events().await.iter().map(|event| event["draft_id"].as_i64().unwrap()).collect();
    assert_eq!(found, (0..6000).collect::<Vec<_>>());
    other.expect_nothing().await;
}

// conformance: queue-11
#[tokio::test]
async fn a_second_poll_ends_the_first() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let queue = ada.register(()).await;
    let one = ada.get("/events", queue.poll(false));
    let other = ada.get("/events", queue.poll(false));
    tokio::pin!(one, other);
    // Whichever came first is ended by the other, and no event is needed for that.
    let (ended, survivor) = tokio::select! {
        ended = &mut one => (ended, other),
        ended = &mut other => (ended, one),
    };
    assert_eq!(ended.ok()["events"], json!([]));
    let receivers = [&ada];
    let (answer, ()) = tokio::join!(survivor, server.ping(&receivers, 1, true));
    let answer = answer.ok();
    assert_eq!(answer["events"][0]["draft_id"], 1);
    let acknowledge =
        json!({"queue_id": queue.queue_id, "last_event_id": answer["events"][0]["id"], "dont_block": true});
    ada.get("/events", acknowledge).await.ok();
}

// conformance: queue-12
#[tokio::test]
async fn a_client_can_register_with_its_first_poll() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let answer = ada.get("/events", json!({"dont_block": true, "event_types": ["drafts"]})).await.ok();
    assert_eq!(answer["events"], json!([]));
    server.ping(&[&ada], 1, true).await;
    server.member("bob").await;
    let poll = json!({"queue_id": answer["queue_id"], "last_event_id": -1, "dont_block": true});
    assert_eq!(numbers(&ada, poll).await, [1]);

    let waiting = ada.get("/events", json!({"event_types": ["realm_user"]}));
    // The queue's row exists before the poll waits; the event may come before or after that.
    let new_users = async {
        while server.column("SELECT queue_id FROM event_queue").await.len() < 2 {
            tokio::task::yield_now().await;
        }
        server.member("cleo").await
    };
    let (answer, cleo) = tokio::join!(waiting, new_users);
    assert_eq!(answer.ok()["events"][0]["person"]["user_id"], cleo.user_id);
}

// conformance: conv-13, queue-8, queue-13
#[tokio::test]
async fn a_missing_queue_id_is_named() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let answer = owner.get("/events", ()).await;
    let error = answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'queue_id' argument");
    assert_eq!(error["var_name"], "queue_id");
    // Parameters that registrations do not have do not create a queue.
    let answer = owner.get("/events", &[("last_event_id", "-1")]).await;
    answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'queue_id' argument");
    let answer = owner.get("/events", &[("dont_block", "maybe")]).await;
    answer.error(400, "BAD_REQUEST", "dont_block is not valid JSON");
}

// conformance: queue-60
#[tokio::test]
async fn a_queue_of_all_public_channels_ends_when_its_user_becomes_a_guest() {
    let server = TestServer::start().await;
    let (owner, eve, bob) = (server.owner().await, server.member("eve").await, server.member("bob").await);
    let channel = server.channel("square", &[&bob]).await;
    let all = json!({"event_types": ["message"], "all_public_streams": true});
    let mut queue = eve.register(&all).await;
    let other = eve.register(&all).await;
    bob.send(channel, "topic", "before").await;
    queue.expect_kinds(&["message"]).await;
    let role = format!("/users/{}", eve.user_id);
    // A poll that waits, and one that comes later.
    let waiting = queue.waiting_poll().await;
    owner.patch(&role, json!({"role": 600})).await.ok();
    bob.send(channel, "topic", "secret").await;
    waiting.await.error(400, "BAD_EVENT_QUEUE_ID", &format!("Bad event queue ID: {}", queue.queue_id));
    let later = eve.get("/events", other.poll(true)).await;
    later.error(400, "BAD_EVENT_QUEUE_ID", &format!("Bad event queue ID: {}", other.queue_id));
    eve.post("/register", &all).await.error(400, "BAD_REQUEST", "User not authorized for this query");
    assert_eq!(
        server.column(&format!("SELECT count(*) FROM event_queue WHERE user_id = {}", eve.user_id)).await,
        ["0"]
    );
}

/// The client may have fetched them as well: they were sent to its user. `SECURITY.md` names it.
#[tokio::test]
async fn messages_of_before_a_loss_of_access_are_delivered() {
    let server = TestServer::start().await;
    let (owner, bob) = (server.owner().await, server.member("bob").await);
    let crew = server.private_channel("crew", &[&owner, &bob]).await;
    let mut of_bob = bob.register(json!({"event_types": ["message"]})).await;
    let sent = owner.send(crew, "plans", "before").await;
    let removed = json!({"subscriptions": ["crew"], "principals": [bob.user_id]});
    owner.delete("/users/me/subscriptions", removed).await.ok();
    owner.send(crew, "plans", "after").await;
    bob.get(&format!("/messages/{sent}"), ()).await.error(400, "BAD_REQUEST", "Invalid message(s)");
    let events = of_bob.expect_kinds(&["message"]).await;
    assert_eq!(events[0]["message"]["content"], "before");
}
