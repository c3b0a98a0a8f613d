//! Audiences and visibility with a thousand users and three hundred channels.

use crate::harness::{Client, Queue, Rng, TestServer};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const PEOPLE: usize = 1000;
const CHANNELS: usize = 300;

/// Messages that are sent.
const STEPS: usize = 120;

/// One in this number of users has an event queue.
const LISTEN_EVERY: usize = 20;

struct Channel {
    stream_id: i64,
    /// Places in the list of people.
    subscribers: BTreeSet<usize>,
    is_private: bool,
}

struct Large {
    server: TestServer,
    people: Vec<Client>,
    channels: Vec<Channel>,
    listening: Vec<(usize, Queue)>,
    rng: Rng,
}

impl Large {
    async fn new() -> Self {
        let server = TestServer::start().await;
        let people = server.crowd(PEOPLE).await;
        let mut rng = Rng::new(0x1000_0300);
        let mut channels = Vec::new();
        for number in 0..CHANNELS {
            // Channels with few, hundreds and most users, and without any.
            let count = match number {
                0..2 => PEOPLE,
                2..20 => 100 + rng.below(400),
                20..40 => 20 + rng.below(12),
                _ => rng.below(6),
            };
            let subscribers: BTreeSet<usize> = match count {
                PEOPLE => (0..PEOPLE).collect(),
                count => (0..count).map(|_| rng.below(PEOPLE)).collect(),
            };
            let clients: Vec<&Client> = subscribers.iter().map(|place| &people[*place]).collect();
            let is_private = number % 3 == 2;
            let name = format!("channel {number}");
            let stream_id = if is_private {
                server.private_channel(&name, &clients).await
            } else {
                server.channel(&name, &clients).await
            };
            channels.push(Channel { stream_id, subscribers, is_private });
        }
        let mut listening = Vec::new();
        for place in (0..PEOPLE).step_by(LISTEN_EVERY) {
            let types =
                json!(["message", "reaction", "update_message", "delete_message", "typing", "stream"]);
            let register = json!({"event_types": types, "fetch_event_types": []});
            listening.push((place, people[place].register(register).await));
        }
        Self { server, people, channels, listening, rng }
    }

    /// Checks that exactly these users receive the events.
    async fn heard_by(&mut self, people: &BTreeSet<usize>, kinds: &[&str]) {
        for (place, queue) in &mut self.listening {
            let mut events = queue.take().await;
            // The first message of a public channel changes a property for all who can see the channel.
            events.retain(|event| event["property"] != "first_message_id");
            let found: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
            let expected = if people.contains(place) { kinds } else { &[] };
            assert_eq!(found, expected, "person {place}: {events:?}");
        }
    }

    /// Sends, edits and deletes a message in a channel.
    async fn talk_in_channel(&mut self) {
        let spoken: Vec<usize> =
            (0..CHANNELS).filter(|number| !self.channels[*number].subscribers.is_empty()).collect();
        // Half of all is said where many listen.
        let number =
            if self.rng.below(2) == 0 { self.rng.below(40) } else { self.rng.pick(&spoken).unwrap() };
        let Channel { stream_id, ref subscribers, .. } = self.channels[number];
        let subscribers = subscribers.clone();
        let all: Vec<usize> = subscribers.iter().copied().collect();
        let (sender, other) = (self.rng.pick(&all).unwrap(), self.rng.pick(&all).unwrap());
        let (sender, other) = (self.people[sender].clone(), self.people[other].clone());
        let id = sender.send(stream_id, "plans", "hello").await;
        other.post(&format!("/messages/{id}/reactions"), json!({"emoji_name": "tada"})).await.ok();
        sender.patch(&format!("/messages/{id}"), json!({"content": "goodbye"})).await.ok();
        self.heard_by(&subscribers, &["message", "reaction", "update_message"]).await;
    }

    /// A message to many people at once.
    async fn talk_directly(&mut self) {
        let count = 2 + self.rng.below(40);
        let mut members: BTreeSet<usize> = (0..count).map(|_| self.rng.below(PEOPLE)).collect();
        let sender = self.rng.below(PEOPLE);
        members.insert(sender);
        let clients: Vec<&Client> = members.iter().map(|place| &self.people[*place]).collect();
        self.people[sender].send_direct(&clients, "to all of you").await;
        self.heard_by(&members, &["message"]).await;
    }

    /// Compares the channels visible to a user with the rules.
    async fn look(&self, place: usize) {
        let client = &self.people[place];
        let state = json!({"fetch_event_types": ["subscription", "stream"], "include_subscribers": true});
        let state = client.post("/register", state).await.ok();
        let ids = |list: &Value| -> BTreeSet<i64> {
            list.as_array().unwrap().iter().map(|stream| stream["stream_id"].as_i64().unwrap()).collect()
        };
        let expected = |may: &dyn Fn(&Channel) -> bool| -> BTreeSet<i64> {
            self.channels.iter().filter(|channel| may(channel)).map(|channel| channel.stream_id).collect()
        };
        let is_in = |channel: &Channel| channel.subscribers.contains(&place);
        assert_eq!(ids(&state["subscriptions"]), expected(&is_in), "subscriptions of {place}");
        let sees = |channel: &Channel| is_in(channel) || !channel.is_private;
        assert_eq!(ids(&state["streams"]), expected(&sees), "channels of {place}");
        for subscription in state["subscriptions"].as_array().unwrap() {
            let channel = self.channels.iter().find(|channel| subscription["stream_id"] == channel.stream_id);
            let subscribers = &channel.unwrap().subscribers;
            let user_ids: Vec<i64> = subscribers.iter().map(|place| self.people[*place].user_id).collect();
            assert_eq!(subscription["subscribers"], json!(user_ids));
            assert_eq!(subscription["subscriber_count"], user_ids.len());
        }
    }
}

#[tokio::test]
async fn events_reach_only_affected_users() {
    let mut large = Large::new().await;
    for step in 0..STEPS {
        if step % 4 == 0 {
            large.talk_directly().await;
        } else {
            large.talk_in_channel().await;
        }
    }
    for place in (0..PEOPLE).step_by(PEOPLE / 5) {
        large.look(place).await;
    }
    // Exactly the users with access to all private channels learn of new ones.
    let owner = large.server.owner().await;
    let (place, found) = (LISTEN_EVERY, json!({"role": 200}));
    owner.patch(&format!("/users/{}", large.people[place].user_id), found).await.ok();
    let unknown = |channel: &&Channel| channel.is_private && !channel.subscribers.contains(&place);
    let unknown: BTreeSet<i64> =
        large.channels.iter().filter(unknown).map(|channel| channel.stream_id).collect();
    let mut received = BTreeSet::new();
    for (listener, queue) in &mut large.listening {
        for event in queue.take().await {
            assert_eq!(*listener, place, "{event}");
            if event["type"] == "message" {
                // That the role has changed.
                continue;
            }
            assert_eq!(event["op"], "create", "{event}");
            let streams = event["streams"].as_array().unwrap();
            received.extend(streams.iter().map(|stream| stream["stream_id"].as_i64().unwrap()));
        }
    }
    assert_eq!(received, unknown);
}
