//! The muted channels and topic policies of a user in memory, for checks of many messages.

use crate::domain::subscriptions;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::sql;
use crate::types::{StreamId, UserId};
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};

/// A user's muted channels and policies for topics.
#[derive(Debug, Default)]
pub struct Muting {
    muted_channels: HashSet<StreamId>,
    topics: HashMap<StreamId, HashMap<String, VisibilityPolicy>>,
}

impl Muting {
    /// Loads them with two statements.
    pub fn of(connection: &Connection, user_id: UserId) -> rusqlite::Result<Self> {
        let own = subscriptions::list_active(connection, user_id)?;
        let muted_channels = own.into_iter().filter(|own| own.is_muted).map(|own| own.stream_id).collect();
        let mut topics: HashMap<_, HashMap<_, _>> = HashMap::new();
        for (stream_id, key, policy) in sql::keys_of_user(connection, user_id)? {
            topics.entry(stream_id).or_default().insert(key, policy);
        }
        Ok(Self { muted_channels, topics })
    }

    /// The channels that are muted as a whole.
    pub fn channels(&self) -> impl Iterator<Item = StreamId> {
        self.muted_channels.iter().copied()
    }

    /// True if a channel is muted. Its topics may still be unmuted.
    pub fn is_channel_muted(&self, stream_id: StreamId) -> bool {
        self.muted_channels.contains(&stream_id)
    }

    /// The policy for a topic, by its key.
    pub fn policy(&self, stream_id: StreamId, key: &str) -> VisibilityPolicy {
        self.topics.get(&stream_id).and_then(|topics| topics.get(key)).copied().unwrap_or_default()
    }

    /// True if messages of a topic are muted.
    pub fn is_muted(&self, stream_id: StreamId, key: &str) -> bool {
        self.policy(stream_id, key).mutes(self.is_channel_muted(stream_id))
    }

    /// True if the topic's own policy is muted.
    pub fn is_topic_muted(&self, stream_id: StreamId, key: &str) -> bool {
        self.policy(stream_id, key) == VisibilityPolicy::Muted
    }

    /// True if a topic is followed.
    pub fn is_followed(&self, stream_id: StreamId, key: &str) -> bool {
        self.policy(stream_id, key) == VisibilityPolicy::Followed
    }

    /// The topics of a channel whose policy matches, as channel and topic key.
    pub fn topics_of(
        &self,
        stream_id: StreamId,
        wanted: impl Fn(VisibilityPolicy) -> bool,
    ) -> impl Iterator<Item = (StreamId, &str)> {
        self.topics
            .get(&stream_id)
            .into_iter()
            .flatten()
            .filter(move |(_, policy)| wanted(**policy))
            .map(move |(key, _)| (stream_id, key.as_str()))
    }

    /// The topics of all channels whose policy matches, as channel and topic key.
    pub fn topics(
        &self,
        wanted: impl Fn(VisibilityPolicy) -> bool,
    ) -> impl Iterator<Item = (StreamId, &str)> {
        self.topics
            .iter()
            .flat_map(|(stream_id, topics)| {
                topics.iter().map(|(key, policy)| (*stream_id, key.as_str(), *policy))
            })
            .filter(move |(_, _, policy)| wanted(*policy))
            .map(|(stream_id, key, _)| (stream_id, key))
    }
}
