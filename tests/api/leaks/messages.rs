//! Steps that change channels and messages.

use super::listen::Expected;
use super::rules::{Holders, Message, Place, Secret};
use super::{File, Simulation};
use crate::harness::Client;
use crate::harness::access::{Channel, Person, Privacy, PropagateMode};
use reqwest::Method;
use serde_json::json;
use std::collections::BTreeSet;

impl Simulation {
    pub async fn create_channel(&mut self, privacy: Privacy) {
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
        self.rules.settings.push(Default::default());
        self.rules.retention.push(None);
        // The creator of a channel may change it.
        self.rules.settings[place][2] = Holders { people: BTreeSet::from([0]), groups: BTreeSet::new() };
        self.rules.settle();
    }

    pub fn channel(&mut self) -> usize {
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

    pub async fn send(&mut self) {
        let place = self.channel();
        if self.rules.channels[place].is_archived {
            return;
        }
        let received = self.rules.receivers(place);
        let sender = self.rng.pick(&received.iter().copied().collect::<Vec<Person>>()).unwrap();
        let topic = self.topic(place);
        let content = self.rules.word(Secret::InMessages(BTreeSet::new()));
        let file = if self.rng.below(8) == 0 { Some(self.upload(sender).await) } else { None };
        let link = file.as_ref().map_or(String::new(), |(word, url)| format!(" [{word}]({url})"));
        let text = format!("{content}{link}");
        let id = self.people[sender].send(self.rules.channels[place].stream_id, &topic, &text).await;
        self.rules.bears(id, &topic);
        self.rules.bears(id, &content);
        if let Some((word, url)) = file {
            self.rules.bears(id, &word);
            self.files.push(File { url, owner: sender, message: Some(id) });
        }
        self.done.push(format!("{id} to {place} {topic} from {sender}"));
        let (place, sent) = (Place::Channel(place), self.rules.now);
        self.rules.messages.insert(id, Message { sender, place, topic, content, sent, received });
        self.expected.push(Expected::Message(id));
    }

    pub async fn send_direct(&mut self) {
        let sender = self.person();
        let mut people = BTreeSet::from([sender]);
        for _ in 0..=self.rng.below(2) {
            people.insert(self.person());
        }
        let others: Vec<&Client> = people.iter().map(|person| &self.people[*person]).collect();
        let content = self.rules.word(Secret::InMessages(BTreeSet::new()));
        let id = self.people[sender].send_direct(&others, &content).await;
        self.rules.bears(id, &content);
        self.done.push(format!("{id} from {sender} between {people:?}"));
        let (topic, received, sent) = (String::new(), people.clone(), self.rules.now);
        let place = Place::Direct(people);
        self.rules.messages.insert(id, Message { sender, place, topic, content, sent, received });
        self.expected.push(Expected::Message(id));
    }

    pub async fn edit(&mut self) {
        let Some(id) = self.message() else { return };
        let sender = self.rules.messages[&id].sender;
        if !self.rules.sees(sender, id) || self.is_frozen(id) {
            return;
        }
        let content = self.rules.word(Secret::InMessages(BTreeSet::from([id])));
        self.people[sender].patch(&format!("/messages/{id}"), json!({"content": content})).await.ok();
        self.done.push(format!("{id} edited"));
        self.rules.messages.get_mut(&id).unwrap().content = content;
        // The new content has no link.
        for file in self.files.iter_mut().filter(|file| file.message == Some(id)) {
            file.message = None;
        }
        self.expected.push(Expected::Event("update_message", id));
    }

    /// True if a message is in an archived channel.
    fn is_frozen(&self, id: i64) -> bool {
        matches!(self.rules.messages[&id].place, Place::Channel(place) if self.rules.channels[place].is_archived)
    }

    pub async fn delete(&mut self) {
        let Some(id) = self.message() else { return };
        if !self.rules.sees(0, id) || self.is_frozen(id) {
            return;
        }
        self.people[0].delete(&format!("/messages/{id}"), ()).await.ok();
        self.done.push(format!("{id} deleted"));
        self.rules.messages.remove(&id);
        self.expected.push(Expected::Deleted(id));
    }

    /// The owner sees all messages in channels: they are in all of them.
    pub async fn relocate(&mut self) {
        let Some(id) = self.message() else { return };
        let Place::Channel(from) = self.rules.messages[&id].place else { return };
        let to = self.channel();
        // Old messages would be deleted as soon as they come.
        let is_short_lived = from != to && self.rules.retention[to].is_some();
        if self.is_frozen(id) || self.rules.channels[to].is_archived || is_short_lived {
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
        let (target, active) = (self.rules.channels[to].clone(), self.rules.receivers(to));
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
                // Deactivated users receive nothing.
                let mut received = target.receivers_of_moved(&message.received);
                received.retain(|person| active.contains(person) || message.received.contains(person));
                message.received = received;
            }
        }
        for other in moved {
            self.rules.bears(other, &new);
            self.expected.push(Expected::Moved(other));
        }
    }

    pub async fn subscribe(&mut self) {
        let (place, person) = (self.channel(), 1 + self.rng.below(self.people.len() - 1));
        if !self.rules.is_active(person) {
            return;
        }
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

    pub async fn unsubscribe(&mut self) {
        let (place, person) = (self.channel(), 1 + self.rng.below(self.people.len() - 1));
        if !self.rules.is_active(person) {
            return;
        }
        let channel = &self.rules.channels[place];
        let parameters =
            json!({"subscriptions": [channel.name], "principals": [self.people[person].user_id]});
        self.people[0].delete("/users/me/subscriptions", parameters).await.ok();
        self.rules.channels[place].subscribers.remove(&person);
        self.done.push(format!("{person} leaves {place}"));
    }

    pub async fn change_privacy(&mut self) {
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

    pub async fn rename(&mut self) {
        let place = self.channel();
        let name = self.rules.word(Secret::AboutChannel(place));
        let path = format!("/streams/{}", self.rules.channels[place].stream_id);
        self.people[0].patch(&path, json!({"new_name": name})).await.ok();
        self.expected.push(Expected::AboutChannel(place, name.clone()));
        self.done.push(format!("{place} is now {name}"));
        self.rules.channels[place].name = name;
    }

    pub async fn describe(&mut self) {
        let place = self.channel();
        let description = self.rules.word(Secret::AboutChannel(place));
        let path = format!("/streams/{}", self.rules.channels[place].stream_id);
        self.people[0].patch(&path, json!({"description": description})).await.ok();
        self.expected.push(Expected::AboutChannel(place, description));
        self.done.push(format!("{place} is described"));
    }

    pub async fn archive(&mut self) {
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

    pub async fn react(&mut self) {
        let Some(id) = self.message() else { return };
        let person = self.person();
        let allowed = self.rules.sees(person, id) && !self.is_frozen(id);
        let emoji = ["tada", "heart", "smile"][self.rng.below(3)];
        let path = format!("/messages/{id}/reactions");
        let answer = self.people[person].post(&path, json!({"emoji_name": emoji})).await;
        self.done.push(format!("{person} reacts to {id}"));
        if answer.status == 200 {
            self.rules.becomes_own(person, id);
            self.expected.push(Expected::Event("reaction", id));
        }
        let found = answer["code"] != "BAD_REQUEST";
        self.assert_same(found, allowed, &format!("whether {person} may react to {id}: {answer}"));
    }

    pub async fn type_something(&mut self) {
        let (place, person) = (self.channel(), self.person());
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
        if allowed {
            self.expected.push(Expected::Typing(place, topic));
        }
    }

    /// Things of one's own.
    pub async fn keep(&mut self) {
        let person = self.person();
        let word = self.rules.word(Secret::Personal(person));
        let own = self.people[person].user_id;
        let at = 1_900_000_000;
        let message = self.rules.messages.keys().rev().copied().find(|id| self.rules.sees(person, *id));
        let client = &self.people[person];
        let (path, parameters) = match (self.rng.below(8), message) {
            // Bots are never away.
            (7, _) if self.rules.accounts[person].owner.is_none() => {
                ("/users/me/presence", json!({"status": "active", "last_update_id": -1}))
            }
            (0, _) => {
                let draft = json!({"type": "private", "to": [own], "topic": "", "content": word});
                ("/drafts", json!({"drafts": [draft]}))
            }
            (1, _) => ("/saved_snippets", json!({"title": word, "content": word})),
            (2, _) => ("/users/me/alert_words", json!({"alert_words": [word]})),
            (3, _) => {
                let fragment = format!("narrow/search/{word}");
                ("/navigation_views", json!({"fragment": fragment, "is_pinned": true, "name": word}))
            }
            (4, Some(id)) => {
                let reminder = json!({"message_id": id, "scheduled_delivery_timestamp": at, "note": word});
                ("/reminders", reminder)
            }
            (5, _) => {
                let storage = json!({"storage": {word.as_str(): word}});
                client.request(Method::PUT, "/bot_storage").form(storage).send().await.ok();
                return;
            }
            _ => {
                let what = json!({
                    "type": "direct", "to": [own], "content": word, "scheduled_delivery_timestamp": at,
                });
                ("/scheduled_messages", what)
            }
        };
        client.post(path, parameters).await.ok();
        self.done.push(format!("{person} keeps {word} in {path}"));
    }

    /// Uploads a file whose name and content are one word. Returns the word and the URL.
    async fn upload(&mut self, person: Person) -> (String, String) {
        let word = self.rules.word(Secret::File(person, BTreeSet::new()));
        let name = format!("{word}.txt");
        let files = [("file", name.as_str(), word.as_bytes())];
        let client = &self.people[person];
        let made = client.request(Method::POST, "/user_uploads").multipart((), &files).send().await.ok();
        let url = made["url"].as_str().unwrap().to_owned();
        self.done.push(format!("{person} uploads {url}"));
        (word, url)
    }

    pub async fn star(&mut self) {
        let Some(id) = self.message() else { return };
        let person = self.person();
        let parameters = json!({"op": "add", "flag": "starred", "messages": [id]});
        let answer = self.people[person].post("/messages/flags", parameters).await;
        let allowed = self.rules.sees(person, id);
        self.done.push(format!("{person} stars {id}"));
        if answer.status == 200 {
            self.rules.becomes_own(person, id);
        }
        self.assert_same(answer.status == 200, allowed, &format!("whether {person} may star {id}: {answer}"));
    }

    /// Sets a topic policy, and expects an event for its user only.
    pub async fn set_topic_policy(&mut self) {
        let (place, person) = (self.channel(), self.person());
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
}
