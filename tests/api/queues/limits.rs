//! Limits on the queues of one account.

use super::ping;
use crate::harness::TestServer;
use serde_json::json;
use teamchat::store::StoreError;

// conformance: queue-45
#[tokio::test]
async fn queues_store_known_types_only() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let types = json!({"event_types": ["drafts", "no such type", "message", "drafts"]});
    let mut queue = ada.register(types).await;
    let stored = "SELECT json_extract(registration, '$.event_types') FROM event_queue";
    assert_eq!(server.column(stored).await, [r#"["drafts","message"]"#]);
    server.ping(&[&ada], 1, true).await;
    queue.expect(&[ping(1)]).await;
}

// conformance: queue-46
#[tokio::test]
async fn the_narrow_of_a_queue_is_short() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let narrow = |operator: &str, terms: usize, length: usize| json!({"narrow": vec![(operator, "é".repeat(length)); terms]});
    for (operator, limit) in [("channel", 100), ("topic", 100), ("is", 100), ("sender", 254)] {
        ada.post("/register", narrow(operator, 10, limit)).await.ok();
        let msg = "narrow is too long (limit: 10 terms)";
        ada.post("/register", narrow(operator, 11, 1)).await.error(400, "BAD_REQUEST", msg);
        let msg = format!("narrow is too long (limit: {limit} characters)");
        ada.post("/register", narrow(operator, 1, limit + 1)).await.error(400, "BAD_REQUEST", &msg);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_state_has_the_role_that_its_events_begin_with() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let (started, has_started) = std::sync::mpsc::channel();
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let demotion = server.app().writer.run(move |tx| -> Result<(), StoreError> {
        started.send(()).unwrap();
        gate.recv().unwrap();
        tx.execute("UPDATE user SET role = 600 WHERE email = 'ada@example.com'", [])?;
        Ok(())
    });
    let registered = async {
        has_started.recv().unwrap();
        // Ends the transaction after the demotion. In one with the queue's row, the state might still be read before it.
        let _copy = server.app().writer.copy();
        let registered = ada.post("/register", json!({"fetch_event_types": ["realm_user"]}));
        let opened = async {
            // The queue is registered after the authentication and before the writer stores it.
            while server.app().hub.is_empty() {
                tokio::task::yield_now().await;
            }
            open.send(()).unwrap();
        };
        tokio::join!(registered, opened).0.ok()
    };
    // The writer gets the demotion first.
    let (demoted, state) = tokio::join!(demotion, registered);
    demoted.unwrap();
    assert_eq!(state["is_guest"], true);
}
