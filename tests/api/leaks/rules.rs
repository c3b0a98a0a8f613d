//! An organization in which everything has a word of its own, and who may have read which of them.

use crate::harness::access::{Channel, Groups, Person, Privacy, Role};
use std::collections::{BTreeMap, BTreeSet};

const SECONDS_PER_DAY: i64 = 24 * 60 * 60;

/// The settings of a channel that decide who sees it: the first two also let read.
pub const SETTINGS: [&str; 3] =
    ["can_subscribe_group", "can_add_subscribers_group", "can_administer_channel_group"];

/// The system groups that a setting may name: moderators, full members, members.
pub const SYSTEM_GROUPS: [i64; 3] = [4, 5, 6];

/// An account, of a person or of a bot.
#[derive(Clone, Debug)]
pub struct Account {
    /// On the wire.
    pub role: i64,
    pub is_active: bool,
    /// UNIX seconds.
    pub joined: i64,
    /// The owner of a bot.
    pub owner: Option<Person>,
}

impl Account {
    pub fn role(&self) -> Role {
        match self.role {
            100 | 200 => Role::Administrator,
            600 => Role::Guest,
            _ => Role::Member,
        }
    }

    /// The innermost system group.
    fn system_group(&self, new_since: i64) -> i64 {
        match self.role {
            100 => 2,
            200 => 3,
            300 => 4,
            600 => 7,
            _ if self.joined > new_since => 6,
            _ => 5,
        }
    }
}

/// Holders of a permission: these users, and the members of these groups.
#[derive(Clone, Debug, Default)]
pub struct Holders {
    pub people: BTreeSet<Person>,
    pub groups: BTreeSet<i64>,
}

#[derive(Clone, Debug)]
pub enum Place {
    /// A channel, by its position in the list.
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
    /// When it was sent, in UNIX seconds.
    pub sent: i64,
    /// Receivers: the users to whom it was sent, or who were subscribed when it was moved to their channel.
    pub received: BTreeSet<Person>,
}

/// The source of a word. Words are random and unique, so a reader of the word has seen its source.
#[derive(Clone, Debug)]
pub enum Secret {
    /// A name or a description, of now or before.
    AboutChannel(usize),
    /// A user types in a channel.
    Typed(usize),
    /// A content or a topic of a message, of now or before.
    InMessages(BTreeSet<i64>),
    /// A file with its owner and the messages that link to it.
    File(Person, BTreeSet<i64>),
    /// Something that one person keeps.
    Personal(Person),
}

#[derive(Clone, Default)]
pub struct Rules {
    pub accounts: Vec<Account>,
    pub channels: Vec<Channel>,
    /// Holders of each of [`SETTINGS`], by channel.
    pub settings: Vec<[Holders; 3]>,
    /// Days after which messages of each channel are deleted.
    pub retention: Vec<Option<i64>>,
    /// Members of the named groups, and of the system groups by their roles.
    pub groups: Groups<Person>,
    /// UNIX seconds.
    pub now: i64,
    /// Days for which members are new.
    pub waiting_period: i64,
    pub messages: BTreeMap<i64, Message>,
    pub secrets: BTreeMap<String, Secret>,
}

impl Rules {
    /// Computes values that follow from roles, groups and the time: members of system groups, and holders of channel
    /// permissions.
    pub fn settle(&mut self) {
        let new_since = self.now - self.waiting_period * SECONDS_PER_DAY;
        for group in 2..=8 {
            let inside = self.active().filter(|(_, account)| account.system_group(new_since) == group);
            let inside: BTreeSet<Person> = inside.map(|(person, _)| person).collect();
            self.groups.members.insert(group, inside);
        }
        for (channel, settings) in self.channels.iter_mut().zip(&self.settings) {
            let held = |holders: &Holders| -> BTreeSet<Person> {
                let by_group = holders.groups.iter().flat_map(|group| self.groups.all_members(*group));
                let all = by_group.chain(holders.people.iter().copied());
                all.filter(|person| self.accounts[*person].is_active).collect()
            };
            channel.may_subscribe = &held(&settings[0]) | &held(&settings[1]);
            channel.may_administer = held(&settings[2]);
        }
    }

    /// The accounts that are not deactivated.
    pub fn active(&self) -> impl Iterator<Item = (Person, &Account)> {
        self.accounts.iter().enumerate().filter(|(_, account)| account.is_active)
    }

    pub fn is_active(&self, person: Person) -> bool {
        self.accounts[person].is_active
    }

    pub fn role(&self, person: Person) -> Role {
        self.accounts[person].role()
    }

    /// Receivers of a message sent to a channel, without deactivated subscribers.
    pub fn receivers(&self, channel: usize) -> BTreeSet<Person> {
        let subscribers = self.channels[channel].subscribers.iter().copied();
        subscribers.filter(|person| self.is_active(*person)).collect()
    }

    /// True if a user may know that a channel exists.
    pub fn knows(&self, person: Person, channel: usize) -> bool {
        self.is_active(person) && self.channels[channel].is_known_to(person, self.role(person))
    }

    /// True if a user may read messages of a channel.
    pub fn reads(&self, person: Person, channel: usize) -> bool {
        self.is_active(person) && self.channels[channel].is_readable_by(person, self.role(person))
    }

    /// True if a user may read a message.
    pub fn sees(&self, person: Person, id: i64) -> bool {
        let Some(message) = self.messages.get(&id).filter(|_| self.is_active(person)) else { return false };
        match &message.place {
            Place::Direct(people) => people.contains(&person),
            Place::Channel(channel) => {
                let has_received = message.received.contains(&person);
                self.channels[*channel].shows(person, self.role(person), has_received)
            }
        }
    }

    /// True if a user receives events of a message: participants of a conversation, subscribers with access, and in
    /// public channels earlier receivers with access.
    pub fn hears(&self, person: Person, id: i64) -> bool {
        let Some(message) = self.messages.get(&id) else { return false };
        let Place::Channel(place) = message.place else { return self.sees(person, id) };
        let channel = &self.channels[place];
        let received = !channel.privacy.is_private() && message.received.contains(&person);
        self.sees(person, id) && (channel.subscribers.contains(&person) || received)
    }

    /// True if a queue with `all_public_streams` receives them.
    pub fn hears_in_public(&self, person: Person, id: i64) -> bool {
        let is_public = self.messages.get(&id).is_some_and(|message| {
            matches!(message.place, Place::Channel(place) if !self.channels[place].privacy.is_private())
        });
        (is_public && self.role(person) != Role::Guest && self.is_active(person)) || self.hears(person, id)
    }

    /// Starring or reacting to a message adds the user to its receivers, even in channels with protected history.
    pub fn becomes_own(&mut self, person: Person, id: i64) {
        if let Some(message) = self.messages.get_mut(&id) {
            message.received.insert(person);
        }
    }

    /// True if a user may have read a word.
    pub fn may_know(&self, person: Person, word: &str) -> bool {
        match self.secrets.get(word) {
            None => false,
            Some(Secret::AboutChannel(channel)) => self.knows(person, *channel),
            Some(Secret::Typed(channel)) => self.reads(person, *channel),
            Some(Secret::InMessages(ids)) => ids.iter().any(|id| self.sees(person, *id)),
            Some(Secret::File(owner, ids)) => *owner == person || ids.iter().any(|id| self.sees(person, *id)),
            Some(Secret::Personal(owner)) => *owner == person,
        }
    }

    /// True if a visitor without an account may read a channel.
    pub fn is_public(&self, channel: usize) -> bool {
        self.channels[channel].privacy == Privacy::WebPublic && !self.channels[channel].is_archived
    }

    /// The messages that visitors may read.
    pub fn public_messages(&self) -> BTreeSet<i64> {
        let public = self.messages.iter().filter(
            |(_, message)| matches!(message.place, Place::Channel(channel) if self.is_public(channel)),
        );
        public.map(|(id, _)| *id).collect()
    }

    /// True if a visitor may read a word.
    pub fn is_public_word(&self, word: &str) -> bool {
        match self.secrets.get(word) {
            Some(Secret::AboutChannel(channel)) => self.is_public(*channel),
            Some(Secret::InMessages(ids) | Secret::File(_, ids)) => {
                let public = self.public_messages();
                ids.iter().any(|id| public.contains(id))
            }
            Some(Secret::Typed(_) | Secret::Personal(_)) | None => false,
        }
    }

    /// The messages of a channel, or of one topic, that a user may read.
    pub fn seen_in(&self, person: Person, place: usize, topic: Option<&str>) -> BTreeSet<i64> {
        let inside = self.messages.iter().filter(|(id, message)| {
            matches!(message.place, Place::Channel(channel) if channel == place)
                && topic.is_none_or(|topic| message.topic == topic)
                && self.sees(person, **id)
        });
        inside.map(|(id, _)| *id).collect()
    }

    /// The messages that are older than their channel keeps them.
    pub fn expired(&self) -> BTreeSet<i64> {
        let is_expired = |message: &Message| match message.place {
            Place::Channel(place) => {
                self.retention[place].is_some_and(|days| message.sent < self.now - days * SECONDS_PER_DAY)
            }
            Place::Direct(_) => false,
        };
        let expired = self.messages.iter().filter(|(_, message)| is_expired(message));
        expired.map(|(id, _)| *id).collect()
    }

    /// A word that is nowhere else.
    pub fn word(&mut self, secret: Secret) -> String {
        let word = format!("zq{}zq", self.secrets.len());
        self.secrets.insert(word.clone(), secret);
        word
    }

    /// A message bears a word.
    pub fn bears(&mut self, id: i64, word: &str) {
        if let Some(Secret::InMessages(ids) | Secret::File(_, ids)) = self.secrets.get_mut(word) {
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
