//! `POST /channels/create`: creates one channel with its first subscribers (feature level 417).

use crate::domain::channels::{rules, sql};
use crate::domain::limits;
use crate::domain::limits::{MAX_STREAM_DESCRIPTION_LENGTH, MAX_SUBSCRIPTIONS_PER_REQUEST, organization};
use crate::domain::membership::create_channel::{CreationParams, NewChannel};
use crate::domain::membership::{create_channel, subscribe};
use crate::domain::notices;
use crate::domain::notices::channels as channel_notices;
use crate::domain::subscriptions::principals;
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Call, Caller, Params2, Reply, User};
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Parameters of `POST /channels/create`, beside those of a new channel.
#[derive(Deserialize)]
pub struct CreateParams {
    /// Unique among the channels, upper and lower case alike; at most 60 characters.
    name: String,
    /// Markdown, one line.
    #[serde(default)]
    description: BoundedText<MAX_STREAM_DESCRIPTION_LENGTH>,
    /// The users to subscribe; may be empty.
    #[serde(default)]
    subscribers: Vec<UserId>,
    /// Whether the notification bot announces the channel.
    #[serde(default)]
    announce: bool,
}

/// The reply to `POST /channels/create`.
#[derive(Serialize)]
pub struct CreatedChannel {
    /// The channel.
    pub id: StreamId,
}

/// `POST /channels/create`: creates a channel and returns its `id`.
pub async fn create(
    call: Call<User>,
    Params2(params, creation): Params2<CreateParams, CreationParams>,
) -> ApiResult<Reply<CreatedChannel>> {
    let subscriptions = params.subscribers.len();
    limits::check("subscriptions in one request", subscriptions, MAX_SUBSCRIPTIONS_PER_REQUEST)?;
    let named = (rules::name(&params.name)?, rules::description(&params.description));
    let channel = create_channel::prepare_channels(&call, vec![named])
        .await?
        .pop()
        .ok_or_else(|| ApiError::internal("one channel was asked for and none was prepared"))?;
    let job = move |tx: &mut Tx<'_>, caller: &User| create_one(tx, caller, &params, &creation, channel);
    Reply::data(&CreatedChannel { id: call.write(job).await? })
}

fn create_one(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: &CreateParams,
    creation: &CreationParams,
    channel: NewChannel,
) -> ApiResult<StreamId> {
    if caller.is_guest() {
        return Err(ApiError::bad_request("Not allowed for guest users"));
    }
    if sql::by_name(tx, &channel.name)?.is_some() || rules::looks_like_another(tx, &channel.name, None)? {
        return Err(already_exists(&channel.name));
    }
    let subscribers = principals::resolve_ids(tx, &params.subscribers)?;
    organization::check_subscriptions(tx, caller, subscribers.len())?;
    let created = create_channel::create_channels(tx, caller, &[channel], creation)?;
    let [stream] = created.as_slice() else {
        return Err(ApiError::internal("one new channel did not give one row"));
    };
    subscribe::subscribe_users(tx, &created, &subscribers, &HashMap::new())?;
    let by = notices::name_of(tx, caller)?;
    let mut notices = vec![channel_notices::created(stream, &by)];
    if params.announce {
        notices.extend(channel_notices::announced(tx, &created, &by)?);
    }
    channel_notices::send(tx, notices, caller.user_id)?;
    Ok(stream.stream_id)
}

fn already_exists(name: &str) -> ApiError {
    ApiError::new(409, "CHANNEL_ALREADY_EXISTS", format!("Channel '{name}' already exists"))
        .with("channel_name", name)
}
