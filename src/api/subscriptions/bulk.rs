//! `PATCH /users/me/subscriptions`: joining and leaving channels in one request, which older clients send (until feature
//! level 512).

use crate::api::subscriptions::subscribe::{SubscribeParams, SubscribeReply, WantedChannel};
use crate::api::subscriptions::{subscribe, unsubscribe};
use crate::domain::membership::create_channel::CreationParams;
use crate::domain::membership::unsubscribe as leave;
use crate::http::{ApiError, ApiResult, Call, Reply, User};
use crate::store::Tx;
use serde::{Deserialize, Serialize};

/// Parameters of `PATCH /users/me/subscriptions`.
#[derive(Deserialize)]
pub struct BulkParams {
    /// Channels to join; those that are not there are made.
    #[serde(default)]
    add: Vec<WantedChannel>,
    /// Names of channels to leave.
    #[serde(default)]
    delete: Vec<String>,
}

#[derive(Serialize)]
struct BulkReply {
    #[serde(flatten)]
    joined: SubscribeReply,
    #[serde(flatten)]
    left: leave::Outcome,
}

/// `PATCH /users/me/subscriptions`: both, or neither when one fails.
pub async fn update(call: Call<User>, params: BulkParams) -> ApiResult<Reply> {
    if params.add.is_empty() && params.delete.is_empty() {
        let msg = r#"Nothing to do. Specify at least one of "add" or "delete"."#;
        return Err(ApiError::bad_request(msg));
    }
    let named = subscribe::prepare(&call, &params.add).await?;
    let job = move |tx: &mut Tx<'_>, caller: &User| {
        let (own, new) = (SubscribeParams::default(), CreationParams::default());
        let joined = subscribe::subscribe_all(tx, caller, &own, &new, named)?;
        let left = unsubscribe::leave_own(tx, caller, &params.delete)?;
        Ok(BulkReply { joined, left })
    };
    Reply::data(&call.write(job).await?)
}
