//! Events about subscriptions, and what of them each receiver gets.
//!
//! Members whose names begin with `_` are for that decision and are never sent.

use crate::domain::channels::events::without_hidden;
use crate::domain::subscriptions::record::SubscriptionRecord;
use crate::domain::subscriptions::sql::Defaults;
use crate::events::{Event, EventType, Receiver, Verdict};
use crate::types::{StreamId, UserId};
use roaring::RoaringBitmap;
use serde::Serialize;
use serde_json::{Value, json};

/// `subscription`, `op: add`: the receivers are subscribed to channels. Users who chose alike share one event.
#[derive(Serialize)]
pub struct SubscriptionsAdded {
    r#type: &'static str,
    op: &'static str,
    subscriptions: Vec<SubscriptionRecord>,
    /// What null means, for clients that want to be told.
    _defaults: Defaults,
    /// The channels are no longer archived, which only clients without archived channels hear in this way.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    _unarchived: bool,
}

impl SubscriptionsAdded {
    /// New subscriptions of users with these defaults.
    pub fn new(subscriptions: Vec<SubscriptionRecord>, defaults: Defaults) -> Self {
        Self { r#type: Self::TYPE, op: "add", subscriptions, _defaults: defaults, _unarchived: false }
    }

    /// Subscriptions that come back with a channel from the archive.
    pub fn unarchived(subscriptions: Vec<SubscriptionRecord>, defaults: Defaults) -> Self {
        Self { _unarchived: true, ..Self::new(subscriptions, defaults) }
    }
}

impl Event for SubscriptionsAdded {
    const TYPE: &'static str = "subscription";
}

/// `subscription`, `op: remove`: the receivers are no longer subscribed to channels.
#[derive(Serialize)]
pub struct SubscriptionsRemoved {
    r#type: &'static str,
    op: &'static str,
    subscriptions: Vec<Value>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    _is_archived: bool,
}

impl SubscriptionsRemoved {
    /// For channels that are all archived, or all not.
    pub fn new<'a>(streams: impl IntoIterator<Item = (StreamId, &'a str)>, is_archived: bool) -> Self {
        let subscriptions =
            streams.into_iter().map(|(stream_id, name)| json!({ "stream_id": stream_id, "name": name }));
        Self {
            r#type: Self::TYPE,
            op: "remove",
            subscriptions: subscriptions.collect(),
            _is_archived: is_archived,
        }
    }
}

impl Event for SubscriptionsRemoved {
    const TYPE: &'static str = "subscription";
}

/// `subscription`, `op: update`: the user chose something for a channel.
#[derive(Serialize)]
pub struct SubscriptionUpdated {
    r#type: &'static str,
    op: &'static str,
    stream_id: StreamId,
    property: &'static str,
    value: Value,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    _is_archived: bool,
}

impl SubscriptionUpdated {
    /// A property and its new value.
    pub fn new(stream_id: StreamId, property: &'static str, value: Value, is_archived: bool) -> Self {
        Self { r#type: Self::TYPE, op: "update", stream_id, property, value, _is_archived: is_archived }
    }
}

impl Event for SubscriptionUpdated {
    const TYPE: &'static str = "subscription";
}

/// Subscriptions come with their subscribers.
const WITH_SUBSCRIBERS: u8 = 1;

/// Null notification settings are filled in.
const WITHOUT_NULLS: u8 = 2;

/// Archived channels are left out.
const WITHOUT_ARCHIVED: u8 = 4;

/// How `subscription` events differ between receivers.
pub fn event_types() -> Vec<EventType> {
    vec![EventType { name: "subscription", verdict, form, personal: EventType::nothing_personal }]
}

fn verdict(event: &Value, receiver: &Receiver<'_>) -> Verdict {
    let registration = receiver.registration;
    let has_archived = registration.client_capabilities.archived_channels;
    if event["op"] != "add" {
        let is_archived = event["_is_archived"] == true;
        return if is_archived && !has_archived { Verdict::Skip } else { Verdict::Form(0) };
    }
    if event["_unarchived"] == true && has_archived {
        return Verdict::Skip;
    }
    let mut form = 0;
    if registration.include_subscribers {
        form |= WITH_SUBSCRIBERS;
    }
    if !registration.client_capabilities.notification_settings_null {
        form |= WITHOUT_NULLS;
    }
    if !has_archived {
        if subscriptions(event).all(is_archived) {
            return Verdict::Skip;
        }
        form |= WITHOUT_ARCHIVED;
    }
    Verdict::Form(form)
}

fn subscriptions(event: &Value) -> impl Iterator<Item = &Value> {
    event["subscriptions"].as_array().into_iter().flatten()
}

/// Whether a subscription on the wire is one of an archived channel.
pub fn is_archived(subscription: &Value) -> bool {
    subscription["is_archived"] == true
}

fn form(event: &Value, number: u8) -> String {
    let mut shown = without_hidden(event);
    if event["op"] == "add" {
        let wanted = subscriptions(event)
            .filter(|subscription| number & WITHOUT_ARCHIVED == 0 || !is_archived(subscription));
        shown["subscriptions"] =
            wanted.map(|subscription| subscription_form(subscription, &event["_defaults"], number)).collect();
    }
    shown.to_string()
}

fn subscription_form(subscription: &Value, defaults: &Value, number: u8) -> Value {
    let members = subscription.as_object().into_iter().flatten();
    let wanted = members.filter(|(name, _)| *name != "subscribers" || number & WITH_SUBSCRIBERS != 0);
    let filled = wanted.map(|(name, value)| {
        let fills = value.is_null() && number & WITHOUT_NULLS != 0;
        let default = defaults.get(name).filter(|_| fills);
        (name.clone(), default.unwrap_or(value).clone())
    });
    Value::Object(filled.collect())
}

/// The users of an event, as a set.
pub fn set(users: &[UserId]) -> RoaringBitmap {
    users.iter().filter_map(|user_id| user_id.bit()).collect()
}
