//! Recipients of messages: people, channels and groups of direct messages.
//!
//! In this database a direct conversation is a set of participants. In the archive a message to one other person goes to that
//! person's own recipient, and only conversations of three and more people are groups.

use super::error::Result;
use super::scope::{Mode, Scope};
use super::tables::Tables;
use crate::types::{RecipientId, StreamId, UserId, hex};
use rusqlite::Connection;
use serde_json::json;
use std::collections::{BTreeMap, HashMap};

/// The kinds of recipients, as numbers in `zerver_recipient.type`.
const PERSON: i64 = 1;
const CHANNEL: i64 = 2;
const GROUP: i64 = 3;

/// A conversation of the database.
pub enum Conversation {
    Channel(StreamId),
    /// The participants of a direct conversation, ascending.
    Direct(Vec<UserId>),
}

/// The recipients of an archive. Channels and groups keep their ids.
pub struct Recipients {
    conversations: BTreeMap<RecipientId, Conversation>,
    channels: HashMap<StreamId, RecipientId>,
    /// The recipients of direct conversations with three and more participants, by their participants.
    groups: HashMap<Vec<UserId>, i64>,
    /// The recipient of a person is this number more than the user id.
    people: i64,
}

impl Recipients {
    /// Loads the conversations, also those that have only scheduled messages yet.
    pub fn load(connection: &Connection, scope: &Scope) -> Result<Self> {
        let mut conversations = BTreeMap::new();
        let mut statement = connection.prepare("SELECT recipient_id, stream_id, user_ids FROM recipient")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let conversation = match row.get::<_, Option<StreamId>>(1)? {
                Some(stream_id) => Conversation::Channel(stream_id),
                None => Conversation::Direct(participants(&row.get::<_, String>(2)?)),
            };
            conversations.insert(row.get::<_, RecipientId>(0)?, conversation);
        }
        let (mut groups, mut channels) = (HashMap::new(), HashMap::new());
        for (recipient_id, conversation) in &conversations {
            match conversation {
                Conversation::Channel(stream_id) => drop(channels.insert(*stream_id, *recipient_id)),
                Conversation::Direct(users) if is_exported_group(users, scope) => {
                    groups.insert(users.clone(), recipient_id.0);
                }
                Conversation::Direct(_) => {}
            }
        }
        let people = conversations.keys().next_back().map_or(0, |id| id.0);
        let newest = scope.people.keys().chain(scope.system_bots.keys()).max();
        let mut next = people + newest.map_or(0, |user_id| user_id.0);
        let mut statement = connection.prepare(
            "SELECT user_ids FROM scheduled_message WHERE user_ids IS NOT NULL AND NOT sent ORDER BY scheduled_message_id",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let users = participants(&row.get::<_, String>(0)?);
            if is_exported_group(&users, scope) && !groups.contains_key(&users) {
                next += 1;
                groups.insert(users, next);
            }
        }
        Ok(Self { conversations, channels, groups, people })
    }

    /// A conversation of the database.
    pub fn conversation(&self, recipient_id: RecipientId) -> Option<&Conversation> {
        self.conversations.get(&recipient_id)
    }

    /// The recipient of a person or of one of the server's bots.
    pub fn of_person(&self, user_id: UserId) -> i64 {
        self.people + user_id.0
    }

    /// The recipient of a channel.
    pub fn of_channel(&self, stream_id: StreamId) -> Option<i64> {
        self.channels.get(&stream_id).map(|recipient_id| recipient_id.0)
    }

    /// The recipient of a direct message; `None` if its group is not exported.
    pub fn of_direct(&self, participants: &[UserId], sender: UserId) -> Option<i64> {
        match participants {
            [] => None,
            [only] => Some(self.of_person(*only)),
            [one, other] => Some(self.of_person(if *one == sender { *other } else { *one })),
            _ => self.groups.get(participants).copied(),
        }
    }

    /// Writes the recipients, and the groups of direct messages.
    pub fn write(&self, tables: &mut Tables<'_>, scope: &Scope) -> Result<()> {
        let mut groups: Vec<(&Vec<UserId>, i64)> =
            self.groups.iter().map(|(users, id)| (users, *id)).collect();
        groups.sort_unstable_by_key(|(_, id)| *id);
        let channels = self.channels.iter().map(|(stream_id, id)| (id.0, CHANNEL, stream_id.0));
        let people = scope.people.keys().map(|user_id| (self.of_person(*user_id), PERSON, user_id.0));
        let mut recipients: Vec<(i64, i64, i64)> =
            channels.chain(groups.iter().map(|(_, id)| (*id, GROUP, *id))).chain(people).collect();
        recipients.sort_unstable();
        tables.table("zerver_recipient", |rows| {
            for (id, kind, type_id) in recipients {
                rows.push(&json!({"id": id, "type": kind, "type_id": type_id}))?;
            }
            Ok(())
        })?;
        tables.table("zerver_huddle", |rows| {
            for (users, id) in &groups {
                let ids: Vec<String> = users.iter().map(UserId::to_string).collect();
                rows.push(&json!({
                    "id": id, "recipient": id, "group_size": users.len(), "huddle_hash": sha1(&ids.join(",")),
                }))?;
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The pairs of people and the recipients other than channels that they are subscribed to.
    pub fn direct_subscriptions(&self, scope: &Scope) -> Vec<(UserId, i64)> {
        let own = scope.people.keys().map(|user_id| (*user_id, self.of_person(*user_id)));
        let groups = self.groups.iter().flat_map(|(users, id)| users.iter().map(|user_id| (*user_id, *id)));
        let mut all: Vec<(UserId, i64)> = own.chain(groups).collect();
        all.sort_unstable();
        all
    }
}

/// True for groups of three and more people of the organization, one of whom has to consent.
fn is_exported_group(users: &[UserId], scope: &Scope) -> bool {
    users.len() > 2
        && scope.mode != Mode::Public
        && users.iter().all(|user_id| scope.people.contains_key(user_id))
        && users.iter().any(|user_id| scope.shares(user_id.0))
}

/// The ids in a list, with or without brackets.
fn participants(text: &str) -> Vec<UserId> {
    let ids = text.trim_matches(['[', ']']).split(',');
    ids.filter_map(|id| id.trim().parse().ok().map(UserId)).collect()
}

/// The digest that names a group of direct messages.
fn sha1(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, text.as_bytes());
    hex(digest.as_ref())
}
