//! `GET /events`.

use crate::harness::TestServer;
use serde_json::json;

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

#[tokio::test]
async fn a_missing_queue_id_is_named() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let answer = owner.get("/events", ()).await;
    let error = answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'queue_id' argument");
    assert_eq!(error["var_name"], "queue_id");
    let answer = owner.patch("/events", ()).await;
    answer.error(405, "BAD_REQUEST", "Method Not Allowed");
    let answer = owner.delete("/events", &[("queue_id", "x"), ("more", "1")]).await;
    answer.error(400, "BAD_EVENT_QUEUE_ID", "Bad event queue ID: x");
}
