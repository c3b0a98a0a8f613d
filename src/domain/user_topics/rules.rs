//! Setting a policy, for whoever asks.

use crate::auth::Ctx;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::{channel_rows as channels, channels as access};
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::{events, sql};
use crate::http::{ApiError, ApiResult, Caller};
use crate::store::Tx;
use crate::types::{StreamId, Topic, UserId};

/// Sets a user's policy for a topic and tells the user's clients. Nothing happens when it is that already.
pub fn set(
    tx: &mut Tx<'_>,
    user_id: UserId,
    stream_id: StreamId,
    topic: &Topic,
    policy: VisibilityPolicy,
) -> ApiResult<()> {
    if sql::policy(tx, user_id, stream_id, &topic.key())? == policy {
        return Ok(());
    }
    sql::put(tx, user_id, stream_id, topic, policy, tx.now())?;
    events::emit(tx, user_id, stream_id, topic, policy)
}

/// A channel in which the caller may set policies: one that they may read and that is in use.
pub fn find_to_set(tx: &Tx<'_>, caller: &Caller, stream_id: StreamId) -> ApiResult<StreamRow> {
    let stream = access::find_for_content(Ctx::in_job(tx, caller), stream_id)?;
    if stream.is_archived { Err(access::no_such_channel()) } else { Ok(stream) }
}

/// Whether the caller may take policies away in a channel. Those of a channel that they have lost can be removed too,
/// as long as there are any.
fn may_remove(tx: &Tx<'_>, caller: &Caller, stream: &StreamRow) -> ApiResult<bool> {
    Ok(sql::has_any(tx, caller.user_id, stream.stream_id)?
        || access::has_content_access(Ctx::in_job(tx, caller), stream)?)
}

/// A channel in which the caller may take policies away, with the refusal to answer if not.
pub fn find_to_remove(
    tx: &Tx<'_>,
    caller: &Caller,
    stream_id: StreamId,
    refusal: fn() -> ApiError,
) -> ApiResult<StreamRow> {
    let stream = channels::by_id(tx, stream_id)?.ok_or_else(refusal)?;
    if may_remove(tx, caller, &stream)? { Ok(stream) } else { Err(refusal()) }
}
