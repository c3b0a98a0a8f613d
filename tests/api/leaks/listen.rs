//! Checks of events: each message reaches the queues of its audience, and no others.

use super::rules::{Message, Place, Rules, words};
use super::{Simulation, ids_in};
use crate::harness::access::Person;
use crate::harness::{Client, Queue};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Capabilities of a modern client.
const CAPABILITIES: [&str; 5] = [
    "bulk_message_deletion",
    "stream_typing_notifications",
    "include_deactivated_groups",
    "archived_channels",
    "empty_topic_name",
];

pub fn capabilities() -> Value {
    let all: Map<String, Value> = CAPABILITIES.iter().map(|name| ((*name).to_owned(), true.into())).collect();
    all.into()
}

/// An event that a step must emit.
pub enum Expected {
    /// A new message, sent to its receivers.
    Message(i64),
    /// An event about a message, sent to its audience.
    Event(&'static str, i64),
    /// A move to another topic or channel, a deletion for users who lose the message.
    Moved(i64),
    /// A deleted message.
    Deleted(i64),
    /// A change of a channel, sent to all who know the channel.
    AboutChannel(usize, String),
    /// A typing notification, sent to subscribers.
    Typing(usize, String),
}

/// The narrow of a queue.
#[derive(Clone, Debug)]
pub enum Narrow {
    Direct,
    Channel(usize, i64),
    Topic(String),
}

impl Narrow {
    fn parameter(&self) -> Value {
        match self {
            Self::Direct => json!([["is", "dm"]]),
            Self::Channel(_, stream_id) => json!([["channel", stream_id.to_string()]]),
            Self::Topic(topic) => json!([["topic", topic]]),
        }
    }

    fn matches(&self, message: &Message) -> bool {
        match (self, &message.place) {
            (Self::Direct, place) => matches!(place, Place::Direct(_)),
            (Self::Channel(channel, _), Place::Channel(place)) => channel == place,
            (Self::Topic(topic), Place::Channel(_)) => *topic == message.topic,
            _ => false,
        }
    }
}

/// The queues of one person.
pub struct Listeners {
    all: Queue,
    /// The queue with `all_public_streams`; guests have none.
    public: Option<Queue>,
    narrowed: Queue,
    narrow: Narrow,
    /// Channels in the events received by `all`.
    known: BTreeSet<i64>,
}

impl Listeners {
    pub async fn register(client: &Client, role: i64, narrow: Narrow) -> Self {
        let parameters = json!({"client_capabilities": capabilities(), "all_public_streams": false});
        let mut all = client.register(parameters).await;
        all.ignore();
        let parameters = json!({
            "client_capabilities": capabilities(), "narrow": narrow.parameter(), "fetch_event_types": [],
        });
        let mut narrowed = client.register(parameters).await;
        narrowed.ignore();
        let public = if role == 600 { None } else { Some(register_public(client).await) };
        let lists = ["streams", "subscriptions", "unsubscribed", "never_subscribed"];
        let known = lists.iter().flat_map(|list| ids_in(&all.state[*list], &["stream_id"])).collect();
        Self { all, public, narrowed, narrow, known }
    }

    /// A guest receives no channel without a subscription: the queue of all public channels ends.
    pub async fn role_changed(&mut self, client: &Client, role: i64) {
        if role != 600 && self.public.is_none() {
            self.public = Some(register_public(client).await);
        }
        if role == 600
            && let Some(queue) = self.public.take()
        {
            let answer = client.get("/events", queue.poll(true)).await;
            assert_eq!(answer["code"], "BAD_EVENT_QUEUE_ID", "the queue of a new guest: {answer}");
        }
    }

    /// Polls all queues, so that none expires.
    pub async fn keep_alive(&mut self) {
        for queue in [&mut self.all, &mut self.narrowed].into_iter().chain(&mut self.public) {
            queue.touch().await;
        }
    }

    /// The queues end with the account.
    pub fn ignore(mut self) {
        for queue in [&mut self.all, &mut self.narrowed].into_iter().chain(&mut self.public) {
            queue.ignore();
        }
    }

    /// Learns which channels there are.
    fn learn(&mut self, event: &Value) {
        let ids = |list: &str| ids_in(&event[list], &["stream_id"]);
        match (event["type"].as_str().unwrap(), event["op"].as_str().unwrap_or_default()) {
            ("stream", "create") => self.known.extend(ids("streams")),
            ("stream", "delete") => self.known.retain(|id| !ids("streams").contains(id)),
            ("subscription", "add") => self.known.extend(ids("subscriptions")),
            _ => {}
        }
    }
}

async fn register_public(client: &Client) -> Queue {
    let parameters = json!({
        "client_capabilities": capabilities(), "all_public_streams": true, "fetch_event_types": [],
    });
    let mut queue = client.register(parameters).await;
    queue.ignore();
    queue
}

/// Events of one person's queues in one step.
struct Heard {
    all: Vec<Value>,
    public: Option<Vec<Value>>,
    narrowed: Vec<Value>,
}

impl Simulation {
    /// A narrow for a new queue.
    pub fn narrow(&mut self) -> Narrow {
        let place = self.channel();
        let topics: Vec<String> = self.rules.messages.values().map(|message| message.topic.clone()).collect();
        match (self.rng.below(3), self.rng.pick(&topics).filter(|topic| !topic.is_empty())) {
            (0, _) => Narrow::Direct,
            (1, Some(topic)) => Narrow::Topic(topic),
            _ => Narrow::Channel(place, self.rules.channels[place].stream_id),
        }
    }

    /// Checks the events of all users since the last step: complete, and limited to what their reader may know, or
    /// could know a moment ago.
    pub async fn look_at_events(&mut self, before: &Rules) {
        let mut heard = BTreeMap::new();
        for (person, listeners) in self.listeners.iter_mut().enumerate() {
            let Some(listeners) = listeners else { continue };
            let all = listeners.all.take().await;
            for event in &all {
                listeners.learn(event);
            }
            let public = match &mut listeners.public {
                Some(queue) => Some(queue.take().await),
                None => None,
            };
            let narrowed = listeners.narrowed.take().await;
            self.read[person].extend(all.iter().flat_map(|event| words(&event.to_string())));
            heard.insert(person, Heard { all, public, narrowed });
        }
        for (person, heard) in &heard {
            let everything = heard.all.iter().chain(heard.public.iter().flatten()).chain(&heard.narrowed);
            for event in everything {
                self.check_event(*person, before, event);
            }
            self.check_known(*person);
        }
        for expected in std::mem::take(&mut self.expected) {
            for (person, heard) in &heard {
                self.check_heard(*person, before, &expected, heard);
            }
        }
        for (person, heard) in &heard {
            self.check_messages(*person, before, heard);
        }
    }

    /// An event reveals nothing that its reader may not know.
    fn check_event(&self, person: Person, before: &Rules, event: &Value) {
        self.check_words(person, before, event);
        // A bulk change is one event. It may list messages that its reader does not see if they see one of them: ids
        // reveal nothing.
        let mut ids = ids_in(event, &["message_id", "message_ids"]);
        ids.retain(|id| before.messages.contains_key(id) || self.rules.messages.contains_key(id));
        let allowed = ids.iter().any(|id| before.sees(person, *id) || self.rules.sees(person, *id));
        self.assert_same(ids.is_empty() || allowed, true, &format!("{person} heard of {ids:?}: {event}"));
        for id in ids_in(event, &["stream_id", "stream_ids"]) {
            let Some(place) = self.place_of(id) else { continue };
            let allowed = before.knows(person, place) || self.rules.knows(person, place);
            self.assert_same(allowed, true, &format!("{person} heard of channel {place}: {event}"));
        }
        // Readable messages are not deleted.
        if event["type"] == "delete_message" {
            ids.retain(|id| self.rules.sees(person, *id));
            self.assert_same(&ids, &Vec::new(), &format!("{person} loses what they see: {event}"));
        }
    }

    /// Compares the channels known from events with the rules.
    fn check_known(&self, person: Person) {
        let Some(listeners) = &self.listeners[person] else { return };
        let known = (0..self.rules.channels.len()).filter(|place| self.rules.knows(person, *place));
        let expected: BTreeSet<i64> = known.map(|place| self.rules.channels[place].stream_id).collect();
        self.assert_same(&listeners.known, &expected, &format!("the channels that {person} was informed of"));
    }

    /// New messages reached exactly their receivers, once.
    fn check_messages(&self, person: Person, before: &Rules, heard: &Heard) {
        let is_new = |id: &i64| !before.messages.contains_key(id) && self.rules.messages.contains_key(id);
        let new: Vec<i64> = self.rules.messages.keys().copied().filter(is_new).collect();
        let came = |events: &[Value]| -> Vec<i64> {
            let messages = events.iter().filter(|event| event["type"] == "message");
            let ids = messages.map(|event| event["message"]["id"].as_i64().unwrap());
            ids.filter(|id| self.rules.messages.contains_key(id)).collect()
        };
        let is_for = |id: &i64| self.rules.messages[id].received.contains(&person);
        let expected: Vec<i64> = new.iter().copied().filter(is_for).collect();
        self.assert_same(&came(&heard.all), &expected, &format!("new messages of {person}"));
        if let Some(events) = &heard.public {
            let all = new.iter().copied().filter(|id| is_for(id) || self.rules.hears_in_public(person, *id));
            let what = format!("new messages of {person} with all public channels");
            self.assert_same(came(events), all.collect(), &what);
        }
        let Some(listeners) = &self.listeners[person] else { return };
        let matching = expected.into_iter().filter(|id| listeners.narrow.matches(&self.rules.messages[id]));
        let what = format!("new messages of {person} in {:?}", listeners.narrow);
        self.assert_same(came(&heard.narrowed), matching.collect(), &what);
    }

    fn check_heard(&self, person: Person, before: &Rules, expected: &Expected, heard: &Heard) {
        let names = |events: &[Value], kind: &str, id: i64| {
            let of_kind = events.iter().filter(|event| event["type"] == kind);
            of_kind.flat_map(|event| ids_in(event, &["message_id", "message_ids"])).any(|named| named == id)
        };
        let queues = [("", Some(&heard.all)), (" with all public channels", heard.public.as_ref())];
        for (which, events) in queues {
            let Some(events) = events else { continue };
            let is_informed = |rules: &Rules, id| {
                if which.is_empty() { rules.hears(person, id) } else { rules.hears_in_public(person, id) }
            };
            let must = match expected {
                Expected::Message(_) => true,
                Expected::Event(kind, id) => !is_informed(&self.rules, *id) || names(events, kind, *id),
                Expected::Deleted(id) => !is_informed(before, *id) || names(events, "delete_message", *id),
                Expected::Moved(id) => {
                    let kind = if self.rules.sees(person, *id) { "update_message" } else { "delete_message" };
                    !is_informed(before, *id) || names(events, kind, *id)
                }
                Expected::AboutChannel(place, word) => {
                    !self.rules.knows(person, *place) || events.iter().any(|event| has(event, word))
                }
                Expected::Typing(place, word) => {
                    let is_subscriber = self.rules.receivers(*place).contains(&person);
                    !is_subscriber || events.iter().any(|event| has(event, word))
                }
            };
            self.assert_same(must, true, &format!("{person}{which} heard of {expected:?}: {events:?}"));
        }
    }
}

impl std::fmt::Debug for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Message(id) => write!(f, "message {id}"),
            Self::Event(kind, id) => write!(f, "{kind} of message {id}"),
            Self::Moved(id) => write!(f, "the move of message {id}"),
            Self::Deleted(id) => write!(f, "the deletion of message {id}"),
            Self::AboutChannel(place, word) => write!(f, "{word} of channel {place}"),
            Self::Typing(place, word) => write!(f, "{word} typed in channel {place}"),
        }
    }
}

fn has(event: &Value, word: &str) -> bool {
    words(&event.to_string()).contains(word)
}
