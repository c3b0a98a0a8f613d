//! Registering while things happen: between the state and the first event nothing is lost, and nothing comes twice.

use crate::harness::{Client, TestServer};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SENDERS: usize = 4;
const MESSAGES: usize = 25;
const REGISTRATIONS: usize = 25;

async fn send_all(sender: &Client, to: &Client) {
    for number in 0..MESSAGES {
        let message = json!({"type": "direct", "to": [to.user_id], "content": number});
        sender.post("/messages", message).await.ok();
    }
}

fn ids(list: &Value) -> impl Iterator<Item = i64> {
    list.as_array().into_iter().flatten().map(|id| id.as_i64().unwrap())
}

// conformance: queue-27
#[tokio::test]
async fn state_and_events_fit_together_whenever_a_client_registers() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut senders = Vec::new();
    for number in 0..SENDERS {
        senders.push(server.member(&format!("sender{number}")).await);
    }
    let sending = join_all(senders.iter().map(|sender| send_all(sender, &ada)));
    let registering = async {
        let mut queues = Vec::new();
        for _ in 0..REGISTRATIONS {
            let parameters = json!({
                "event_types": ["message"],
                "fetch_event_types": ["message", "update_message_flags"],
            });
            queues.push(ada.register(parameters).await);
        }
        queues
    };
    let (_, queues) = tokio::join!(sending, registering);
    let mut partial = 0;
    for mut queue in queues {
        let state = &queue.state["unread_msgs"]["pms"];
        let in_state: Vec<i64> = state
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|conversation| ids(&conversation["unread_message_ids"]))
            .collect();
        partial += usize::from(!in_state.is_empty() && in_state.len() < SENDERS * MESSAGES);
        let heard: Vec<i64> =
            queue.events().await.iter().map(|event| event["message"]["id"].as_i64().unwrap()).collect();
        assert!(heard.is_sorted_by(|one, other| one < other), "events come in order: {heard:?}");
        let all: BTreeSet<i64> = in_state.iter().chain(&heard).copied().collect();
        assert_eq!(in_state.len() + heard.len(), SENDERS * MESSAGES, "nothing is lost, nothing comes twice");
        assert_eq!(all.len(), SENDERS * MESSAGES, "nothing is lost, nothing comes twice");
    }
    assert!(partial > 0, "none of {REGISTRATIONS} registrations was in the middle: nothing was tested");
}
