//! State before, plus events, equals state after: for every operation that writes.

use super::model::Model;
use super::{Client, TestServer, matching};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Capabilities that change the events and the state.
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

/// The `visibility_policy` of a muted topic.
const MUTED: i64 = 1;

/// Members that differ between two registrations without a change, or for which there is no event: the newest message,
/// the newest change of presence, and the time.
const VOLATILE: &[&str] =
    &["queue_id", "last_event_id", "max_message_id", "presence_last_update_id", "server_timestamp"];

/// A user's permissions follow from their role and groups and from the organization's settings. Clients compute them;
/// the copy in the state is for clients without support for groups.
const OWN_PERMISSIONS: &[&str] = &[
    "can_create_public_streams",
    "can_create_private_streams",
    "can_create_streams",
    "can_create_web_public_streams",
    "can_subscribe_other_users",
    "can_invite_others_to_realm",
];

/// The parts of `unread_msgs` by kind of conversation.
const UNREAD_LISTS: &[&str] = &["pms", "streams", "huddles"];

/// One registration of a client, with its initial state.
pub struct Registered {
    client: Client,
    parameters: Value,
    queue: super::Queue,
    fetched: Fetched,
}

/// The messages and files that a client has fetched beside its state.
#[derive(Clone)]
pub struct Fetched {
    messages: Vec<Value>,
    attachments: Value,
}

impl TestServer {
    /// Registers each client in several ways and fetches its messages; runs the operation; lets a model client apply
    /// the events of each queue; and compares its state with a new registration and a new fetch. Returns the result of
    /// the operation.
    pub async fn check_state_sync<T>(&self, clients: &[&Client], operation: impl AsyncFnOnce() -> T) -> T {
        let all = Registered::of_each(clients).await;
        let answer = operation().await;
        for registered in all {
            registered.check().await;
        }
        answer
    }

    /// Like [`check_state_sync`](Self::check_state_sync), for operations with these values, one after the other. Each registration
    /// is the state after one of them, and the state before the next.
    pub async fn check_state_sync_after_each<V>(
        &self,
        clients: &[&Client],
        values: impl IntoIterator<Item = V>,
        operation: impl AsyncFn(V),
    ) {
        let mut registered = Registered::of_each(clients).await;
        for value in values {
            operation(value).await;
            registered = Registered::check_and_renew_each(registered).await;
        }
        registered.into_iter().for_each(Registered::ignore);
    }
}

impl Registered {
    /// The registrations of a client.
    pub async fn of(client: &Client) -> Vec<Self> {
        let mut all = Vec::new();
        for parameters in registrations() {
            all.push(Self::with(client, parameters).await);
        }
        all
    }

    /// The registrations of several clients.
    pub async fn of_each(clients: &[&Client]) -> Vec<Self> {
        let mut all = Vec::new();
        for client in clients {
            all.extend(Self::of(client).await);
        }
        all
    }

    async fn with(client: &Client, parameters: Value) -> Self {
        let queue = client.register(&parameters).await;
        let messages = messages_of(client, &parameters).await;
        let fetched = Fetched { messages, attachments: attachments_of(client).await };
        Self { client: client.clone(), parameters, queue, fetched }
    }

    /// The registrations of clients at another server on the same file, where they would fetch the same.
    pub async fn of_each_again(clients: &[&Client], fetched: &[Fetched]) -> Vec<Self> {
        let (mut fetched, mut all) = (fetched.iter().cloned(), Vec::new());
        for client in clients {
            for parameters in registrations() {
                let queue = client.register(&parameters).await;
                let fetched = fetched.next().expect("as many as registrations");
                all.push(Self { client: Client::clone(client), parameters, queue, fetched });
            }
        }
        all
    }

    /// A client that knows what was registered and fetched.
    fn model(&self) -> Model {
        let Fetched { messages, attachments } = self.fetched.clone();
        let mut model = Model::new(self.client.user_id, &self.parameters, &self.queue.state, Some(messages));
        model.has_uploaded(attachments);
        model
    }

    /// Polls, so that the queue does not expire while time passes.
    pub async fn touch(&self) {
        self.queue.touch().await;
    }

    /// Ends the comparison, because the queue or its user was deleted.
    pub fn ignore(self) {
        self.into_fetched();
    }

    /// Ends the comparison, and returns what was fetched.
    pub fn into_fetched(mut self) -> Fetched {
        self.queue.ignore();
        self.fetched
    }

    /// Compares the state updated by the events of the queue with a new registration.
    pub async fn check(self) {
        self.check_without(&[]).await;
    }

    /// The same, without members of these names, wherever they are.
    pub async fn check_without(self, left_out: &[&str]) {
        self.compare(left_out).await.ignore();
    }

    /// The same as [`check`](Self::check). Returns the new registration, for the next operation.
    pub async fn check_and_renew(self) -> Self {
        self.compare(&[]).await
    }

    /// The same for several registrations.
    pub async fn check_and_renew_each(all: Vec<Self>) -> Vec<Self> {
        let mut renewed = Vec::new();
        for one in all {
            renewed.push(one.check_and_renew().await);
        }
        renewed
    }

    async fn compare(mut self, left_out: &[&str]) -> Self {
        let events = self.queue.events().await;
        let mut model = self.model();
        for event in &events {
            model.apply(event);
        }
        let renewed = Self::with(&self.client, self.parameters.clone()).await;
        let mut fresh = renewed.model().into_state();
        let model = model.into_state();
        forget_arrivals(&mut fresh, &model);
        if left_out.is_empty() {
            assert_eq!(fresh["unread_msgs"]["count"], count_unread(&fresh), "unread messages that count");
            assert_eq!(fresh["unread_msgs"]["mentions"], unread_mentions(&fresh), "unread mentions");
        }
        let wanted = |state: Value| {
            let mut state = comparable(state);
            if !left_out.is_empty() {
                forget_members(&mut state, left_out);
            }
            state
        };
        let differences = matching::differences(&wanted(fresh), &wanted(model));
        assert!(
            differences.is_empty(),
            "{} registered with {}, and what the events told (found) differs from the state (expected):\n{}\n\n\
             the events: {}",
            self.client.full_name,
            self.parameters,
            differences.join("\n"),
            serde_json::to_string_pretty(&events).unwrap(),
        );
        renewed
    }
}

/// Registrations that differ in the events they receive.
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

/// The files that a client's user has uploaded.
async fn attachments_of(client: &Client) -> Value {
    client.get("/attachments", ()).await.ok()["attachments"].clone()
}

/// Messages that became visible by a move are not sent. They are read, and clients fetch them when needed.
fn forget_arrivals(fresh: &mut Value, model: &Value) {
    let known: Vec<&Value> = messages_in(model).map(|message| &message["id"]).collect();
    let has =
        |list: &Value, name: &str| list.as_array().is_some_and(|list| list.iter().any(|one| one == name));
    let came = |message: &Value| {
        let edits = message["edit_history"].as_array();
        let moved = edits.is_some_and(|edits| edits.iter().any(|edit| !edit["prev_stream"].is_null()));
        moved && has(&message["flags"], "read")
    };
    let messages = fresh["messages"].as_array_mut().expect("a list of messages");
    messages.retain(|message| !came(message) || known.contains(&&message["id"]));
}

fn messages_in(state: &Value) -> impl Iterator<Item = &Value> {
    state["messages"].as_array().expect("a list of messages").iter()
}

/// A copy without legitimate differences: looked-up values and the order of unordered lists.
fn comparable(mut state: Value) -> Value {
    let (count, mentions) = (count_unread(&state), unread_mentions(&state));
    let members = state.as_object_mut().expect("the state is an object");
    for name in VOLATILE.iter().chain(OWN_PERMISSIONS) {
        members.remove(*name);
    }
    let subscribed = ids_of(members.get("subscriptions"));
    let messages = members["messages"].as_array_mut().expect("a list of messages");
    // Clients may keep or drop messages of a channel that the user left; access decides about a fetch.
    messages.retain(|message| message["type"] == "private" || subscribed.contains(&message["stream_id"]));
    for message in messages {
        forget_names(message);
        sort(&mut message["flags"]);
    }
    if let Some(topics) = members.get_mut("user_topics") {
        sort(topics);
    }
    if let Some(topics) = members.get_mut("muted_topics") {
        sort(topics);
    }
    if let Some(unread) = members.get_mut("unread_msgs") {
        // A topic is shown as its newest message spells it, which may be one that the client does not have.
        for entry in unread["streams"].as_array_mut().expect("a list of unread") {
            entry["topic"] = lower(&entry["topic"]).into();
        }
        for list in UNREAD_LISTS {
            sort(&mut unread[*list]);
        }
        unread["count"] = count.into();
        unread["mentions"] = mentions;
    }
    forget_counts(members);
    state
}

fn ids_of(streams: Option<&Value>) -> Vec<Value> {
    let streams = streams.and_then(Value::as_array).into_iter().flatten();
    streams.map(|stream| stream["stream_id"].clone()).collect()
}

/// Removes names and images of users and channels, which clients look up when they show a message: a changed name
/// changes no message.
fn forget_names(message: &mut Value) {
    let message = message.as_object_mut().expect("a message");
    for name in ["sender_full_name", "sender_email", "avatar_url", "recipient_id"] {
        message.remove(name);
    }
    match message["display_recipient"].as_array_mut() {
        Some(people) => *people = people.iter().map(|person| json!({"id": person["id"]})).collect(),
        None => message["display_recipient"] = message["stream_id"].clone(),
    }
}

fn forget_members(value: &mut Value, names: &[&str]) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !names.contains(&name.as_str()));
            members.values_mut().for_each(|value| forget_members(value, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| forget_members(value, names)),
        _ => {}
    }
}

fn sort(list: &mut Value) {
    list.as_array_mut().expect("a list").sort_by_key(Value::to_string);
}

fn lower(topic: &Value) -> String {
    topic.as_str().expect("a topic is a text").to_lowercase()
}

/// Counts unread messages, without muted channels and topics.
fn count_unread(state: &Value) -> usize {
    let counted = unread_entries(state).filter(|entry| !is_muted(state, entry));
    counted.map(|entry| entry["unread_message_ids"].as_array().unwrap().len()).sum()
}

/// Unread messages that mention the user by name, or by a wildcard in a conversation that is not muted.
fn unread_mentions(state: &Value) -> Value {
    let messages: BTreeMap<_, _> =
        messages_in(state).map(|message| (message["id"].as_i64(), message)).collect();
    let mut mentions = Vec::new();
    for entry in unread_entries(state) {
        for id in list(&entry["unread_message_ids"]) {
            let found = messages.get(&id.as_i64());
            let flags = found.map(|message| list(&message["flags"])).unwrap_or_default();
            let has = |name: &str| flags.iter().any(|flag| flag == name);
            if has("mentioned") || (has("wildcard_mentioned") && !is_muted(state, entry)) {
                mentions.push(id.clone());
            }
        }
    }
    mentions.sort_by_key(Value::as_i64);
    mentions.into()
}

fn list(list: &Value) -> &[Value] {
    list.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn unread_entries(state: &Value) -> impl Iterator<Item = &Value> {
    UNREAD_LISTS.iter().flat_map(move |name| list(&state["unread_msgs"][*name]))
}

/// True if a conversation is muted, by its channel or its topic.
fn is_muted(state: &Value, entry: &Value) -> bool {
    let stream_id = &entry["stream_id"];
    if stream_id.is_null() {
        return false;
    }
    let (subscriptions, topics) = (list(&state["subscriptions"]), list(&state["user_topics"]));
    let same = |topic: &&Value| {
        topic["stream_id"] == *stream_id && lower(&topic["topic_name"]) == lower(&entry["topic"])
    };
    match topics.iter().find(same).map(|topic| topic["visibility_policy"].as_i64().unwrap()) {
        Some(policy) => policy == MUTED,
        None => subscriptions.iter().any(|own| own["stream_id"] == *stream_id && own["is_muted"] == true),
    }
}

/// Removes numbers of subscribers: a client without the lists cannot update them.
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
