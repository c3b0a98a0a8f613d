//! `POST /users/me/subscriptions/properties` and `PATCH /users/me/subscriptions/{stream_id}`: colour, muting, pinning
//! and notifications of one's own subscriptions.

use crate::auth::Ctx;
use crate::domain::access::{channel_rows, channels};
use crate::domain::subscriptions::events::SubscriptionUpdated;
use crate::domain::subscriptions::rules::Choice;
use crate::domain::subscriptions::sql as subscriptions_sql;
use crate::events::Audience;
use crate::http::params::JsonOrText;
use crate::http::{ApiError, ApiResult, Caller, Reply, User};
use crate::store::Tx;
use crate::types::StreamId;
use serde::Deserialize;
use serde_json::Value;

/// One change.
#[derive(Deserialize)]
struct PropertyChange {
    /// The channel.
    stream_id: StreamId,
    /// What of the subscription.
    property: String,
    /// A boolean, or a colour.
    value: Value,
}

/// Parameters of `POST /users/me/subscriptions/properties`.
#[derive(Deserialize)]
pub struct PropertiesParams {
    /// The changes, in order.
    subscription_data: Vec<PropertyChange>,
}

/// `POST /users/me/subscriptions/properties`: many changes, all or none.
pub fn update_many(tx: &mut Tx<'_>, caller: &User, params: PropertiesParams) -> ApiResult<Reply> {
    let read =
        |change: PropertyChange| Ok((change.stream_id, Choice::read(&change.property, &change.value)?));
    let choices = params.subscription_data.into_iter().map(read).collect::<ApiResult<Vec<_>>>()?;
    for (stream_id, choice) in &choices {
        choose(tx, caller, *stream_id, choice)?;
    }
    Ok(Reply::ok())
}

/// Parameters of `PATCH /users/me/subscriptions/{stream_id}`.
#[derive(Deserialize)]
pub struct PropertyParams {
    /// The channel.
    stream_id: StreamId,
    /// What of the subscription.
    property: String,
    /// A boolean, or a colour.
    value: JsonOrText,
}

/// `PATCH /users/me/subscriptions/{stream_id}`: one change.
pub fn update_one(tx: &mut Tx<'_>, caller: &User, params: PropertyParams) -> ApiResult<Reply> {
    let value = match params.value {
        JsonOrText::Json(value) => value,
        JsonOrText::Text(text) => text.into(),
    };
    choose(tx, caller, params.stream_id, &Choice::read(&params.property, &value)?)?;
    Ok(Reply::ok())
}

fn choose(tx: &mut Tx<'_>, caller: &Caller, stream_id: StreamId, choice: &Choice) -> ApiResult<()> {
    let stream = channels::find_for_content(Ctx::in_job(tx, caller), stream_id)?;
    if !channel_rows::is_subscribed(tx, caller.user_id, stream_id)? {
        return Err(ApiError::bad_request(format!("Not subscribed to channel ID {stream_id}")));
    }
    subscriptions_sql::set_choice(tx, caller.user_id, stream_id, choice)?;
    for (property, value) in choice.told() {
        let event = SubscriptionUpdated::new(stream_id, property, value, stream.is_archived);
        tx.emit(event, Audience::user(caller.user_id));
    }
    Ok(())
}
