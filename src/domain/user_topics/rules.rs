//! Sets topic policies, and finds the channels in which the caller may set or remove them.

use crate::auth::Caller;
use crate::domain::limits::{Accounts, MAX_USER_TOPICS};
use crate::domain::rows::channel::StreamRow;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::{events, sql};
use crate::domain::{access, rows};
use crate::error::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{StreamId, Topic, UserId};

/// Sets a user's policy for a topic and emits it, unless it is set already.
pub fn set(
    tx: &mut Tx<'_>,
    user_id: UserId,
    stream_id: StreamId,
    topic: &Topic,
    policy: VisibilityPolicy,
) -> ApiResult<()> {
    let before = sql::policy(tx, user_id, stream_id, &topic.key())?;
    if before == policy {
        return Ok(());
    }
    if before == VisibilityPolicy::Inherit {
        check_room(tx, user_id, MAX_USER_TOPICS)?;
    }
    change(tx, user_id, stream_id, topic, before, policy)
}

/// Replaces a user's policy for a topic, for which there is room, and emits it.
pub fn change(
    tx: &mut Tx<'_>,
    user_id: UserId,
    stream_id: StreamId,
    topic: &Topic,
    before: VisibilityPolicy,
    policy: VisibilityPolicy,
) -> ApiResult<()> {
    sql::put(tx, user_id, stream_id, topic, policy, tx.now())?;
    events::emit(tx, user_id, stream_id, topic, before, policy)
}

/// Refuses another topic with a policy beyond a limit.
pub fn check_room(tx: &Tx<'_>, user_id: UserId, limit: usize) -> ApiResult<()> {
    let statement = "SELECT count(*) FROM user_topic WHERE user_id IN (SELECT value FROM json_each(?1))";
    Accounts::of(tx, user_id, tx.now())?.check("topic policies", statement, 1, limit)
}

/// Loads a channel in which the caller may set policies: one that they may read and that is not archived.
pub fn find_to_set(tx: &Tx<'_>, caller: &Caller, stream_id: StreamId) -> ApiResult<StreamRow> {
    let stream = access::channels::find_for_content(tx.ctx(caller), stream_id)?;
    if stream.is_archived { Err(access::channels::no_such_channel()) } else { Ok(stream) }
}

/// True if the caller may remove policies in a channel. A user who lost access to the channel may remove the existing
/// ones.
fn may_remove(tx: &Tx<'_>, caller: &Caller, stream: &StreamRow) -> ApiResult<bool> {
    Ok(sql::has_any(tx, caller.user_id, stream.stream_id)?
        || access::channels::has_content_access(tx.ctx(caller), stream)?)
}

/// Loads a channel in which the caller may remove policies. Fails with `refusal` if there is none.
pub fn find_to_remove(
    tx: &Tx<'_>,
    caller: &Caller,
    stream_id: StreamId,
    refusal: fn() -> ApiError,
) -> ApiResult<StreamRow> {
    let stream = rows::channel::by_id(tx, stream_id)?.ok_or_else(refusal)?;
    if may_remove(tx, caller, &stream)? { Ok(stream) } else { Err(refusal()) }
}
