//! Statements on topic policies.

use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::store::ExecuteCached;
use crate::types::{StreamId, Topic, UserId};
use rusqlite::{Connection, OptionalExtension};

/// A user's policy for a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserTopic {
    /// The channel.
    pub stream_id: StreamId,
    /// The channel's name.
    pub stream_name: String,
    /// The topic, as spelled when the policy was set.
    pub topic_name: String,
    /// UNIX seconds.
    pub last_updated: i64,
    /// Never [`VisibilityPolicy::Inherit`], which has no row.
    pub visibility_policy: VisibilityPolicy,
}

/// A user's policies in channels that are not archived, by channel and topic.
pub fn of_user(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<UserTopic>> {
    connection
        .prepare_cached(
            "SELECT stream_id, name, topic_name, last_updated, visibility_policy
             FROM user_topic JOIN stream USING (stream_id)
             WHERE user_id = ?1 AND NOT is_archived ORDER BY stream_id, user_topic.name_key",
        )?
        .query_map([user_id], |row| {
            Ok(UserTopic {
                stream_id: row.get(0)?,
                stream_name: row.get(1)?,
                topic_name: row.get(2)?,
                last_updated: row.get(3)?,
                visibility_policy: row.get(4)?,
            })
        })?
        .collect()
}

/// The topics that a user has muted in channels that are not archived, each made of the channel's name, the topic, and the time
/// in UNIX seconds.
pub fn map_muted<T>(
    connection: &Connection,
    user_id: UserId,
    mut map: impl FnMut(String, String, i64) -> T,
) -> rusqlite::Result<Vec<T>> {
    connection
        .prepare_cached(
            "SELECT name, topic_name, last_updated
             FROM user_topic JOIN stream USING (stream_id)
             WHERE user_id = ?1 AND visibility_policy = ?2 AND NOT is_archived
             ORDER BY stream_id, user_topic.name_key",
        )?
        .query_map((user_id, VisibilityPolicy::Muted), |row| Ok(map(row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}

/// All policies of a user as channel, topic key and policy, including those in archived channels.
pub fn keys_of_user(
    connection: &Connection,
    user_id: UserId,
) -> rusqlite::Result<Vec<(StreamId, String, VisibilityPolicy)>> {
    connection
        .prepare_cached("SELECT stream_id, name_key, visibility_policy FROM user_topic WHERE user_id = ?1")?
        .query_map([user_id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}

/// A user's policy for a topic, by the topic's key.
pub fn policy(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    key: &str,
) -> rusqlite::Result<VisibilityPolicy> {
    let policy = connection
        .prepare_cached(
            "SELECT visibility_policy FROM user_topic WHERE user_id = ?1 AND stream_id = ?2 AND name_key = ?3",
        )?
        .query_row((user_id, stream_id, key), |row| row.get(0))
        .optional()?;
    Ok(policy.unwrap_or_default())
}

/// When a user's policy for a topic was last set, in UNIX seconds; `None` if they have none.
pub fn last_updated(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    key: &str,
) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached(
            "SELECT last_updated FROM user_topic WHERE user_id = ?1 AND stream_id = ?2 AND name_key = ?3",
        )?
        .query_row((user_id, stream_id, key), |row| row.get(0))
        .optional()
}

/// The policies of all users for a topic, by the topic's key; ascending by user.
pub fn of_topic(
    connection: &Connection,
    stream_id: StreamId,
    key: &str,
) -> rusqlite::Result<Vec<(UserId, VisibilityPolicy)>> {
    connection
        .prepare_cached(
            "SELECT user_id, visibility_policy FROM user_topic INDEXED BY user_topic_topic
             WHERE stream_id = ?1 AND name_key = ?2 ORDER BY user_id",
        )?
        .query_map((stream_id, key), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// True if a user has any policy in a channel.
pub fn has_any(connection: &Connection, user_id: UserId, stream_id: StreamId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM user_topic WHERE user_id = ?1 AND stream_id = ?2)")?
        .query_row((user_id, stream_id), |row| row.get(0))
}

/// Inserts, updates or deletes a user's policy for a topic.
pub fn put(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
    topic: &Topic,
    policy: VisibilityPolicy,
    now: i64,
) -> rusqlite::Result<()> {
    if policy == VisibilityPolicy::Inherit {
        connection.execute_cached(
            "DELETE FROM user_topic WHERE user_id = ?1 AND stream_id = ?2 AND name_key = ?3",
            (user_id, stream_id, topic.key()),
        )?;
        return Ok(());
    }
    connection.execute_cached(
        "INSERT INTO user_topic (user_id, stream_id, name_key, topic_name, visibility_policy, last_updated)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT DO UPDATE SET topic_name = excluded.topic_name,
             visibility_policy = excluded.visibility_policy, last_updated = excluded.last_updated",
        (user_id, stream_id, topic.key(), topic.as_str(), policy, now),
    )
}
