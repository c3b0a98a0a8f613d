//! A subscription on the wire: the channel, the user's own properties, and the list of subscribers (spec, "Events").

use crate::domain::channels::record::ChannelRecord;
use crate::domain::subscriptions::sql;
use crate::domain::subscriptions::sql::{NotificationDefaults, OwnSubscription};
use crate::error::ApiResult;
use crate::types::{SECONDS_PER_DAY, StreamId, UserId};
use rusqlite::Connection;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// A partial list of subscribers has the bots and the users who were active in this number of days.
const PARTIAL_DAYS: i64 = 14;

/// From this number of subscribers on, a part of them is all that is given to who asks for a part.
const MIN_PARTIAL: usize = 250;

/// The lists of subscribers that a client wants (`include_subscribers`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Subscribers {
    /// No list.
    #[default]
    No,
    /// The whole list.
    All,
    /// Bots and users of the last 14 days; the others as a number.
    Partial,
}

impl<'de> Deserialize<'de> for Subscribers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.trim_matches('"') {
            "true" => Ok(Self::All),
            "false" => Ok(Self::No),
            "partial" => Ok(Self::Partial),
            _ => Err(serde::de::Error::custom("{} is not a boolean")),
        }
    }
}

/// A channel with the caller's subscription to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SubscriptionRecord {
    #[serde(flatten)]
    channel: Arc<ChannelRecord>,
    /// Absent in `never_subscribed`.
    #[serde(flatten)]
    personal: Option<PersonalRecord>,
    /// The ids of all subscribers, ascending. Absent unless requested, or if `partial` lists were requested and the
    /// channel has many.
    #[serde(skip_serializing_if = "Option::is_none")]
    subscribers: Option<Arc<[UserId]>>,
    /// The ids of some subscribers, ascending: bots and recently active users. Only if `partial` lists were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial_subscribers: Option<Arc<[UserId]>>,
}

/// The properties that belong to the user's subscription rather than to the channel.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct PersonalRecord {
    /// The color of the channel for the user, such as `#76ce90`.
    color: String,
    /// True if the user has muted the channel.
    is_muted: bool,
    /// Deprecated: the opposite of `is_muted`.
    in_home_view: bool,
    /// True if the channel is shown above others.
    pin_to_top: bool,
    /// True if messages raise desktop notifications; null for the user's default.
    desktop_notifications: Option<bool>,
    /// True if messages raise sounds; null for the user's default.
    audible_notifications: Option<bool>,
    /// True if messages raise push notifications; null for the user's default.
    push_notifications: Option<bool>,
    /// True if messages are sent by email; null for the user's default.
    email_notifications: Option<bool>,
    /// True if wildcard mentions count as mentions; null for the user's default.
    wildcard_mentions_notify: Option<bool>,
}

impl SubscriptionRecord {
    /// The record of a channel and of the user's subscription to it; `None` if they never were subscribed.
    pub fn new(channel: Arc<ChannelRecord>, own: Option<&OwnSubscription>) -> Self {
        let personal = own.map(|own| PersonalRecord {
            color: own.color.clone(),
            is_muted: own.is_muted,
            in_home_view: !own.is_muted,
            pin_to_top: own.pin_to_top,
            desktop_notifications: own.desktop_notifications,
            audible_notifications: own.audible_notifications,
            push_notifications: own.push_notifications,
            email_notifications: own.email_notifications,
            wildcard_mentions_notify: own.wildcard_mentions_notify,
        });
        Self { channel, personal, subscribers: None, partial_subscribers: None }
    }

    /// True if the channel is archived.
    pub fn is_archived(&self) -> bool {
        self.channel.is_archived
    }

    /// Removes the list of all subscribers, for clients that did not ask for it.
    pub fn remove_subscribers(&mut self) {
        self.subscribers = None;
    }

    /// Replaces null by a user's defaults, for clients that do not support null.
    pub fn fill_nulls(&mut self, defaults: &NotificationDefaults) {
        if let Some(own) = &mut self.personal {
            own.desktop_notifications.get_or_insert(defaults.desktop_notifications);
            own.audible_notifications.get_or_insert(defaults.audible_notifications);
            own.push_notifications.get_or_insert(defaults.push_notifications);
            own.email_notifications.get_or_insert(defaults.email_notifications);
            own.wildcard_mentions_notify.get_or_insert(defaults.wildcard_mentions_notify);
        }
    }

    /// Adds the list of all subscribers.
    #[must_use]
    pub fn with_subscribers(mut self, subscribers: Arc<[UserId]>) -> Self {
        self.subscribers = Some(subscribers);
        self
    }
}

/// The lists of subscribers requested by `include_subscribers`.
pub enum SubscriberLists {
    No,
    /// All active subscribers.
    All(HashMap<StreamId, Vec<UserId>>),
    /// Bots and recently active users; of small channels all, too.
    Partial {
        /// Bots and recently active users.
        active: HashMap<StreamId, Vec<UserId>>,
        /// All active subscribers; null for channels with many.
        all: HashMap<StreamId, Option<Vec<UserId>>>,
    },
}

impl SubscriberLists {
    /// Loads the lists of all channels; `now` in UNIX seconds.
    pub fn load(connection: &Connection, wanted: Subscribers, now: i64) -> ApiResult<Self> {
        if wanted == Subscribers::No {
            return Ok(Self::No);
        }
        let mut lists = sql::all_subscribers(connection)?;
        if wanted == Subscribers::All {
            return Ok(Self::All(lists));
        }
        let few = |list: &Vec<UserId>| (list.len() < MIN_PARTIAL).then(|| list.clone());
        let all = lists.iter().map(|(stream_id, list)| (*stream_id, few(list))).collect();
        let active = sql::active_since(connection, now - PARTIAL_DAYS * SECONDS_PER_DAY)?;
        for list in lists.values_mut() {
            list.retain(|user_id| user_id.is_in(&active));
        }
        Ok(Self::Partial { active: lists, all })
    }

    /// Adds a channel's list to its record.
    pub fn add_to(&mut self, record: &mut SubscriptionRecord) {
        let stream_id = record.channel.stream_id;
        match self {
            Self::No => {}
            Self::All(lists) => {
                record.subscribers = Some(lists.remove(&stream_id).unwrap_or_default().into());
            }
            Self::Partial { active, all } => {
                record.partial_subscribers = Some(active.remove(&stream_id).unwrap_or_default().into());
                let all = all.remove(&stream_id).unwrap_or_else(|| Some(Vec::new()));
                record.subscribers = all.map(Into::into);
            }
        }
    }
}
