//! `GET /users/me/subscriptions`, `GET /users/{user_id}/subscriptions/{stream_id}`, `GET /streams/{stream_id}/members`,
//! and the subscriptions in the state of `POST /register`.

use crate::api::resource::{State, StateRequest};
use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::channels::record::Records;
use crate::domain::subscriptions::record::{SubscriberLists, Subscribers, SubscriptionRecord};
use crate::domain::subscriptions::{NotificationDefaults, OwnSubscription};
use crate::domain::{access, channels, rows, subscriptions, users};
use crate::http::{ApiResult, Read, Reply, User};
use crate::types::{StreamId, UserId};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;

/// Parameters of `GET /users/me/subscriptions`.
#[derive(Deserialize)]
pub struct SubscriptionsParams {
    /// The lists of subscribers: `true` for all, `false` (the default) for none, `partial` for bots and recently active
    /// users only, where a channel has many.
    #[serde(default)]
    include_subscribers: Subscribers,
}

/// The reply to `GET /users/me/subscriptions`.
#[derive(Serialize)]
pub struct Subscriptions {
    /// The caller's subscriptions, by the name of the channel.
    pub subscriptions: Vec<SubscriptionRecord>,
}

/// `GET /users/me/subscriptions`: lists the caller's subscriptions to channels that are not archived, by name.
pub fn subscriptions(read: &Read<'_, User>, params: SubscriptionsParams) -> ApiResult<Reply<Subscriptions>> {
    let now = read.app.clock.seconds();
    let own = subscriptions::list_active(read, read.caller.user_id)?;
    let own: HashMap<StreamId, OwnSubscription> = own.into_iter().map(|own| (own.stream_id, own)).collect();
    let records = Records::new(read, now, &read.app.channel_traffic)?;
    let mut lists = SubscriberLists::load(read, params.include_subscribers, now)?;
    let mut subscriptions = Vec::with_capacity(own.len());
    for stream in channels::all(read)?.iter().filter(|stream| !stream.is_archived) {
        if let Some(own) = own.get(&stream.stream_id) {
            let mut record = SubscriptionRecord::new(Arc::new(records.of(stream)?), Some(own));
            lists.add_to(&mut record);
            subscriptions.push(record);
        }
    }
    Reply::data(&Subscriptions { subscriptions })
}

/// Parameters of `GET /users/{user_id}/subscriptions/{stream_id}`.
#[derive(Deserialize)]
pub struct StatusParams {
    /// The id of an active user whom the caller can access.
    user_id: UserId,
    /// The id of a channel whose metadata the caller may see.
    stream_id: StreamId,
}

/// The reply to `GET /users/{user_id}/subscriptions/{stream_id}`.
#[derive(Serialize)]
pub struct IsSubscribed {
    /// True if the user is subscribed.
    pub is_subscribed: bool,
}

/// `GET /users/{user_id}/subscriptions/{stream_id}`: returns true if a user is subscribed to a channel.
pub fn status(read: &Read<'_, User>, params: StatusParams) -> ApiResult<Reply<IsSubscribed>> {
    let user = rows::user::by_id(read, params.user_id)?.filter(|user| !user.is_system_bot);
    let user = user.ok_or_else(users::find::no_such_user)?;
    user.check_is_active()?;
    access::users::check(read, read.caller, &user)?;
    let stream = access::channels::find_for_metadata(read.ctx(), params.stream_id)?;
    Reply::data(&IsSubscribed {
        is_subscribed: rows::channel::is_subscribed(read, user.user_id, stream.stream_id)?,
    })
}

/// Parameters of `GET /streams/{stream_id}/members`.
#[derive(Deserialize)]
pub struct MembersParams {
    /// The id of a channel whose metadata the caller may see.
    stream_id: StreamId,
}

/// The reply to `GET /streams/{stream_id}/members`.
#[derive(Serialize)]
pub struct SubscriberIds {
    /// User ids, ascending.
    pub subscribers: Vec<u32>,
}

/// `GET /streams/{stream_id}/members`: lists the ids of the active users who are subscribed to a channel, ascending.
pub fn members(read: &Read<'_, User>, params: MembersParams) -> ApiResult<Reply<SubscriberIds>> {
    let stream = access::channels::find_for_metadata(read.ctx(), params.stream_id)?;
    let subscribers: Vec<u32> = rows::channel::subscribers(read, stream.stream_id)?.iter().collect();
    Reply::data(&SubscriberIds { subscribers })
}

/// The channels of `POST /register` by the caller's subscriptions: `subscriptions` for current ones, `unsubscribed` for
/// ended ones, and `never_subscribed` for the other channels whose metadata the caller may see. Each list is sorted by
/// name. The channels of visitors are in `subscriptions`.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let (connection, capabilities) = (request.connection, request.registration.client_capabilities);
    let viewer = Viewer::new(Ctx::new(connection, request.caller, request.now));
    let records = Records::new(connection, request.now, &request.app.channel_traffic)?;
    let mut lists = SubscriberLists::load(connection, request.include_subscribers, request.now)?;
    let own = subscriptions::list_with_ended(connection, request.caller.user_id)?;
    let mut own: HashMap<StreamId, _> = own.into_iter().map(|own| (own.0.stream_id, own)).collect();
    if !capabilities.notification_settings_null {
        let defaults = NotificationDefaults::load(connection, request.caller.user_id)?;
        for (own, _) in own.values_mut() {
            defaults.fill(own);
        }
    }
    let (mut subscribed, mut unsubscribed, mut never_subscribed) = (Vec::new(), Vec::new(), Vec::new());
    for stream in channels::all(connection)? {
        if (stream.is_archived && !capabilities.archived_channels) || !viewer.can_see(&stream)? {
            continue;
        }
        if request.caller.is_visitor() {
            let own = OwnSubscription::of_visitor(&stream, subscribed.len());
            subscribed.push(SubscriptionRecord::new(Arc::new(records.of(&stream)?), Some(&own)));
            continue;
        }
        let own = own.get(&stream.stream_id);
        let mut record = SubscriptionRecord::new(Arc::new(records.of(&stream)?), own.map(|(own, _)| own));
        lists.add_to(&mut record);
        match own {
            Some((_, true)) => subscribed.push(record),
            Some((_, false)) => unsubscribed.push(record),
            None => never_subscribed.push(record),
        }
    }
    state.set::<Vec<SubscriptionRecord>>("subscriptions", &subscribed)?;
    state.set::<Vec<SubscriptionRecord>>("unsubscribed", &unsubscribed)?;
    state.set::<Vec<SubscriptionRecord>>("never_subscribed", &never_subscribed)
}
