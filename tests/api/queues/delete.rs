//! `DELETE /events`.

use crate::harness::TestServer;
use reqwest::Method;
use serde_json::json;

// conformance: queue-16
#[tokio::test]
async fn a_deleted_queue_is_gone_for_good() {
    let mut server = TestServer::start().await;
    let ada = server.member("ada").await;
    let queues = [ada.register(()).await, ada.register(()).await];
    let [by_query, by_body] = queues.each_ref().map(|queue| json!({"queue_id": queue.queue_id}));
    ada.delete("/events", &by_query).await.ok();
    ada.request(Method::DELETE, "/events").form(&by_body).send().await.ok();
    for queue in &queues {
        let refusal = format!("Bad event queue ID: {}", queue.queue_id);
        ada.get("/events", queue.poll(true)).await.error(400, "BAD_EVENT_QUEUE_ID", &refusal);
        let again = ada.delete("/events", &[("queue_id", queue.queue_id.as_str())]).await;
        again.error(400, "BAD_EVENT_QUEUE_ID", &refusal);
    }
    server.crash().await;
    let refusal = format!("Bad event queue ID: {}", queues[0].queue_id);
    ada.get("/events", queues[0].poll(true)).await.error(400, "BAD_EVENT_QUEUE_ID", &refusal);
}

// conformance: queue-17, queue-18
#[tokio::test]
async fn only_the_owner_deletes_a_queue() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(()).await;
    let parameters = json!({"queue_id": queue.queue_id});
    let refusal = format!("Bad event queue ID: {}", queue.queue_id);
    owner.delete("/events", &parameters).await.error(400, "BAD_EVENT_QUEUE_ID", &refusal);
    queue.expect_nothing().await;
    let missing = ada.delete("/events", ()).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'queue_id' argument");
}
