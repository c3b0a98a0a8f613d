//! The storage compared with a simple model. The server stores no row per message and receiver: receivers follow from
//! spans of subscriptions and from moved receipts, and read messages from sets of ids. The model has a row per message
//! and receiver, like the published server. Both must agree after thousands of random operations.

use crate::harness::access::{Channel, Privacy, PropagateMode, Role};
use crate::harness::{Client, Rng, TestServer, budget};
use serde_json::{Value, json};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Operations in a run, before the budget.
const STEPS: usize = 300;

/// Operations between two comparisons.
const COMPARE_EVERY: usize = 40;

/// Rows of the model: for a message and a receiver, true if it is read.
type Rows = BTreeMap<(i64, usize), bool>;

#[derive(Clone, Debug)]
struct Message {
    channel: usize,
    topic: usize,
    sender: usize,
}

/// The model, and the server beside it.
struct StorageModel {
    server: TestServer,
    /// The first is the owner, who is in every channel; the last is a guest.
    users: Vec<Client>,
    channels: Vec<Channel>,
    messages: BTreeMap<i64, Message>,
    rows: Rows,
    /// Messages that came to users only when they marked them as unread.
    historical: BTreeSet<(i64, usize)>,
    rng: Rng,
    /// Operations so far, for the text of a failure.
    done: Vec<String>,
}

const TOPICS: [&str; 3] = ["apples", "pears", "plums"];

impl StorageModel {
    async fn new(seed: u64) -> Self {
        let server = TestServer::start().await;
        let mut users = vec![server.owner().await];
        for name in ["ada", "bob", "cleo"] {
            users.push(server.member(name).await);
        }
        users.push(server.guest("gus").await);
        let mut channels = Vec::new();
        for (name, privacy) in [
            ("first", Privacy::Public),
            ("second", Privacy::Public),
            ("shared", Privacy::Shared),
            ("protected", Privacy::Protected),
        ] {
            let mut subscription = privacy.parameters();
            subscription["subscriptions"] = json!([{"name": name}]);
            users[0].post("/users/me/subscriptions", subscription).await.ok();
            let stream_id = users[0].get("/get_stream_id", json!({"stream": name})).await.ok();
            let stream_id = stream_id["stream_id"].as_i64().unwrap();
            channels.push(Channel::new(stream_id, name, privacy, 0));
        }
        // Deletes the notices about the new channels.
        server.sql("DELETE FROM message").await;
        let (messages, rows) = Default::default();
        Self {
            server,
            users,
            channels,
            messages,
            rows,
            historical: BTreeSet::new(),
            rng: Rng::new(seed),
            done: Vec::new(),
        }
    }

    fn role(&self, user: usize) -> Role {
        match user {
            0 => Role::Administrator,
            user if user + 1 == self.users.len() => Role::Guest,
            _ => Role::Member,
        }
    }

    fn sees(&self, user: usize, id: i64) -> bool {
        let channel = &self.channels[self.messages[&id].channel];
        channel.shows(user, self.role(user), self.rows.contains_key(&(id, user)))
    }

    /// True if a user may read a channel.
    fn reads(&self, user: usize, channel: &Channel) -> bool {
        channel.is_readable_by(user, self.role(user))
    }

    async fn step(&mut self) {
        match self.rng.below(22) {
            0..=6 => self.send().await,
            7..=9 => self.relocate().await,
            10 => self.delete().await,
            11 => self.edit().await,
            12..=13 => self.subscribe().await,
            14..=15 => self.unsubscribe().await,
            16..=18 => self.flag("add").await,
            19 => self.flag("remove").await,
            _ => self.make_own().await,
        }
    }

    async fn send(&mut self) {
        let channel = self.rng.below(self.channels.len());
        let topic = self.rng.below(TOPICS.len());
        let subscribers: Vec<usize> = self.channels[channel].subscribers.iter().copied().collect();
        let sender = self.rng.pick(&subscribers).unwrap();
        let read_by_sender = self.rng.below(2) == 0;
        let message = json!({
            "type": "channel",
            "to": self.channels[channel].stream_id,
            "topic": TOPICS[topic],
            "content": "fruit",
            "read_by_sender": read_by_sender,
        });
        let answer = self.users[sender].post("/messages", message).await.ok();
        let id = answer["id"].as_i64().unwrap();
        self.messages.insert(id, Message { channel, topic, sender });
        for user in subscribers {
            self.rows.insert((id, user), user == sender && read_by_sender);
        }
        self.done.push(format!("{id} to {channel} {topic} from {sender}, read {read_by_sender}"));
    }

    /// The owner sees every message: of the protected channel because moving there makes its subscribers receive.
    async fn relocate(&mut self) {
        let Some(id) = self.pick() else { return };
        let from = self.messages[&id].clone();
        let (channel, topic) = (self.rng.below(self.channels.len()), self.rng.below(TOPICS.len()));
        if (channel, topic) == (from.channel, from.topic) {
            return;
        }
        let mode = PropagateMode::ALL[self.rng.below(3)];
        let mut request = json!({
            "propagate_mode": mode.name(),
            "send_notification_to_new_thread": false,
        });
        if channel != from.channel {
            request["stream_id"] = self.channels[channel].stream_id.into();
        }
        if topic != from.topic {
            request["topic"] = TOPICS[topic].into();
        }
        self.users[0].patch(&format!("/messages/{id}"), request).await.ok();
        self.done.push(format!("{id} and others ({mode:?}) to {channel} {topic}"));
        let moved = self.messages.iter_mut().filter(|(other, message)| {
            (message.channel, message.topic) == (from.channel, from.topic) && mode.moves(id, **other)
        });
        let target = &self.channels[channel];
        for (moved, message) in moved {
            (message.channel, message.topic) = (channel, topic);
            if channel == from.channel {
                continue;
            }
            let received = self.rows.keys().filter(|(row, _)| row == moved).map(|(_, user)| *user).collect();
            let receivers = target.receivers_of_moved(&received);
            self.rows.retain(|(row, user), _| row != moved || receivers.contains(user));
            // The flags are deleted with the row.
            self.historical.retain(|row| self.rows.contains_key(row));
            for user in receivers {
                self.rows.entry((*moved, user)).or_insert(true);
            }
        }
    }

    async fn delete(&mut self) {
        let Some(id) = self.pick() else { return };
        self.users[0].delete(&format!("/messages/{id}"), ()).await.ok();
        self.done.push(format!("{id} deleted"));
        self.messages.remove(&id);
        self.rows.retain(|(row, _), _| *row != id);
    }

    async fn edit(&mut self) {
        let Some(id) = self.pick() else { return };
        let sender = self.messages[&id].sender;
        if self.sees(sender, id) {
            let content = format!("fruit {}", self.done.len());
            self.users[sender].patch(&format!("/messages/{id}"), json!({ "content": content })).await.ok();
            self.done.push(format!("{id} edited"));
        }
    }

    async fn subscribe(&mut self) {
        let (channel, user) = (self.rng.below(self.channels.len()), 1 + self.rng.below(self.users.len() - 1));
        let request = json!({
            "subscriptions": [{"name": self.channels[channel].name}],
            "principals": [self.users[user].user_id],
            "send_new_subscription_messages": false,
        });
        self.users[0].post("/users/me/subscriptions", request).await.ok();
        self.channels[channel].subscribers.insert(user);
        self.done.push(format!("user {user} comes to {channel}"));
    }

    async fn unsubscribe(&mut self) {
        let (channel, user) = (self.rng.below(self.channels.len()), 1 + self.rng.below(self.users.len() - 1));
        let request = json!({
            "subscriptions": [self.channels[channel].name],
            "principals": [self.users[user].user_id],
        });
        self.users[0].delete("/users/me/subscriptions", request).await.ok();
        self.done.push(format!("user {user} leaves {channel}"));
        if self.channels[channel].subscribers.remove(&user) {
            for ((id, reader), read) in &mut self.rows {
                if *reader == user && self.messages[id].channel == channel {
                    *read = true;
                }
            }
        }
    }

    async fn flag(&mut self, op: &str) {
        let user = self.rng.below(self.users.len());
        let mut ids: BTreeSet<i64> = BTreeSet::new();
        for _ in 0..=self.rng.below(6) {
            ids.extend(self.pick());
        }
        if op == "remove" {
            // An invisible message is refused together with the others.
            let wanted = json!({"message_ids": ids});
            let seen = self.users[user].get("/messages", wanted).await.ok();
            ids = seen["messages"]
                .as_array()
                .unwrap()
                .iter()
                .map(|message| message["id"].as_i64().unwrap())
                .collect();
        }
        let request = json!({"op": op, "flag": "read", "messages": ids});
        self.users[user].post("/messages/flags", request).await.ok();
        self.done.push(format!("user {user}: {op} read of {ids:?}"));
        for id in ids {
            let channel = &self.channels[self.messages[&id].channel];
            let allowed =
                if op == "add" { self.reads(user, channel) } else { channel.subscribers.contains(&user) };
            if let Some(read) = self.rows.get_mut(&(id, user)).filter(|_| allowed) {
                *read = op == "add";
            } else if allowed && op == "remove" {
                self.rows.insert((id, user), false);
                self.historical.insert((id, user));
            }
        }
    }

    /// Collapsing a message or reacting to it adds the user to its receivers.
    async fn make_own(&mut self) {
        let Some(id) = self.pick() else { return };
        let user = self.rng.below(self.users.len());
        if !self.sees(user, id) {
            return;
        }
        let reacts = self.rng.below(2) == 0;
        if reacts {
            let path = format!("/messages/{id}/reactions");
            let answer = self.users[user].post(&path, json!({"emoji_name": "tada"})).await;
            if answer.status != 200 {
                // A message is added once.
                answer.error(400, "REACTION_ALREADY_EXISTS", "Reaction already exists.");
                return;
            }
        } else {
            let request = json!({"op": "add", "flag": "collapsed", "messages": [id]});
            self.users[user].post("/messages/flags", request).await.ok();
        }
        self.done.push(format!("user {user} makes {id} their own, reacts {reacts}"));
        if let Entry::Vacant(row) = self.rows.entry((id, user)) {
            row.insert(true);
            self.historical.insert((id, user));
        }
    }

    fn pick(&mut self) -> Option<i64> {
        let ids: Vec<i64> = self.messages.keys().copied().collect();
        self.rng.pick(&ids)
    }

    /// Everything that a client can ask, for every user.
    async fn compare(&mut self) {
        for user in 0..self.users.len() {
            self.compare_unread(user).await;
            self.compare_feeds(user).await;
            self.compare_flags(user).await;
        }
        self.compare_receipts().await;
    }

    fn rows_of(&self, user: usize, holds: impl Fn(i64, bool) -> bool) -> Vec<i64> {
        let rows = self.rows.iter().filter(|((_, receiver), _)| *receiver == user);
        rows.filter(|((id, _), read)| holds(*id, **read)).map(|((id, _), _)| *id).collect()
    }

    #[track_caller]
    fn assert_same<T: PartialEq + std::fmt::Debug>(&self, found: T, expected: T, what: &str) {
        if found != expected {
            let last = self.done.len().saturating_sub(120);
            panic!(
                "{what}\nfound    {found:?}\nexpected {expected:?}\nafter:\n{}",
                self.done[last..].join("\n")
            );
        }
    }

    async fn compare_unread(&self, user: usize) {
        let request = json!({"event_types": ["message", "update_message_flags"], "fetch_event_types": ["message", "update_message_flags"]});
        let state = self.users[user].post("/register", request).await.ok();
        let mut found: BTreeMap<(i64, String), Vec<i64>> = BTreeMap::new();
        for entry in state["unread_msgs"]["streams"].as_array().unwrap() {
            let key = (entry["stream_id"].as_i64().unwrap(), entry["topic"].as_str().unwrap().to_owned());
            found.insert(key, ids(&entry["unread_message_ids"]));
        }
        let mut expected: BTreeMap<(i64, String), Vec<i64>> = BTreeMap::new();
        for id in self.rows_of(user, |_, read| !read) {
            let message = &self.messages[&id];
            let key = (self.channels[message.channel].stream_id, TOPICS[message.topic].to_owned());
            expected.entry(key).or_default().push(id);
        }
        self.assert_same(found, expected, &format!("unread_msgs of user {user}"));
    }

    async fn compare_feeds(&self, user: usize) {
        let readable = |id: i64| self.reads(user, &self.channels[self.messages[&id].channel]);
        let everything = self.fetch(user, json!([])).await;
        let expected = self.rows_of(user, |id, _| readable(id));
        self.assert_same(everything, expected, &format!("the combined feed of user {user}"));
        let unread = self.fetch(user, json!([["is", "unread"]])).await;
        let expected = self.rows_of(user, |_, read| !read);
        self.assert_same(unread, expected, &format!("what is unread to user {user}"));
        for (place, channel) in
            self.channels.iter().enumerate().filter(|(_, channel)| self.reads(user, channel))
        {
            for (topic, name) in TOPICS.iter().enumerate() {
                let narrow = json!([
                    {"operator": "channel", "operand": channel.stream_id},
                    {"operator": "topic", "operand": name},
                ]);
                let found = self.fetch(user, narrow).await;
                let inside = self.messages.iter().filter(|(id, message)| {
                    (message.channel, message.topic) == (place, topic) && self.sees(user, **id)
                });
                let expected = inside.map(|(id, _)| *id).collect();
                self.assert_same(found, expected, &format!("{name} of channel {place} for user {user}"));
            }
        }
    }

    async fn fetch(&self, user: usize, narrow: Value) -> Vec<i64> {
        let request = json!({"anchor": "newest", "num_before": 5000, "num_after": 0, "narrow": narrow});
        let answer = self.users[user].get("/messages", request).await.ok();
        let page = answer["messages"].as_array().unwrap();
        // Pages share parts of messages that were written before; a single message is read from its row.
        if let Some(shown) = page.get((self.done.len() + user) % page.len().max(1)) {
            let alone = self.users[user].get(&format!("/messages/{}", shown["id"]), ()).await.ok();
            self.assert_same(shown, &alone["message"], "a message of a page, and the same alone");
        }
        page.iter().map(|message| message["id"].as_i64().unwrap()).collect()
    }

    async fn compare_flags(&self, user: usize) {
        // The newest messages, because a query string has a limit.
        let wanted: Vec<i64> = self.messages.keys().rev().take(400).rev().copied().collect();
        let answer = self.users[user].get("/messages", json!({ "message_ids": wanted })).await.ok();
        let found: BTreeMap<i64, (bool, bool, i64)> = answer["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| {
                let flags = message["flags"].as_array().unwrap();
                let has = |name: &str| flags.iter().any(|flag| flag == name);
                let stream_id = message["stream_id"].as_i64().unwrap();
                (message["id"].as_i64().unwrap(), (has("read"), has("historical"), stream_id))
            })
            .collect();
        let seen = wanted.into_iter().filter(|id| self.sees(user, *id));
        let expected = seen
            .map(|id| {
                let row = self.rows.get(&(id, user)).copied();
                let stream_id = self.channels[self.messages[&id].channel].stream_id;
                let historical = row.is_none() || self.historical.contains(&(id, user));
                (id, (row.unwrap_or(true), historical, stream_id))
            })
            .collect();
        self.assert_same(found, expected, &format!("flags of user {user}"));
    }

    async fn compare_receipts(&mut self) {
        for _ in 0..5 {
            let Some(id) = self.pick() else { return };
            let answer = self.users[0].get(&format!("/messages/{id}/read_receipts"), ()).await.ok();
            let sender = self.messages[&id].sender;
            let readers =
                self.rows.iter().filter(|((row, user), read)| *row == id && *user != sender && **read);
            let expected = readers.map(|((_, user), _)| self.users[*user].user_id).collect();
            self.assert_same(ids(&answer["user_ids"]), expected, &format!("read receipts of {id}"));
        }
    }
}

fn ids(list: &Value) -> Vec<i64> {
    list.as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect()
}

async fn run(seed: u64) {
    let mut model = StorageModel::new(seed).await;
    let steps = STEPS * budget();
    for step in 1..=steps {
        model.step().await;
        if step % COMPARE_EVERY == 0 {
            model.compare().await;
        }
    }
    let moved =
        model.server.column("SELECT count(*) FROM message WHERE last_moved_timestamp IS NOT NULL").await;
    assert!(moved[0].parse::<usize>().unwrap() > steps / 20, "many messages were moved: {moved:?}");
    // The words of topics are those of the topics that messages are in now, once all messages are indexed.
    let search = json!({"anchor": "newest", "num_before": 1, "num_after": 0, "narrow": [["search", "word"]]});
    model.users[0].get("/messages", search).await.ok();
    for (topic, word) in TOPICS.iter().enumerate() {
        let query = format!(
            "SELECT rowid FROM message_search WHERE message_search MATCH 'subject:{word}' ORDER BY rowid"
        );
        let found: BTreeSet<i64> =
            model.server.column(&query).await.iter().map(|id| id.parse().unwrap()).collect();
        let inside = model.messages.iter().filter(|(_, message)| message.topic == topic);
        assert_eq!(found, inside.map(|(id, _)| *id).collect(), "{word}");
    }
}

// conformance: fetch-39, fetch-45, flag-45, move-60, receipt-12
#[tokio::test]
async fn the_storage_agrees_with_a_plain_model() {
    run(0x5eed_0001).await;
}

#[tokio::test]
async fn storage_agrees_with_the_model_in_another_order() {
    run(0x5eed_0002).await;
}
