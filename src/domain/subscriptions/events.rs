//! Events about subscriptions, and their variants.

use crate::domain::channels::events::ChannelRouting;
use crate::domain::subscriptions::record::SubscriptionRecord;
use crate::domain::subscriptions::rules::SubscriptionValue;
use crate::domain::subscriptions::sql::NotificationDefaults;
use crate::events::{Event, Form, Receiver, Routed, uniform_event};
use crate::types::{StreamId, UserId};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// `subscription`, `op: add`: the receiver was subscribed to channels.
#[derive(Serialize, Deserialize)]
pub struct SubscriptionsAdded {
    subscriptions: Vec<SubscriptionRecord>,
}

/// Routing of a [`SubscriptionsAdded`].
#[derive(Serialize, Deserialize)]
pub struct SubscriptionsAddedRouting {
    /// Values in place of null, for clients that do not support it.
    defaults: NotificationDefaults,
    /// The channels are no longer archived, which only clients without archived channels learn in this way.
    is_unarchived: bool,
}

/// Variant of a [`SubscriptionsAdded`] for a client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SubscriptionsForm {
    /// Subscriptions come with their subscribers.
    has_subscribers: bool,
    /// Null notification settings stay null.
    knows_null: bool,
    /// Includes archived channels.
    has_archived: bool,
}

impl SubscriptionsAdded {
    /// The event for new subscriptions of users with these defaults.
    pub fn new(subscriptions: Vec<SubscriptionRecord>, defaults: NotificationDefaults) -> Routed<Self> {
        let routing = SubscriptionsAddedRouting { defaults, is_unarchived: false };
        Routed { event: Self { subscriptions }, routing }
    }

    /// The event for subscriptions that come back with a channel from the archive.
    pub fn unarchived(
        subscriptions: Vec<SubscriptionRecord>,
        defaults: NotificationDefaults,
    ) -> Routed<Self> {
        let routing = SubscriptionsAddedRouting { defaults, is_unarchived: true };
        Routed { event: Self { subscriptions }, routing }
    }
}

impl Event for SubscriptionsAdded {
    const TYPE: &'static str = "subscription";
    const OP: Option<&'static str> = Some("add");
    const NAME: &'static str = "subscription/add";
    const VERSION: u32 = 1;
    type Routing = SubscriptionsAddedRouting;
    type Variant = SubscriptionsForm;

    fn deliver(
        &self,
        routing: &SubscriptionsAddedRouting,
        receiver: &Receiver<'_>,
    ) -> Option<SubscriptionsForm> {
        let capabilities = &receiver.registration.client_capabilities;
        let has_archived = capabilities.archived_channels;
        let is_news = if has_archived {
            !routing.is_unarchived
        } else {
            self.subscriptions.iter().any(|subscription| !subscription.is_archived())
        };
        is_news.then_some(SubscriptionsForm {
            has_subscribers: receiver.registration.include_subscribers,
            knows_null: capabilities.notification_settings_null,
            has_archived,
        })
    }

    fn form(&self, routing: &SubscriptionsAddedRouting, form: SubscriptionsForm) -> serde_json::Result<Form> {
        let mut subscriptions = self.subscriptions.clone();
        if !form.has_archived {
            subscriptions.retain(|subscription| !subscription.is_archived());
        }
        for subscription in &mut subscriptions {
            if !form.has_subscribers {
                subscription.remove_subscribers();
            }
            if !form.knows_null {
                subscription.fill_nulls(&routing.defaults);
            }
        }
        Form::of(&Self { subscriptions })
    }
}

/// `subscription`, `op: remove`: the receiver was unsubscribed from channels.
#[derive(Serialize, Deserialize)]
pub struct SubscriptionsRemoved {
    /// The channels.
    subscriptions: Vec<RemovedSubscription>,
}

#[derive(Serialize, Deserialize)]
struct RemovedSubscription {
    /// The id of the channel.
    stream_id: StreamId,
    /// The name of the channel.
    name: String,
}

impl SubscriptionsRemoved {
    /// The event for channels that are all archived, or all not.
    pub fn new<'a>(
        streams: impl IntoIterator<Item = (StreamId, &'a str)>,
        is_archived: bool,
    ) -> Routed<Self> {
        let removed = |(stream_id, name): (_, &str)| RemovedSubscription { stream_id, name: name.to_owned() };
        let subscriptions = streams.into_iter().map(removed).collect();
        Routed { event: Self { subscriptions }, routing: ChannelRouting { is_archived } }
    }
}

uniform_event!(
    SubscriptionsRemoved: "subscription", op "remove", version 1,
    routing ChannelRouting, if ChannelRouting::reaches
);

/// `subscription`, `op: update`: a property of the user's subscription to a channel changed.
#[derive(Serialize, Deserialize)]
pub struct SubscriptionUpdated {
    /// The id of the channel.
    stream_id: StreamId,
    /// The property: `color`, `is_muted`, `in_home_view`, `pin_to_top`, or a notification setting.
    property: Cow<'static, str>,
    /// The new value.
    value: SubscriptionValue,
}

impl SubscriptionUpdated {
    /// The event for a property and its new value.
    pub fn new(
        stream_id: StreamId,
        property: &'static str,
        value: SubscriptionValue,
        is_archived: bool,
    ) -> Routed<Self> {
        let event = Self { stream_id, property: property.into(), value };
        Routed { event, routing: ChannelRouting { is_archived } }
    }
}

uniform_event!(
    SubscriptionUpdated: "subscription", op "update", version 1,
    routing ChannelRouting, if ChannelRouting::reaches
);

/// The users of an event, as a set.
pub fn set(users: &[UserId]) -> RoaringBitmap {
    users.iter().filter_map(|user_id| user_id.bit()).collect()
}
