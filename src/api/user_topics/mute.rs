//! `PATCH /users/me/subscriptions/muted_topics`: mutes and unmutes a topic. Deprecated for `POST /user_topics`.

use crate::domain::access::channel_rows::StreamRow;
use crate::domain::channels::sql as channels;
use crate::domain::messages::destination::read_topic;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::rules;
use crate::http::params::BoundedText;
use crate::http::{ApiError, ApiResult, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{StreamId, Topic};
use serde::Deserialize;

/// Parameters of `PATCH /users/me/subscriptions/muted_topics`.
#[derive(Deserialize)]
pub struct MutedTopicParams {
    /// The channel by id; this or `stream`.
    #[serde(default)]
    stream_id: Option<StreamId>,
    /// The channel by name.
    #[serde(default)]
    stream: Option<String>,
    /// The topic; it need not have messages.
    topic: BoundedText<{ Topic::MAX_LENGTH }>,
    /// `add` or `remove`.
    op: String,
}

/// `PATCH /users/me/subscriptions/muted_topics`. It is no error when the topic is muted, or is not, already
/// (feature level 169).
pub fn update_muted_topic(tx: &mut Tx<'_>, caller: &User, params: MutedTopicParams) -> ApiResult<Reply> {
    let policy = match params.op.as_str() {
        "add" => VisibilityPolicy::Muted,
        "remove" => VisibilityPolicy::Inherit,
        _ => return Err(ApiError::bad_request("Invalid op")),
    };
    let topic = read_topic(&params.topic)?;
    let stream = match (params.stream_id, &params.stream) {
        // The published text of a missing parameter, without its code.
        (None, None) => return Err(ApiError::bad_request("Missing 'stream_id' argument")),
        (Some(_), Some(_)) => return Err(ApiError::incompatible(&["stream_id", "stream"])),
        (Some(stream_id), None) if policy == VisibilityPolicy::Muted => {
            rules::find_to_set(tx, caller, stream_id)?
        }
        (Some(stream_id), None) => rules::find_to_remove(tx, caller, stream_id, not_muted)?,
        (None, Some(name)) => by_name(tx, caller, name, policy)?,
    };
    rules::set(tx, caller.user_id, stream.stream_id, &topic, policy)?;
    Ok(Reply::ok())
}

fn by_name(tx: &Tx<'_>, caller: &Caller, name: &str, policy: VisibilityPolicy) -> ApiResult<StreamRow> {
    let stream = channels::by_name(tx, name)?;
    if policy == VisibilityPolicy::Inherit {
        return rules::find_to_remove(tx, caller, stream.ok_or_else(not_muted)?.stream_id, not_muted);
    }
    let refusal = || ApiError::bad_request(format!("Invalid channel name '{name}'"));
    let stream_id = stream.ok_or_else(refusal)?.stream_id;
    rules::find_to_set(tx, caller, stream_id).map_err(|_| refusal())
}

fn not_muted() -> ApiError {
    ApiError::bad_request("Topic is not muted")
}
