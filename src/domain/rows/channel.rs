//! A channel's row, and its topics policy.

use crate::domain::realm::settings::RealmSetting;
use crate::domain::realm::user_ids;
use crate::error::{ApiError, ApiResult};
use crate::types::{RecipientId, SettingValue, Shape, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};

/// A channel by id.
pub fn by_id(connection: &Connection, stream_id: StreamId) -> rusqlite::Result<Option<StreamRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM stream JOIN recipient USING (stream_id) WHERE stream_id = ?1"
        ))?
        .query_row([stream_id], StreamRow::read)
        .optional()
}

/// Loads a channel whose id is that of a row.
#[track_caller]
pub fn existing(connection: &Connection, stream_id: StreamId) -> ApiResult<StreamRow> {
    match by_id(connection, stream_id)? {
        Some(stream) => Ok(stream),
        None => Err(ApiError::internal(format_args!("channel {stream_id} has no row"))),
    }
}

/// A channel's row, with the id of its set of receivers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRow {
    pub stream_id: StreamId,
    /// The channel's messages are those to this recipient.
    pub recipient_id: RecipientId,
    /// The name, as its author spelt it.
    pub name: String,
    /// Nothing can be sent to an archived channel; it can still be read.
    pub is_archived: bool,
    /// Markdown.
    pub description: String,
    /// The description as HTML.
    pub rendered_description: String,
    /// UNIX seconds.
    pub date_created: i64,
    /// The creator; `None` if unknown.
    pub creator_id: Option<UserId>,
    /// A private channel.
    pub invite_only: bool,
    /// Readable without an account.
    pub is_web_public: bool,
    /// Subscribers can read messages sent before their subscription; always true for channels that are not private.
    pub history_public_to_subscribers: bool,
    /// Days; `None`: the organization's, `-1`: forever.
    pub message_retention_days: Option<i64>,
    /// The rule for messages in the empty topic.
    pub topics_policy: TopicsPolicy,
    /// The folder it is shown in.
    pub folder_id: Option<i64>,
}

/// The columns of [`StreamRow`], in order, from `stream JOIN recipient USING (stream_id)`.
pub const COLUMNS: &str = "stream_id, recipient_id, name, is_archived, description, rendered_description,
    date_created, creator_id, invite_only, is_web_public, history_public_to_subscribers, message_retention_days,
    topics_policy, folder_id";

impl StreamRow {
    /// Reads a row of a statement that selects [`COLUMNS`].
    pub fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            stream_id: row.get(0)?,
            recipient_id: row.get(1)?,
            name: row.get(2)?,
            is_archived: row.get(3)?,
            description: row.get(4)?,
            rendered_description: row.get(5)?,
            date_created: row.get(6)?,
            creator_id: row.get(7)?,
            invite_only: row.get(8)?,
            is_web_public: row.get(9)?,
            history_public_to_subscribers: row.get(10)?,
            message_retention_days: row.get(11)?,
            topics_policy: row.get(12)?,
            folder_id: row.get(13)?,
        })
    }

    /// True if every member may read it without being subscribed. Web-public channels are public too.
    pub fn is_public(&self) -> bool {
        !self.invite_only
    }

    /// True if subscribers may read the whole history.
    pub fn has_public_history(&self) -> bool {
        self.is_public() || self.history_public_to_subscribers
    }
}

/// `topics_policy` (spec, "Channel").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TopicsPolicy {
    /// The organization's.
    #[default]
    Inherit,
    /// Messages may have the empty topic.
    AllowEmptyTopic,
    /// Messages need a topic.
    DisableEmptyTopic,
    /// The empty topic is the only one.
    EmptyTopicOnly,
}

impl SettingValue for TopicsPolicy {
    const SHAPE: Shape = Shape::Text;
}

impl TopicsPolicy {
    /// The organization's policy, for channels that inherit it.
    pub const OF_REALM: RealmSetting<Self> = RealmSetting::of("topics_policy");

    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Inherit, Self::AllowEmptyTopic, Self::DisableEmptyTopic, Self::EmptyTopicOnly];

    /// The word on the wire and in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inherit => "inherit",
            Self::AllowEmptyTopic => "allow_empty_topic",
            Self::DisableEmptyTopic => "disable_empty_topic",
            Self::EmptyTopicOnly => "empty_topic_only",
        }
    }
}

impl ToSql for TopicsPolicy {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.name()))
    }
}

impl FromSql for TopicsPolicy {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        Self::ALL.into_iter().find(|policy| policy.name() == text).ok_or(FromSqlError::InvalidType)
    }
}

/// True if a user is subscribed to a channel.
pub fn is_subscribed(
    connection: &Connection,
    user_id: UserId,
    stream_id: StreamId,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM subscription WHERE user_id = ?1 AND stream_id = ?2 AND active)",
        )?
        .query_row((user_id, stream_id), |row| row.get(0))
}

/// The active users that are subscribed to a channel.
pub fn subscribers(connection: &Connection, stream_id: StreamId) -> rusqlite::Result<RoaringBitmap> {
    user_ids::set(
        connection,
        "SELECT user_id FROM subscription JOIN user USING (user_id)
         WHERE stream_id = ?1 AND active AND is_active ORDER BY user_id",
        [stream_id],
    )
}
