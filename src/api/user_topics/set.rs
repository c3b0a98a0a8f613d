//! `POST /user_topics`: sets the caller's policy for a topic.

use crate::domain::access::channels;
use crate::domain::messages::destination::read_topic;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::rules;
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Reply, User};
use crate::store::Tx;
use crate::types::{StreamId, Topic};
use serde::Deserialize;

/// Parameters of `POST /user_topics`.
#[derive(Deserialize)]
pub struct UserTopicParams {
    /// The channel.
    stream_id: StreamId,
    /// The topic; it need not have messages.
    topic: BoundedText<{ Topic::MAX_LENGTH }>,
    /// 0 as the channel, 1 muted, 2 unmuted, 3 followed.
    visibility_policy: i64,
}

/// `POST /user_topics`.
pub fn update_user_topic(tx: &mut Tx<'_>, caller: &User, params: UserTopicParams) -> ApiResult<Reply> {
    let policy = VisibilityPolicy::from_number(params.visibility_policy)
        .ok_or_else(|| ApiError::bad_request("Invalid visibility_policy"))?;
    let topic = read_topic(&params.topic)?;
    let stream = match policy {
        VisibilityPolicy::Inherit => {
            rules::find_to_remove(tx, caller, params.stream_id, channels::no_such_channel)?
        }
        _ => rules::find_to_set(tx, caller, params.stream_id)?,
    };
    rules::set(tx, caller.user_id, stream.stream_id, &topic, policy)?;
    Ok(Reply::ok())
}
