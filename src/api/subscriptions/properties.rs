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

/// An element of `subscription_data`.
#[derive(Deserialize)]
struct PropertyChange {
    /// A channel that the caller is subscribed to.
    stream_id: StreamId,
    /// `color`, `is_muted`, `in_home_view`, `pin_to_top`, or the name of a notification setting.
    property: String,
    /// A colour for `color`, a boolean for the others.
    value: Value,
}

/// Parameters of `POST /users/me/subscriptions/properties`.
#[derive(Deserialize)]
pub struct PropertiesParams {
    /// The changes, which are made in this order: objects with `stream_id`, `property` and `value`.
    subscription_data: Vec<PropertyChange>,
}

/// `POST /users/me/subscriptions/properties`. If one change fails, none is made.
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
    /// A channel that the caller is subscribed to.
    stream_id: StreamId,
    /// `color`, `is_muted`, `in_home_view`, `pin_to_top`, or the name of a notification setting.
    property: String,
    /// A colour for `color`, a boolean for the others.
    value: JsonOrText,
}

/// `PATCH /users/me/subscriptions/{stream_id}`.
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
