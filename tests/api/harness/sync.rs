//! State before, plus events, equals state after: for every operation that writes.

use super::model::Model;
use super::{Client, TestServer, matching};
use serde_json::{Value, json};

/// Every capability that changes what the server sends.
pub const ALL_CAPABILITIES: &[&str] = &[
    "notification_settings_null",
    "bulk_message_deletion",
    "user_avatar_url_field_optional",
    "stream_typing_notifications",
    "user_settings_object",
    "linkifier_url_template",
    "user_list_incomplete",
    "include_deactivated_groups",
    "archived_channels",
    "empty_topic_name",
    "simplified_presence_events",
    "individual_emoji_changes",
];

/// Differs between two registrations though nothing happened.
const VOLATILE: &[&str] = &["queue_id", "last_event_id"];

impl TestServer {
    /// Registers each of these clients in several ways, runs the operation, has a model client apply the events of each
    /// queue to its state, and compares that with a new registration. Answers what the operation answers.
    pub async fn check_state_sync<T>(&self, clients: &[&Client], operation: impl AsyncFnOnce() -> T) -> T {
        self.check_state_sync_of(&Value::Null, clients, operation).await
    }

    /// The same for clients that ask for these types of events only, and for their state.
    pub async fn check_state_sync_of<T>(
        &self,
        types: &Value,
        clients: &[&Client],
        operation: impl AsyncFnOnce() -> T,
    ) -> T {
        let mut queues = Vec::new();
        for client in clients {
            for mut parameters in registrations() {
                if !types.is_null() {
                    parameters["event_types"] = types.clone();
                }
                queues.push((*client, parameters.clone(), client.register(parameters).await));
            }
        }
        let answer = operation().await;
        for (client, parameters, mut queue) in queues {
            let events = queue.events().await;
            let mut model = Model::new(&queue.state);
            for event in &events {
                model.apply(event);
            }
            let mut fresh = client.register(parameters.clone()).await;
            fresh.ignore();
            let differences =
                matching::differences(&comparable(fresh.state.clone()), &comparable(model.into_state()));
            assert!(
                differences.is_empty(),
                "{} registered with {parameters}, and what the events told (found) differs from the state \
                 (expected):\n{}\n\nthe events: {}",
                client.full_name,
                differences.join("\n"),
                serde_json::to_string_pretty(&events).unwrap(),
            );
        }
        answer
    }
}

/// The ways in which clients register that change what they are told.
fn registrations() -> Vec<Value> {
    let all: Value = ALL_CAPABILITIES.iter().map(|name| ((*name).to_owned(), Value::Bool(true))).collect();
    vec![
        json!({"apply_markdown": true, "client_capabilities": all, "include_subscribers": true, "slim_presence": true}),
        json!({"apply_markdown": false, "client_gravatar": false}),
    ]
}

fn comparable(mut state: Value) -> Value {
    let members = state.as_object_mut().expect("the state is an object");
    for name in VOLATILE {
        members.remove(*name);
    }
    forget_counts(members);
    state
}

/// Who does not know the subscribers of channels cannot keep their number: it would have to know who was counted.
fn forget_counts(state: &mut serde_json::Map<String, Value>) {
    let lists = ["subscriptions", "unsubscribed", "never_subscribed", "streams"];
    let knows = |list: &str| state.get(list).is_some_and(|list| list[0].get("subscribers").is_some());
    if lists.into_iter().any(knows) {
        return;
    }
    for list in lists {
        for stream in state.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            stream["subscriber_count"] = Value::Null;
        }
    }
}
