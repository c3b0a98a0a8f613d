//! A channel on the wire (spec, "Channel").

use crate::domain::channels::{rules, sql};
use crate::domain::groups::channel_settings::Settings;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::groups::setting::GroupSetting;
use crate::domain::groups::system::SystemGroup;
use crate::domain::rows::channel::{StreamRow, TopicsPolicy};
use crate::error::ApiResult;
use crate::types::{Hourly, MessageId, RecipientId, SECONDS_PER_DAY, StreamId, UserId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// A channel in lists, events and replies. Subscriptions include these members too.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ChannelRecord {
    /// The channel's id.
    pub stream_id: StreamId,
    /// The name, at most 60 characters. Channels have different names, regardless of case.
    name: String,
    /// True if the channel is archived. Clients without the `archived_channels` capability do not receive archived
    /// channels in `POST /register` and in events.
    pub is_archived: bool,
    /// The description in Markdown, one line.
    description: String,
    /// The description as HTML.
    rendered_description: String,
    /// When the channel was created, in UNIX seconds.
    date_created: i64,
    /// The id of the user who created the channel; null if unknown.
    creator_id: Option<UserId>,
    /// True if the channel is private.
    invite_only: bool,
    /// True if the channel can be read without an account.
    is_web_public: bool,
    /// Deprecated, follows from `can_send_message_group`: 1 if all users may post, 2 for administrators, 3 for full
    /// members, 4 for moderators.
    stream_post_policy: i64,
    /// Deprecated, follows from `can_send_message_group`: true if only administrators may post.
    is_announcement_only: bool,
    /// Days for which messages are kept; -1 for unlimited, null for the setting of the organization.
    message_retention_days: Option<i64>,
    /// True if subscribers can read messages that were sent before they subscribed.
    history_public_to_subscribers: bool,
    /// The rule for messages in the empty topic; `inherit` is the organization's.
    topics_policy: TopicsPolicy,
    /// The id of the oldest message; null if there is none.
    first_message_id: Option<MessageId>,
    /// The id of the folder that the channel is shown in; null for none.
    folder_id: Option<i64>,
    /// True if the channel or its newest message is less than 180 days old.
    is_recently_active: bool,
    #[serde(flatten)]
    settings: Settings,
    /// The number of subscribers with active accounts.
    subscriber_count: i64,
    /// The average number of messages per week in the last 28 days, rounded; null for a channel younger than a week.
    stream_weekly_traffic: Option<i64>,
    /// True if new users are subscribed to the channel. Only in `GET /streams` with `include_default`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_default: Option<bool>,
}

/// Creates records; loads statistics once.
pub struct Records<'a> {
    connection: &'a Connection,
    now: i64,
    counts: HashMap<StreamId, i64>,
    /// The first message of the weeks over which traffic is averaged.
    traffic_from: Option<MessageId>,
    /// Traffic that was counted before.
    traffic: Option<&'a Traffic>,
}

/// The number of messages of the last four weeks, by channel. Counting them takes as long as they are many.
pub type Traffic = Hourly<RecipientId, i64>;

impl<'a> Records<'a> {
    /// Loads the statistics of all channels; `now` in UNIX seconds. The traffic is up to an hour old.
    pub fn new(connection: &'a Connection, now: i64, traffic: &'a Traffic) -> ApiResult<Self> {
        let records = Self::with(connection, now, sql::subscriber_counts(connection)?)?;
        Ok(Self { traffic: Some(traffic), ..records })
    }

    /// Loads the statistics of these channels, which are few; `now` in UNIX seconds.
    pub fn of_few(connection: &'a Connection, now: i64, streams: &[StreamId]) -> ApiResult<Self> {
        let counts = streams.iter().map(|id| Ok((*id, sql::subscriber_count(connection, *id)?)));
        Self::with(connection, now, counts.collect::<rusqlite::Result<_>>()?)
    }

    fn with(connection: &'a Connection, now: i64, counts: HashMap<StreamId, i64>) -> ApiResult<Self> {
        let since = now - rules::TRAFFIC_DAYS * SECONDS_PER_DAY;
        let traffic_from = sql::first_message_since(connection, since)?;
        Ok(Self { connection, now, counts, traffic_from, traffic: None })
    }

    /// `stream_weekly_traffic` of a channel.
    fn weekly_traffic(&self, stream: &StreamRow) -> ApiResult<Option<i64>> {
        let age = self.now - stream.date_created;
        if rules::is_too_young_for_traffic(age) {
            return Ok(None);
        }
        let count = || match self.traffic_from {
            Some(from) => sql::messages_since(self.connection, stream.recipient_id, from),
            None => Ok(0),
        };
        let messages = match self.traffic {
            Some(traffic) => traffic.get(self.now, stream.recipient_id, count)?,
            None => count()?,
        };
        Ok(Some(rules::weekly_traffic(messages, age)))
    }

    /// Returns a channel in the form of `GET /streams`, with its permissions and weekly traffic.
    pub fn of(&self, stream: &StreamRow) -> ApiResult<ChannelRecord> {
        let settings = Settings::load(self.connection, stream.stream_id)?;
        let stream_post_policy = post_policy(&settings);
        let newest = sql::newest_timestamp(self.connection, stream.recipient_id)?;
        Ok(ChannelRecord {
            stream_id: stream.stream_id,
            name: stream.name.clone(),
            is_archived: stream.is_archived,
            description: stream.description.clone(),
            rendered_description: stream.rendered_description.clone(),
            date_created: stream.date_created,
            creator_id: stream.creator_id,
            invite_only: stream.invite_only,
            is_web_public: stream.is_web_public,
            stream_post_policy,
            is_announcement_only: is_announcement_only(stream_post_policy),
            message_retention_days: stream.message_retention_days,
            history_public_to_subscribers: stream.history_public_to_subscribers,
            topics_policy: stream.topics_policy,
            first_message_id: sql::first_message_id(self.connection, stream.recipient_id)?,
            folder_id: stream.folder_id,
            is_recently_active: rules::is_recently_active(self.now, stream.date_created, newest),
            settings,
            subscriber_count: self.counts.get(&stream.stream_id).copied().unwrap_or_default(),
            stream_weekly_traffic: self.weekly_traffic(stream)?,
            is_default: None,
        })
    }
}

/// The record of one channel.
pub fn record(connection: &Connection, now: i64, stream: &StreamRow) -> ApiResult<ChannelRecord> {
    Records::of_few(connection, now, &[stream.stream_id])?.of(stream)
}

/// The deprecated number for the posting permission.
fn post_policy(settings: &Settings) -> i64 {
    let group = match settings.get(StreamSetting::CanSendMessage) {
        Some(GroupSetting::Group(group)) => Some(*group),
        _ => None,
    };
    rules::stream_post_policy(group)
}

/// The deprecated flag for the posting permission: whether only administrators may post.
pub fn is_announcement_only(stream_post_policy: i64) -> bool {
    stream_post_policy == rules::stream_post_policy(Some(SystemGroup::Administrators.id()))
}
