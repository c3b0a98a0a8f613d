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

/// Differs between two registrations though nothing happened, or follows from what no event is for: the newest message
/// of all, whoever received it.
const VOLATILE: &[&str] = &["queue_id", "last_event_id", "max_message_id"];

/// What clients look up in the user's record when they show a message: a changed name changes no message.
const FROM_USERS: &[&str] = &["sender_full_name", "sender_email", "avatar_url"];

/// One of a client's registrations, with what was told at its time.
struct Registered<'c> {
    client: &'c Client,
    parameters: Value,
    queue: super::Queue,
    messages: Vec<Value>,
}

impl TestServer {
    /// Registers each of these clients in several ways, and fetches its messages; runs the operation; has a model
    /// client apply the events of each queue; and compares what that client knows then with a new registration and a
    /// new fetch. Answers what the operation answers.
    pub async fn check_state_sync<T>(&self, clients: &[&Client], operation: impl AsyncFnOnce() -> T) -> T {
        let mut all = Vec::new();
        for client in clients {
            for parameters in registrations() {
                let queue = client.register(&parameters).await;
                let messages = messages_of(client, &parameters).await;
                all.push(Registered { client, parameters, queue, messages });
            }
        }
        let answer = operation().await;
        for registered in all {
            registered.check().await;
        }
        answer
    }
}

impl Registered<'_> {
    async fn check(mut self) {
        let events = self.queue.events().await;
        let before = Some(self.messages);
        let mut model = Model::new(self.client.user_id, &self.parameters, &self.queue.state, before);
        for event in &events {
            model.apply(event);
        }
        let mut fresh = self.client.register(&self.parameters).await;
        fresh.ignore();
        let after = Some(messages_of(self.client, &self.parameters).await);
        let fresh = Model::new(self.client.user_id, &self.parameters, &fresh.state, after);
        let differences =
            matching::differences(&comparable(fresh.into_state()), &comparable(model.into_state()));
        assert!(
            differences.is_empty(),
            "{} registered with {}, and what the events told (found) differs from the state (expected):\n{}\n\n\
             the events: {}",
            self.client.full_name,
            self.parameters,
            differences.join("\n"),
            serde_json::to_string_pretty(&events).unwrap(),
        );
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

/// The messages that a client receives, the oldest first, in the form of its registration.
async fn messages_of(client: &Client, parameters: &Value) -> Vec<Value> {
    let fetch = json!({
        "anchor": "newest",
        "num_before": 1000,
        "num_after": 0,
        "apply_markdown": parameters["apply_markdown"],
        "allow_empty_topic_name": parameters["client_capabilities"]["empty_topic_name"] == true,
    });
    let answer = client.get("/messages", fetch).await.ok();
    answer["messages"].as_array().expect("a list of messages").clone()
}

/// A copy in which what may differ does not: the order of lists that are sets, and counts that follow from others.
fn comparable(mut state: Value) -> Value {
    let muted = muted_streams(&state);
    let members = state.as_object_mut().expect("the state is an object");
    for name in VOLATILE {
        members.remove(*name);
    }
    // Messages that a client cannot see any more, it has and will not fetch again.
    let subscribed = ids_of(&members["subscriptions"], |_| true);
    let public = ids_of(&members["streams"], |stream| stream["invite_only"] == false);
    let readable = |id: &Value| subscribed.contains(id) || public.contains(id);
    let messages = members["messages"].as_array_mut().expect("a list of messages");
    messages.retain(|message| message.get("stream_id").is_none_or(readable));
    for message in messages {
        let message = message.as_object_mut().expect("a message");
        for name in FROM_USERS {
            message.remove(*name);
        }
        if let Some(people) = message["display_recipient"].as_array_mut() {
            *people = people.iter().map(|person| json!({"id": person["id"]})).collect();
        }
        sort(&mut message["flags"], Value::to_string);
    }
    if let Some(unread) = members.get_mut("unread_msgs") {
        let mut count = 0;
        for list in ["pms", "streams", "huddles"] {
            let entries = unread[list].as_array().expect("a list of unread");
            let counted = entries.iter().filter(|entry| !muted.contains(&entry["stream_id"]));
            count +=
                counted.map(|entry| entry["unread_message_ids"].as_array().unwrap().len()).sum::<usize>();
            sort(&mut unread[list], Value::to_string);
        }
        unread["count"] = count.into();
    }
    forget_counts(&mut state);
    state
}

fn ids_of(list: &Value, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
    let streams = list.as_array().into_iter().flatten().filter(|stream| wanted(stream));
    streams.map(|stream| stream["stream_id"].clone()).collect()
}

/// Who does not know the subscribers of channels cannot keep their number: it would have to know who was counted.
fn forget_counts(state: &mut Value) {
    let lists = ["subscriptions", "unsubscribed", "never_subscribed", "streams"];
    if lists.into_iter().any(|list| state[list][0].get("subscribers").is_some()) {
        return;
    }
    for list in lists {
        for stream in state[list].as_array_mut().into_iter().flatten() {
            stream["subscriber_count"] = Value::Null;
        }
    }
}

fn sort(list: &mut Value, key: impl Fn(&Value) -> String) {
    list.as_array_mut().expect("a list").sort_by_key(key);
}

/// Channels whose unread messages do not count.
fn muted_streams(state: &Value) -> Vec<Value> {
    let subscriptions = state["subscriptions"].as_array().into_iter().flatten();
    subscriptions.filter(|own| own["is_muted"] == true).map(|own| own["stream_id"].clone()).collect()
}
