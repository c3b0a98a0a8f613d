//! `PATCH /users/me/subscriptions`: subscribes and unsubscribes the caller in one request, for clients below feature
//! level 512.

use crate::api::subscriptions::subscribe::{RequestedChannel, SubscribeParams, SubscribeReply};
use crate::api::subscriptions::{subscribe, unsubscribe};
use crate::domain::channel_commands::create_channel::NewChannelProperties;
use crate::domain::channel_commands::unsubscribe::UnsubscribeResult;
use crate::http::{ApiError, ApiResult, Call, Reply, User};
use crate::store::Tx;
use serde::{Deserialize, Serialize};

/// Parameters of `PATCH /users/me/subscriptions`.
#[derive(Deserialize)]
pub struct PatchParams {
    /// The channels to subscribe to: objects with `name`, and optionally `description` and `color`. Missing channels
    /// are created.
    #[serde(default)]
    add: Vec<RequestedChannel>,
    /// The names of channels to unsubscribe from.
    #[serde(default)]
    delete: Vec<String>,
}

#[derive(Serialize)]
pub struct PatchReply {
    #[serde(flatten)]
    subscribed: SubscribeReply,
    #[serde(flatten)]
    unsubscribed: UnsubscribeResult,
}

/// `PATCH /users/me/subscriptions`: subscribes the caller to channels and unsubscribes them from others, all or none.
pub async fn patch(call: Call<User>, params: PatchParams) -> ApiResult<Reply<PatchReply>> {
    if params.add.is_empty() && params.delete.is_empty() {
        let msg = r#"Nothing to do. Specify at least one of "add" or "delete"."#;
        return Err(ApiError::bad_request(msg));
    }
    let channels = subscribe::prepare(&call, &params.add).await?;
    let job = move |tx: &mut Tx<'_>, caller: &User| {
        let (options, properties) = (SubscribeParams::default(), NewChannelProperties::default());
        // One user is one job.
        let (subscribed, _) = subscribe::subscribe_to_channels(tx, caller, &options, &properties, channels)?;
        let unsubscribed = unsubscribe::unsubscribe_caller(tx, caller, &params.delete)?;
        Reply::data(&PatchReply { subscribed, unsubscribed })
    };
    call.write(job).await
}
