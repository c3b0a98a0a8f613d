//! An organization in which everything has a word of its own, and who may have read which of them.

use crate::harness::access::{Channel, Person, Role};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
pub enum Place {
    /// In the list of channels.
    Channel(usize),
    /// Between these.
    Direct(BTreeSet<Person>),
}

#[derive(Clone, Debug)]
pub struct Message {
    pub sender: Person,
    pub place: Place,
    /// The topic now; empty for direct messages.
    pub topic: String,
    /// The content now.
    pub content: String,
    /// Whose message it is: those to whom it was sent, or who were there when it was moved to them.
    pub received: BTreeSet<Person>,
}

/// What a word tells of. Each word is random text that stands nowhere else, so whoever reads it has seen the thing.
#[derive(Clone, Debug)]
pub enum Secret {
    /// A name or a description, of now or before.
    AboutChannel(usize),
    /// Somebody types in a channel.
    Typed(usize),
    /// A content or a topic of a message, of now or before.
    InMessages(BTreeSet<i64>),
    /// Something that one person keeps.
    Personal(Person),
}

#[derive(Clone, Default)]
pub struct Rules {
    pub roles: Vec<Role>,
    pub channels: Vec<Channel>,
    pub messages: BTreeMap<i64, Message>,
    pub secrets: BTreeMap<String, Secret>,
}

impl Rules {
    /// Whether somebody may know that a channel is there.
    pub fn knows(&self, person: Person, channel: usize) -> bool {
        self.channels[channel].is_known_to(person, self.roles[person])
    }

    /// Whether somebody may read in a channel.
    pub fn reads(&self, person: Person, channel: usize) -> bool {
        self.channels[channel].is_readable_by(person, self.roles[person])
    }

    /// Whether somebody may read a message.
    pub fn sees(&self, person: Person, id: i64) -> bool {
        let Some(message) = self.messages.get(&id) else { return false };
        match &message.place {
            Place::Direct(people) => people.contains(&person),
            Place::Channel(channel) => {
                let has_received = message.received.contains(&person);
                self.channels[*channel].shows(person, self.roles[person], has_received)
            }
        }
    }

    /// What somebody stars or reacts to is theirs from then on, also where only receivers read.
    pub fn becomes_own(&mut self, person: Person, id: i64) {
        if let Some(message) = self.messages.get_mut(&id) {
            message.received.insert(person);
        }
    }

    /// Whether somebody may have read a word.
    pub fn may_know(&self, person: Person, word: &str) -> bool {
        match self.secrets.get(word) {
            None => false,
            Some(Secret::AboutChannel(channel)) => self.knows(person, *channel),
            Some(Secret::Typed(channel)) => self.reads(person, *channel),
            Some(Secret::InMessages(ids)) => ids.iter().any(|id| self.sees(person, *id)),
            Some(Secret::Personal(owner)) => *owner == person,
        }
    }

    /// The messages of a channel that somebody may read, with those of a topic only if one is named.
    pub fn seen_in(&self, person: Person, place: usize, topic: Option<&str>) -> BTreeSet<i64> {
        let inside = self.messages.iter().filter(|(id, message)| {
            matches!(message.place, Place::Channel(channel) if channel == place)
                && topic.is_none_or(|topic| message.topic == topic)
                && self.sees(person, **id)
        });
        inside.map(|(id, _)| *id).collect()
    }

    /// A word that is nowhere else.
    pub fn word(&mut self, secret: Secret) -> String {
        let word = format!("zq{}zq", self.secrets.len());
        self.secrets.insert(word.clone(), secret);
        word
    }

    /// A message bears a word.
    pub fn bears(&mut self, id: i64, word: &str) {
        if let Some(Secret::InMessages(ids)) = self.secrets.get_mut(word) {
            ids.insert(id);
        }
    }
}

/// The words in a text.
pub fn words(text: &str) -> BTreeSet<String> {
    let pieces: Vec<&str> = text.split("zq").collect();
    let numbers = pieces.iter().enumerate().filter(|(index, piece)| {
        *index > 0
            && index + 1 < pieces.len()
            && !piece.is_empty()
            && piece.bytes().all(|byte| byte.is_ascii_digit())
    });
    numbers.map(|(_, number)| format!("zq{number}zq")).collect()
}
