//! `POST /channels/create`: one new channel with its first subscribers (feature level 417).

use crate::domain::channels::{rules, sql};
use crate::domain::limits::MAX_STREAM_DESCRIPTION_LENGTH;
use crate::domain::membership::create_channel::{CreationParams, NewChannel};
use crate::domain::membership::{create_channel, subscribe};
use crate::domain::notices as domain_notices;
use crate::domain::notices::channels;
use crate::domain::subscriptions::principals;
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Call, Caller, Params2, Reply, User};
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use serde::Deserialize;
use std::collections::HashMap;

/// Parameters of `POST /channels/create`, beside those of a new channel.
#[derive(Deserialize)]
pub struct CreateParams {
    /// The name.
    name: String,
    /// Markdown.
    #[serde(default)]
    description: BoundedText<MAX_STREAM_DESCRIPTION_LENGTH>,
    /// Who is subscribed; may be nobody.
    #[serde(default)]
    subscribers: Vec<UserId>,
    /// Whether the notification bot announces the channel.
    #[serde(default)]
    announce: bool,
}

/// `POST /channels/create`: makes a channel and answers its `id`.
pub async fn create(
    call: Call<User>,
    Params2(params, creation): Params2<CreateParams, CreationParams>,
) -> ApiResult<Reply> {
    let named = (rules::name(&params.name)?, rules::description(&params.description));
    let channel = create_channel::new_channels(&call, vec![named])
        .await?
        .pop()
        .ok_or_else(|| ApiError::internal("one channel was asked for and none was prepared"))?;
    let job = move |tx: &mut Tx<'_>, caller: &User| make_one(tx, caller, &params, &creation, channel);
    Reply::field("id", &call.write(job).await?)
}

fn make_one(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: &CreateParams,
    creation: &CreationParams,
    channel: NewChannel,
) -> ApiResult<StreamId> {
    if caller.is_guest() {
        return Err(ApiError::bad_request("Not allowed for guest users"));
    }
    if sql::by_name(tx, &channel.name)?.is_some() {
        return Err(already_exists(&channel.name));
    }
    let subscribers = principals::by_ids(tx, &params.subscribers)?;
    let made = create_channel::channels(tx, caller, &[channel], creation)?;
    let [stream] = made.as_slice() else {
        return Err(ApiError::internal("one new channel did not give one row"));
    };
    subscribe::subscribe(tx, &made, &subscribers, &HashMap::new())?;
    let by = domain_notices::name_of(tx, caller)?;
    let mut notices = vec![channels::created(stream, &by)];
    if params.announce {
        notices.extend(channels::announced(tx, &made, &by)?);
    }
    channels::send(tx, notices, caller.user_id)?;
    Ok(stream.stream_id)
}

fn already_exists(name: &str) -> ApiError {
    ApiError::new(409, "CHANNEL_ALREADY_EXISTS", format!("Channel '{name}' already exists"))
        .with("channel_name", name)
}
