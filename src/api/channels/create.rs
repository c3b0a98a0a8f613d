//! `POST /channels/create`: creates one channel with its first subscribers (feature level 417).

use crate::api::channel_params::CreationParams;
use crate::domain::channel_commands::create_channel::{NewChannel, NewChannelProperties};
use crate::domain::channel_commands::parts::{Later, Parts};
use crate::domain::channel_commands::subscribe::SubscribeResult;
use crate::domain::channel_commands::{create_channel, subscribe};
use crate::domain::limits::{MAX_STREAM_DESCRIPTION_LENGTH, organization};
use crate::domain::subscriptions::{members, principals};
use crate::domain::{channels, notices, realm, rows};
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Call, Caller, Params2, Reply, User};
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Parameters of `POST /channels/create`, beside those of a new channel.
#[derive(Deserialize)]
pub struct CreateParams {
    /// The name, 1 to 60 characters. Channels have different names, regardless of case.
    name: String,
    /// The description in Markdown, at most 1024 characters; empty by default. Line breaks become spaces.
    #[serde(default)]
    description: BoundedText<MAX_STREAM_DESCRIPTION_LENGTH>,
    /// The ids of the users to subscribe; by default none.
    #[serde(default)]
    subscribers: Vec<UserId>,
    /// True if the notification bot announces the channel; false by default.
    #[serde(default)]
    announce: bool,
}

/// The reply to `POST /channels/create`.
#[derive(Serialize)]
pub struct CreatedChannel {
    /// The id of the new channel.
    pub id: StreamId,
}

/// `POST /channels/create`: creates a channel with its first subscribers, and returns its id.
pub async fn create(
    call: Call<User>,
    Params2(params, creation): Params2<CreateParams, CreationParams>,
) -> ApiResult<Reply<CreatedChannel>> {
    organization::check_subscriptions_of_request(&call.caller, 1, params.subscribers.len())?;
    let named = (channels::rules::name(&params.name)?, channels::rules::description(&params.description));
    let channel = create_channel::prepare_channels(&call.app, &call.caller, &call.info.origin, vec![named])
        .await?
        .pop()
        .ok_or_else(|| ApiError::internal("one channel was asked for and none was prepared"))?;
    let properties = creation.into_properties();
    let job = move |tx: &mut Tx<'_>, caller: &User| create_one(tx, caller, &params, &properties, channel);
    let (id, later) = call.write(job).await?;
    later.wait(drop).await?;
    Reply::data(&CreatedChannel { id })
}

fn create_one(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: &CreateParams,
    properties: &NewChannelProperties,
    channel: NewChannel,
) -> ApiResult<(StreamId, Later<SubscribeResult>)> {
    caller.check_is_not_guest()?;
    if channels::by_name(tx, &channel.name)?.is_some()
        || channels::rules::looks_like_another(tx, &channel.name, None)?
    {
        return Err(already_exists(&channel.name));
    }
    let subscribers = principals::resolve_ids(tx, &params.subscribers)?;
    organization::check_subscriptions(caller, members::count(tx)?, subscribers.len())?;
    let created = create_channel::create_channels(tx, caller, &[channel], properties)?;
    let [stream] = created.as_slice() else {
        return Err(ApiError::internal("one new channel did not give one row"));
    };
    let mut parts = Parts::split(&subscribers, 1);
    subscribe::subscribe_users(tx, &created, &parts.take_first(), &HashMap::new())?;
    let by = notices::name_of(tx, caller)?;
    let mut notices = vec![notices::channels::created(realm::common_language(tx)?, stream, &by)];
    if params.announce {
        notices.extend(notices::channels::announced(tx, &created, &by)?);
    }
    notices::channels::send(tx, notices, caller.user_id)?;
    let stream_id = stream.stream_id;
    let later = parts.run_later(tx, caller, move |tx, _, users| {
        let streams: Vec<_> = rows::channel::by_id(tx, stream_id)?.into_iter().collect();
        subscribe::subscribe_users(tx, &streams, users, &HashMap::new())
    });
    Ok((stream_id, later))
}

fn already_exists(name: &str) -> ApiError {
    ApiError::new(409, "CHANNEL_ALREADY_EXISTS", format!("Channel '{name}' already exists"))
        .with("channel_name", name)
}
