//! Who sees what, by chance: an organization in which thousands of things happen, and after each of them everybody's
//! events, and now and then everything that can be read. All names, topics and texts are words that stand nowhere else,
//! so a word in an answer tells what its reader knows. Nobody may know more than the rules allow at that moment or the
//! moment before, and what can be read must be all that may be.

mod rules;

use crate::harness::access::{Channel, Person, Privacy, PropagateMode, Role};
use crate::harness::{Client, Queue, Rng, TestServer};
use rules::{Message, Place, Rules, Secret, words};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const STEPS: usize = 1500;

/// Steps between two comparisons of everything that can be read.
const COMPARE_EVERY: usize = 125;

/// What a client declares that understands everything.
const CAPABILITIES: [&str; 5] = [
    "bulk_message_deletion",
    "stream_typing_notifications",
    "include_deactivated_groups",
    "archived_channels",
    "empty_topic_name",
];

struct Simulation {
    server: TestServer,
    /// The first is the owner, who is in every channel and does what needs permission.
    people: Vec<Client>,
    queues: Vec<Queue>,
    rules: Rules,
    /// What everybody has read in events: topics that they follow keep their names, whatever becomes of them.
    read: Vec<BTreeSet<String>>,
    rng: Rng,
    done: Vec<String>,
}

impl Simulation {
    async fn new(seed: u64) -> Self {
        let server = TestServer::start().await;
        let people = vec![
            server.owner().await,
            server.administrator("adam").await,
            server.member("ada").await,
            server.member("bob").await,
            server.guest("gus").await,
            server.guest("gil").await,
        ];
        let of_each = vec![
            Role::Administrator,
            Role::Administrator,
            Role::Member,
            Role::Member,
            Role::Guest,
            Role::Guest,
        ];
        let mut queues = Vec::new();
        for client in &people {
            // Who follows a topic keeps its name, also when they lose the messages.
            let settings = json!({
                "automatically_follow_topics_policy": 4,
                "automatically_unmute_topics_in_muted_streams_policy": 4,
                "automatically_follow_topics_where_mentioned": false,
            });
            client.patch("/settings", settings).await.ok();
            let capabilities: serde_json::Map<String, Value> =
                CAPABILITIES.iter().map(|name| ((*name).to_owned(), true.into())).collect();
            let parameters = json!({"client_capabilities": capabilities, "all_public_streams": false});
            let mut queue = client.register(parameters).await;
            queue.ignore();
            queues.push(queue);
        }
        let read = vec![BTreeSet::new(); people.len()];
        let rules = Rules { roles: of_each, ..Rules::default() };
        let mut simulation =
            Self { server, people, queues, rules, read, rng: Rng::new(seed), done: Vec::new() };
        for privacy in [Privacy::Public, Privacy::WebPublic, Privacy::Shared, Privacy::Protected] {
            for _ in 0..2 {
                simulation.create_channel(privacy).await;
            }
        }
        simulation
    }

    async fn step(&mut self) {
        match self.rng.below(34) {
            0..=7 => self.send().await,
            8..=9 => self.send_direct().await,
            10..=11 => self.edit().await,
            12 => self.delete().await,
            13..=15 => self.relocate().await,
            16..=18 => self.subscribe().await,
            19..=21 => self.unsubscribe().await,
            22..=23 => self.change_privacy().await,
            24 => self.rename().await,
            25 => self.describe().await,
            26 => self.archive().await,
            27 => self.let_subscribe().await,
            28..=29 => self.react().await,
            30 => self.type_something().await,
            31 => self.keep().await,
            32 => self.star().await,
            _ => self.set_topic_policy().await,
        }
    }

    async fn create_channel(&mut self, privacy: Privacy) {
        let place = self.rules.channels.len();
        let name = self.rules.word(Secret::AboutChannel(place));
        let description = self.rules.word(Secret::AboutChannel(place));
        let mut parameters = privacy.parameters();
        parameters["name"] = name.as_str().into();
        parameters["description"] = description.into();
        parameters["subscribers"] = json!([self.people[0].user_id]);
        let made = self.people[0].post("/channels/create", parameters).await.ok();
        let stream_id = made["id"].as_i64().unwrap();
        if privacy == Privacy::WebPublic {
            self.server
                .sql(&format!("UPDATE stream SET is_web_public = 1 WHERE stream_id = {stream_id}"))
                .await;
        }
        self.rules.channels.push(Channel::new(stream_id, &name, privacy, 0));
    }

    fn channel(&mut self) -> usize {
        self.rng.below(self.rules.channels.len())
    }

    fn message(&mut self) -> Option<i64> {
        let ids: Vec<i64> = self.rules.messages.keys().copied().collect();
        self.rng.pick(&ids)
    }

    /// A topic of the channel, or a new one.
    fn topic(&mut self, place: usize) -> String {
        let there: Vec<String> = self
            .rules
            .messages
            .values()
            .filter(|message| matches!(message.place, Place::Channel(channel) if channel == place))
            .map(|message| message.topic.clone())
            .collect();
        match self.rng.below(3) {
            0 => None,
            _ => self.rng.pick(&there),
        }
        .unwrap_or_else(|| self.rules.word(Secret::InMessages(BTreeSet::new())))
    }

    async fn send(&mut self) {
        let place = self.channel();
        if self.rules.channels[place].is_archived {
            return;
        }
        let subscribers: Vec<Person> = self.rules.channels[place].subscribers.iter().copied().collect();
        let sender = self.rng.pick(&subscribers).unwrap();
        let topic = self.topic(place);
        let content = self.rules.word(Secret::InMessages(BTreeSet::new()));
        let id = self.people[sender].send(self.rules.channels[place].stream_id, &topic, &content).await;
        self.rules.bears(id, &topic);
        self.rules.bears(id, &content);
        let received = subscribers.into_iter().collect();
        self.done.push(format!("{id} to {place} {topic} from {sender}"));
        self.rules
            .messages
            .insert(id, Message { sender, place: Place::Channel(place), topic, content, received });
    }

    async fn send_direct(&mut self) {
        let sender = self.rng.below(self.people.len());
        let mut people = BTreeSet::from([sender]);
        for _ in 0..=self.rng.below(2) {
            people.insert(self.rng.below(self.people.len()));
        }
        let others: Vec<&Client> = people.iter().map(|person| &self.people[*person]).collect();
        let content = self.rules.word(Secret::InMessages(BTreeSet::new()));
        let id = self.people[sender].send_direct(&others, &content).await;
        self.rules.bears(id, &content);
        self.done.push(format!("{id} from {sender} between {people:?}"));
        let (topic, received) = (String::new(), people.clone());
        self.rules
            .messages
            .insert(id, Message { sender, place: Place::Direct(people), topic, content, received });
    }

    async fn edit(&mut self) {
        let Some(id) = self.message() else { return };
        let sender = self.rules.messages[&id].sender;
        if !self.rules.sees(sender, id) || self.is_frozen(id) {
            return;
        }
        let content = self.rules.word(Secret::InMessages(BTreeSet::from([id])));
        self.people[sender].patch(&format!("/messages/{id}"), json!({"content": content})).await.ok();
        self.done.push(format!("{id} edited"));
        self.rules.messages.get_mut(&id).unwrap().content = content;
    }

    /// Whether a message is in an archived channel.
    fn is_frozen(&self, id: i64) -> bool {
        matches!(self.rules.messages[&id].place, Place::Channel(place) if self.rules.channels[place].is_archived)
    }

    async fn delete(&mut self) {
        let Some(id) = self.message() else { return };
        if !self.rules.sees(0, id) || self.is_frozen(id) {
            return;
        }
        self.people[0].delete(&format!("/messages/{id}"), ()).await.ok();
        self.done.push(format!("{id} deleted"));
        self.rules.messages.remove(&id);
    }

    /// The owner sees all messages in channels: they are in all of them.
    async fn relocate(&mut self) {
        let Some(id) = self.message() else { return };
        let Place::Channel(from) = self.rules.messages[&id].place else { return };
        let to = self.channel();
        if self.is_frozen(id) || self.rules.channels[to].is_archived {
            return;
        }
        let (old, new) = (self.rules.messages[&id].topic.clone(), self.topic(to));
        if (from, &old) == (to, &new) {
            return;
        }
        let mode = PropagateMode::ALL[self.rng.below(3)];
        let mut parameters = json!({
            "propagate_mode": mode.name(),
            "send_notification_to_new_thread": false,
            "send_notification_to_old_thread": false,
        });
        if from != to {
            parameters["stream_id"] = self.rules.channels[to].stream_id.into();
        }
        if old != new {
            parameters["topic"] = new.clone().into();
        }
        self.people[0].patch(&format!("/messages/{id}"), parameters).await.ok();
        self.done.push(format!("{id} and others ({mode:?}) from {from} to {to} {new}"));
        let target = self.rules.channels[to].clone();
        let mut moved = Vec::new();
        for (other, message) in &mut self.rules.messages {
            let inside =
                matches!(message.place, Place::Channel(place) if place == from) && message.topic == old;
            if !inside || !mode.moves(id, *other) {
                continue;
            }
            moved.push(*other);
            (message.place, message.topic) = (Place::Channel(to), new.clone());
            if from != to {
                message.received = target.receivers_of_moved(&message.received);
            }
        }
        for other in moved {
            self.rules.bears(other, &new);
        }
    }

    async fn subscribe(&mut self) {
        let (place, person) = (self.channel(), 1 + self.rng.below(self.people.len() - 1));
        let channel = &self.rules.channels[place];
        let parameters = json!({
            "subscriptions": [{"name": channel.name}],
            "principals": [self.people[person].user_id],
            "send_new_subscription_messages": false,
        });
        self.people[0].post("/users/me/subscriptions", parameters).await.ok();
        self.rules.channels[place].subscribers.insert(person);
        self.done.push(format!("{person} comes to {place}"));
    }

    async fn unsubscribe(&mut self) {
        let (place, person) = (self.channel(), 1 + self.rng.below(self.people.len() - 1));
        let channel = &self.rules.channels[place];
        let parameters =
            json!({"subscriptions": [channel.name], "principals": [self.people[person].user_id]});
        self.people[0].delete("/users/me/subscriptions", parameters).await.ok();
        self.rules.channels[place].subscribers.remove(&person);
        self.done.push(format!("{person} leaves {place}"));
    }

    async fn change_privacy(&mut self) {
        let place = self.channel();
        let privacy = [Privacy::Public, Privacy::Shared, Privacy::Protected][self.rng.below(3)];
        let channel = &self.rules.channels[place];
        if channel.privacy == Privacy::WebPublic || channel.privacy == privacy {
            return;
        }
        let mut parameters = json!({"is_private": privacy.is_private()});
        if privacy.is_private() {
            parameters["history_public_to_subscribers"] = (privacy == Privacy::Shared).into();
        }
        self.people[0].patch(&format!("/streams/{}", channel.stream_id), parameters).await.ok();
        self.done.push(format!("{place} becomes {privacy:?}"));
        self.rules.channels[place].privacy = privacy;
    }

    async fn rename(&mut self) {
        let place = self.channel();
        let name = self.rules.word(Secret::AboutChannel(place));
        let path = format!("/streams/{}", self.rules.channels[place].stream_id);
        self.people[0].patch(&path, json!({"new_name": name})).await.ok();
        self.done.push(format!("{place} is now {name}"));
        self.rules.channels[place].name = name;
    }

    async fn describe(&mut self) {
        let place = self.channel();
        let description = self.rules.word(Secret::AboutChannel(place));
        let path = format!("/streams/{}", self.rules.channels[place].stream_id);
        self.people[0].patch(&path, json!({"description": description})).await.ok();
        self.done.push(format!("{place} is described"));
    }

    async fn archive(&mut self) {
        let place = self.channel();
        let channel = &mut self.rules.channels[place];
        channel.is_archived = !channel.is_archived;
        let path = format!("/streams/{}", channel.stream_id);
        if channel.is_archived {
            self.people[0].delete(&path, ()).await.ok();
        } else {
            self.people[0].patch(&path, json!({"is_archived": false})).await.ok();
        }
        self.done.push(format!("{place} archived: {}", channel.is_archived));
    }

    /// Some may subscribe to a private channel: they know of it, and may read it, as if they had.
    async fn let_subscribe(&mut self) {
        let place = self.channel();
        let may_subscribe: BTreeSet<Person> = [2, 3].into_iter().filter(|_| self.rng.below(2) == 0).collect();
        let mut members: Vec<i64> = may_subscribe.iter().map(|person| self.people[*person].user_id).collect();
        members.push(self.people[0].user_id);
        let parameters =
            json!({"can_subscribe_group": {"new": {"direct_members": members, "direct_subgroups": []}}});
        let path = format!("/streams/{}", self.rules.channels[place].stream_id);
        self.people[0].patch(&path, parameters).await.ok();
        self.done.push(format!("{may_subscribe:?} may subscribe to {place}"));
        self.rules.channels[place].may_subscribe = may_subscribe;
    }

    async fn react(&mut self) {
        let Some(id) = self.message() else { return };
        let person = self.rng.below(self.people.len());
        let allowed = self.rules.sees(person, id) && !self.is_frozen(id);
        let emoji = ["tada", "heart", "smile"][self.rng.below(3)];
        let path = format!("/messages/{id}/reactions");
        let answer = self.people[person].post(&path, json!({"emoji_name": emoji})).await;
        self.done.push(format!("{person} reacts to {id}"));
        if answer.status == 200 {
            self.rules.becomes_own(person, id);
        }
        let found = answer["code"] != "BAD_REQUEST";
        self.assert_same(found, allowed, &format!("whether {person} may react to {id}: {answer}"));
    }

    async fn type_something(&mut self) {
        let (place, person) = (self.channel(), self.rng.below(self.people.len()));
        let topic = self.rules.word(Secret::Typed(place));
        let stream_id = self.rules.channels[place].stream_id;
        let parameters = json!({"type": "channel", "op": "start", "stream_id": stream_id, "topic": topic});
        let answer = self.people[person].post("/typing", parameters).await;
        let allowed = self.rules.reads(person, place) && !self.rules.channels[place].is_archived;
        self.assert_same(
            answer.status == 200,
            allowed,
            &format!("whether {person} may type in {place}: {answer}"),
        );
    }

    /// Things of one's own.
    async fn keep(&mut self) {
        let person = self.rng.below(self.people.len());
        let word = self.rules.word(Secret::Personal(person));
        let client = &self.people[person];
        let (path, parameters) = match self.rng.below(4) {
            0 => {
                let draft = json!({"type": "private", "to": [client.user_id], "topic": "", "content": word});
                ("/drafts", json!({"drafts": [draft]}))
            }
            1 => ("/saved_snippets", json!({"title": word, "content": word})),
            2 => ("/users/me/alert_words", json!({"alert_words": [word]})),
            _ => {
                let at = 1_900_000_000;
                let to = [client.user_id];
                let what =
                    json!({"type": "direct", "to": to, "content": word, "scheduled_delivery_timestamp": at});
                ("/scheduled_messages", what)
            }
        };
        client.post(path, parameters).await.ok();
    }

    async fn star(&mut self) {
        let Some(id) = self.message() else { return };
        let person = self.rng.below(self.people.len());
        let parameters = json!({"op": "add", "flag": "starred", "messages": [id]});
        let answer = self.people[person].post("/messages/flags", parameters).await;
        let allowed = self.rules.sees(person, id);
        self.done.push(format!("{person} stars {id}"));
        if answer.status == 200 {
            self.rules.becomes_own(person, id);
        }
        self.assert_same(answer.status == 200, allowed, &format!("whether {person} may star {id}: {answer}"));
    }

    /// A policy for a topic is told to the one who sets it.
    async fn set_topic_policy(&mut self) {
        let (place, person) = (self.channel(), self.rng.below(self.people.len()));
        let word = self.rules.word(Secret::Personal(person));
        let stream_id = self.rules.channels[place].stream_id;
        let parameters = json!({"stream_id": stream_id, "topic": word, "visibility_policy": 3});
        let answer = self.people[person].post("/user_topics", parameters).await;
        let allowed = self.rules.reads(person, place) && !self.rules.channels[place].is_archived;
        self.assert_same(
            answer.status == 200,
            allowed,
            &format!("a policy of {person} in {place}: {answer}"),
        );
    }

    /// Everybody's events since the step before tell only what their reader may know, or might a moment ago.
    async fn look_at_events(&mut self, before: &Rules) {
        for person in 0..self.people.len() {
            for event in self.queues[person].events().await {
                self.check_words(person, before, &event);
                self.read[person].extend(words(&event.to_string()));
                // What happens to several messages at once is one event. It may number some that its reader does not
                // see, if they see one of them: numbers tell nothing.
                let mut ids = ids_in(&event, &["message_id", "message_ids"]);
                ids.retain(|id| before.messages.contains_key(id) || self.rules.messages.contains_key(id));
                let allowed = ids.iter().any(|id| before.sees(person, *id) || self.rules.sees(person, *id));
                self.assert_same(
                    ids.is_empty() || allowed,
                    true,
                    &format!("{person} heard of {ids:?}: {event}"),
                );
                for id in ids_in(&event, &["stream_id", "stream_ids"]) {
                    let Some(place) = self.place_of(id) else { continue };
                    let allowed = before.knows(person, place) || self.rules.knows(person, place);
                    self.assert_same(allowed, true, &format!("{person} heard of channel {place}: {event}"));
                }
            }
        }
    }

    fn place_of(&self, stream_id: i64) -> Option<usize> {
        self.rules.channels.iter().position(|channel| channel.stream_id == stream_id)
    }

    #[track_caller]
    fn check_words(&self, person: Person, before: &Rules, answer: &Value) {
        for word in words(&answer.to_string()) {
            let allowed = before.may_know(person, &word) || self.rules.may_know(person, &word);
            let secret = self.rules.secrets.get(&word);
            self.assert_same(allowed, true, &format!("{person} read {word} ({secret:?}): {answer}"));
        }
    }

    /// What can be read is what may be.
    async fn look_at_everything(&mut self) {
        for person in 0..self.people.len() {
            self.look_at_channels(person).await;
            self.look_at_messages(person).await;
            self.look_at_state(person).await;
        }
        self.look_from_outside().await;
    }

    async fn look_at_channels(&self, person: Person) {
        let client = &self.people[person];
        let all = json!({"include_all": true, "exclude_archived": false});
        let listed = client.get("/streams", all).await.ok();
        self.check_words(person, &self.rules, &listed);
        let found: BTreeSet<i64> = ids_in(&listed, &["stream_id"]).into_iter().collect();
        let places = 0..self.rules.channels.len();
        let in_sight = places.clone().filter(|place| self.rules.knows(person, *place));
        let expected = in_sight.map(|place| self.rules.channels[place].stream_id).collect();
        self.assert_same(found, expected, &format!("the channels that {person} knows"));
        for place in places {
            let stream_id = self.rules.channels[place].stream_id;
            let knows = self.rules.knows(person, place);
            let channel = client.get(&format!("/streams/{stream_id}"), ()).await;
            self.assert_same(
                channel.status == 200,
                knows,
                &format!("channel {place} for {person}: {channel}"),
            );
            let members = client.get(&format!("/streams/{stream_id}/members"), ()).await;
            let allowed = knows || members.status != 200;
            self.assert_same(allowed, true, &format!("subscribers of {place} for {person}: {members}"));
            let topics = client.get(&format!("/users/me/{stream_id}/topics"), ()).await;
            let reads = self.rules.reads(person, place);
            self.assert_same(
                topics.status == 200,
                reads,
                &format!("topics of {place} for {person}: {topics}"),
            );
            let seen = self.rules.seen_in(person, place, None);
            let expected = seen.iter().map(|id| self.rules.messages[id].topic.clone()).collect();
            self.assert_same(
                words(&topics.json.to_string()),
                expected,
                &format!("topics of {place} for {person}"),
            );
        }
    }

    async fn look_at_messages(&self, person: Person) {
        let client = &self.people[person];
        for (place, channel) in self.rules.channels.iter().enumerate() {
            let found = self.fetch(person, json!([["channel", channel.name]])).await;
            let expected = self.rules.seen_in(person, place, None);
            self.assert_same(found, expected, &format!("messages of channel {place} for {person}"));
        }
        let everything = self.fetch(person, json!([])).await;
        let unseen: Vec<i64> = everything.into_iter().filter(|id| !self.rules.sees(person, *id)).collect();
        self.assert_same(unseen, Vec::new(), &format!("the combined feed of {person}"));
        let direct = self.fetch(person, json!([["is", "dm"]])).await;
        let between = self.rules.messages.iter().filter(|(id, message)| {
            matches!(message.place, Place::Direct(_)) && self.rules.sees(person, **id)
        });
        self.assert_same(
            direct,
            between.map(|(id, _)| *id).collect(),
            &format!("direct messages of {person}"),
        );
        for (id, message) in self.rules.messages.iter().rev().take(15) {
            let sees = self.rules.sees(person, *id);
            for path in [
                format!("/messages/{id}"),
                format!("/messages/{id}/history"),
                format!("/messages/{id}/read_receipts"),
            ] {
                let answer = client.get(&path, ()).await;
                self.assert_same(answer.status == 200, sees, &format!("{path} for {person}: {answer}"));
                self.check_words(person, &self.rules, &answer.json);
            }
            let narrow = json!([["search", message.content]]);
            let found = self.fetch(person, narrow).await;
            let unseen = found.into_iter().any(|id| !self.rules.sees(person, id));
            self.assert_same(unseen, false, &format!("{person} found {}", message.content));
        }
    }

    /// The ids of all messages of a narrow that people sent.
    async fn fetch(&self, person: Person, narrow: Value) -> BTreeSet<i64> {
        let parameters = json!({"anchor": "newest", "num_before": 5000, "num_after": 0, "narrow": narrow});
        let answer = self.people[person].get("/messages", parameters).await.ok();
        self.check_words(person, &self.rules, &answer);
        let messages = answer["messages"].as_array().unwrap();
        let ids = messages.iter().map(|message| message["id"].as_i64().unwrap());
        ids.filter(|id| self.rules.messages.contains_key(id)).collect()
    }

    async fn look_at_state(&self, person: Person) {
        let capabilities: serde_json::Map<String, Value> =
            CAPABILITIES.iter().map(|name| ((*name).to_owned(), true.into())).collect();
        let parameters = json!({"client_capabilities": capabilities, "include_subscribers": true});
        let mut state = self.people[person].post("/register", parameters).await.ok();
        for list in ["user_topics", "muted_topics"] {
            let own = words(&state.as_object_mut().unwrap().remove(list).unwrap().to_string());
            let unheard: Vec<_> = own.difference(&self.read[person]).collect();
            self.assert_same(unheard, Vec::new(), &format!("{list} of {person}"));
        }
        self.check_words(person, &self.rules, &state);
        let lists = ["streams", "subscriptions", "unsubscribed", "never_subscribed"];
        let found: BTreeSet<i64> =
            lists.iter().flat_map(|list| ids_in(&state[*list], &["stream_id"])).collect();
        let known = (0..self.rules.channels.len()).filter(|place| self.rules.knows(person, *place));
        let expected = known.map(|place| self.rules.channels[place].stream_id).collect();
        self.assert_same(found, expected, &format!("the channels in the state of {person}"));
        let unread: BTreeSet<i64> =
            ids_in(&state["unread_msgs"], &["unread_message_ids"]).into_iter().collect();
        let unseen =
            unread.iter().any(|id| self.rules.messages.contains_key(id) && !self.rules.sees(person, *id));
        self.assert_same(unseen, false, &format!("what is unread to {person}"));
    }

    /// Without an account there is nothing.
    async fn look_from_outside(&self) {
        let stream_id = self.rules.channels[0].stream_id;
        let outsider = self.server.anonymous();
        let mut paths: Vec<String> =
            ["/streams", "/messages", "/users", "/users/me/subscriptions", "/drafts"]
                .map(str::to_owned)
                .to_vec();
        paths.push(format!("/streams/{stream_id}"));
        paths.push(format!("/users/me/{stream_id}/topics"));
        if let Some(id) = self.rules.messages.keys().next() {
            paths.push(format!("/messages/{id}"));
        }
        for path in paths {
            let answer = outsider.get(&path, ()).await;
            // Whoever asks too often without credentials is told to wait.
            self.assert_same(matches!(answer.status, 401 | 429), true, &format!("{path}: {answer}"));
            self.assert_same(words(&answer.json.to_string()), BTreeSet::new(), &path);
        }
    }

    #[track_caller]
    fn assert_same<T: PartialEq + std::fmt::Debug>(&self, found: T, expected: T, what: &str) {
        if found != expected {
            let last = self.done.len().saturating_sub(60);
            let done = self.done[last..].join("\n");
            panic!("{what}\nfound    {found:?}\nexpected {expected:?}\nafter:\n{done}");
        }
    }
}

/// The numbers under these names, anywhere in a value.
fn ids_in(value: &Value, names: &[&str]) -> Vec<i64> {
    match value {
        Value::Array(items) => items.iter().flat_map(|item| ids_in(item, names)).collect(),
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| match value {
                Value::Number(number) if names.contains(&name.as_str()) => {
                    number.as_i64().into_iter().collect()
                }
                Value::Array(items) if names.contains(&name.as_str()) => {
                    items.iter().filter_map(Value::as_i64).collect()
                }
                other => ids_in(other, names),
            })
            .collect(),
        _ => Vec::new(),
    }
}

#[expect(clippy::print_stdout, reason = "a failure is repeated with the seed")]
async fn run(seed: u64) {
    println!("TEAMCHAT_SEED={seed:#x}");
    let mut simulation = Simulation::new(seed).await;
    for step in 1..=STEPS {
        let before = simulation.rules.clone();
        simulation.step().await;
        simulation.look_at_events(&before).await;
        if step % COMPARE_EVERY == 0 {
            simulation.look_at_everything().await;
        }
    }
}

// conformance: fetch-46
#[tokio::test]
async fn nobody_sees_more_or_less_than_they_may() {
    run(0x5eed_0011).await;
}

#[tokio::test]
async fn nor_in_another_order_of_things() {
    run(0x5eed_0012).await;
}

/// Another order each time, in CI too. A failure prints the seed, with which it happens again:
/// `TEAMCHAT_SEED=0x1234 cargo test --test api leaks`.
#[tokio::test]
async fn nor_by_a_chance_of_today() {
    let given = std::env::var("TEAMCHAT_SEED").ok();
    let seed = given.map_or_else(rand::random, |text| {
        let digits = text.trim_start_matches("0x");
        u64::from_str_radix(digits, 16).expect("TEAMCHAT_SEED is a hexadecimal number")
    });
    run(seed).await;
}
