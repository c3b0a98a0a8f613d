//! Parameters of a queue (`POST /register`).

use crate::types::{EmptyTopic, UserId};
use rand::RngExt;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A queue's name. It is random; polling the queue still needs its owner's credentials.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QueueId(pub Arc<str>);

impl QueueId {
    /// Returns a new random name in the form of a UUID.
    pub fn random() -> Self {
        let bits: u128 = rand::rng().random();
        let hex = format!("{bits:032x}");
        Self(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]).into())
    }
}

impl fmt::Display for QueueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A queue that is being registered.
#[derive(Clone, Debug)]
pub struct NewQueue {
    /// Its name.
    pub queue_id: QueueId,
    /// The owner.
    pub user_id: UserId,
    /// The options of its registration.
    pub registration: Arc<Registration>,
}

/// Default lifetime of a queue without polls.
pub const DEFAULT_IDLE_SECONDS: i64 = 10 * 60;

/// The longest time that a client can ask for.
pub const MAX_IDLE_SECONDS: i64 = 7 * 24 * 3600;

/// Maximum number of events that a queue without a poll for ten minutes can be behind. The log keeps the events it
/// needs, so a client that was away longer and missed more fetches the state again.
pub const MAX_EVENTS_BEHIND_IDLE: i64 = 1 << 16;

/// The events that a queue receives, and their form. Stored with the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// The types of events; absent means all. With an empty list the queue gets only heartbeats.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub event_types: Option<Vec<String>>,
    /// Message contents come as HTML.
    #[serde(default)]
    pub apply_markdown: bool,
    /// Presences are keyed by user id.
    #[serde(default)]
    pub slim_presence: bool,
    /// The queue gets the messages of all public channels, subscribed or not.
    #[serde(default)]
    pub all_public_streams: bool,
    /// Subscription events list the subscribers.
    #[serde(default)]
    pub include_subscribers: bool,
    /// The queue gets only message events that match all of these pairs of operator and operand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub narrow: Vec<(String, String)>,
    /// Capabilities of the client.
    #[serde(default)]
    pub client_capabilities: Capabilities,
    /// Lifetime of the queue without polls; absent means [`DEFAULT_IDLE_SECONDS`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_seconds: Option<i64>,
}

impl Registration {
    /// Checks whether the queue asked for events of a type.
    pub fn wants(&self, kind: &str) -> bool {
        match &self.event_types {
            None => true,
            Some(types) => types.iter().any(|wanted| wanted == kind),
        }
    }

    /// The form of the empty topic that the client accepts.
    pub fn empty_topic(&self) -> EmptyTopic {
        if self.client_capabilities.empty_topic_name { EmptyTopic::Empty } else { EmptyTopic::Named }
    }

    /// The lifetime of the queue without polls, in seconds.
    pub fn idle_seconds(&self) -> i64 {
        self.idle_seconds.unwrap_or(DEFAULT_IDLE_SECONDS)
    }

    /// True if a queue without polls for a number of milliseconds, and this number of events behind, expires.
    pub fn is_idle_too_long(&self, milliseconds: i64, events_behind: i64) -> bool {
        milliseconds > self.idle_seconds() * 1000
            || (milliseconds > DEFAULT_IDLE_SECONDS * 1000 && events_behind > MAX_EVENTS_BEHIND_IDLE)
    }
}

/// The optional features that a client supports: `client_capabilities` of `POST /register`. All are false by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Capabilities {
    /// True if the client accepts null in the notification settings of channels, for the user's default.
    pub notification_settings_null: bool,
    /// True if the client accepts one `delete_message` event for several messages.
    pub bulk_message_deletion: bool,
    /// True if the client does not need `avatar_url`, because it knows `/avatar/{user_id}`. No effect: all users have
    /// it.
    pub user_avatar_url_field_optional: bool,
    /// True if the client shows typing notifications in channels.
    pub stream_typing_notifications: bool,
    /// True if the client accepts `user_settings` events instead of the two older types.
    pub user_settings_object: bool,
    /// True if the client accepts linkifiers with URL templates.
    pub linkifier_url_template: bool,
    /// True if the client accepts lists of users without inaccessible users.
    pub user_list_incomplete: bool,
    /// True if the client accepts deactivated groups. If not, it receives them as removed.
    pub include_deactivated_groups: bool,
    /// True if the client accepts archived channels. If not, it receives them as deleted.
    pub archived_channels: bool,
    /// True if the client accepts the empty topic as an empty string. If not, it receives the display name.
    pub empty_topic_name: bool,
    /// True if the client accepts `presence` events in the modern format.
    pub simplified_presence_events: bool,
    /// True if the client accepts changes of single custom emoji. No effect: events have all emoji.
    pub individual_emoji_changes: bool,
}
