//! `POST /users/me/subscriptions/properties` and `PATCH /users/me/subscriptions/{stream_id}`: changes the colour,
//! muting, pinning and notifications of the caller's subscriptions.

use crate::domain::limits::MAX_PROPERTIES_PER_REQUEST;
use crate::domain::subscriptions::events::SubscriptionUpdated;
use crate::domain::subscriptions::rules::SubscriptionProperty;
use crate::domain::{access, limits, rows, subscriptions};
use crate::events::Audience;
use crate::http::{ApiError, ApiResult, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{JsonOrText, StreamId};
use serde::Deserialize;
use serde_json::Value;

/// A change of a property of a subscription.
#[derive(Deserialize)]
struct PropertyChange {
    /// The id of a channel that the caller is subscribed to.
    stream_id: StreamId,
    /// `color`, `is_muted`, `pin_to_top`, a notification setting such as `desktop_notifications`, or the deprecated
    /// `in_home_view`.
    property: String,
    /// The new value: a color such as `#76ce90` for `color`, otherwise a boolean.
    value: Value,
}

/// Parameters of `POST /users/me/subscriptions/properties`.
#[derive(Deserialize)]
pub struct PropertiesParams {
    /// The changes, at most 500, in this order: objects with `stream_id`, `property` and `value`.
    subscription_data: Vec<PropertyChange>,
}

/// `POST /users/me/subscriptions/properties`: changes properties of the caller's subscriptions, all or none.
pub fn update_many(tx: &mut Tx<'_>, caller: &User, params: PropertiesParams) -> ApiResult<Reply> {
    limits::check("changes in one request", params.subscription_data.len(), MAX_PROPERTIES_PER_REQUEST)?;
    let parse = |change: PropertyChange| {
        Ok((change.stream_id, SubscriptionProperty::parse(&change.property, &change.value)?))
    };
    let changes = params.subscription_data.into_iter().map(parse).collect::<ApiResult<Vec<_>>>()?;
    for (stream_id, property) in &changes {
        update(tx, caller, *stream_id, property)?;
    }
    Ok(Reply::ok())
}

/// Parameters of `PATCH /users/me/subscriptions/{stream_id}`.
#[derive(Deserialize)]
pub struct PropertyParams {
    /// The id of a channel that the caller is subscribed to.
    stream_id: StreamId,
    /// `color`, `is_muted`, `pin_to_top`, a notification setting such as `desktop_notifications`, or the deprecated
    /// `in_home_view`.
    property: String,
    /// The new value: a color such as `#76ce90` for `color`, otherwise a boolean.
    value: JsonOrText,
}

/// `PATCH /users/me/subscriptions/{stream_id}`: changes a property of a subscription of the caller.
pub fn update_one(tx: &mut Tx<'_>, caller: &User, params: PropertyParams) -> ApiResult<Reply> {
    let value = match params.value {
        JsonOrText::Json(value) => value,
        JsonOrText::Text(text) => text.into(),
    };
    update(tx, caller, params.stream_id, &SubscriptionProperty::parse(&params.property, &value)?)?;
    Ok(Reply::ok())
}

fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    stream_id: StreamId,
    property: &SubscriptionProperty,
) -> ApiResult<()> {
    let stream = access::channels::find_for_content(tx.ctx(caller), stream_id)?;
    if !rows::channel::is_subscribed(tx, caller.user_id, stream_id)? {
        return Err(ApiError::bad_request(format!("Not subscribed to channel ID {stream_id}")));
    }
    subscriptions::update_property(tx, caller.user_id, stream_id, property)?;
    for (property, value) in property.event_values() {
        let event = SubscriptionUpdated::new(stream_id, property, value, stream.is_archived);
        tx.emit(event, Audience::user(caller.user_id));
    }
    Ok(())
}
