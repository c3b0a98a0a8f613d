//! Moves the policies for a topic along with its messages.

use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::{events, sql};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{StreamId, Topic, UserId};
use std::collections::BTreeMap;

/// A topic of a channel.
#[derive(Clone, Copy, Debug)]
pub struct TopicPlace<'a> {
    /// The channel.
    pub stream_id: StreamId,
    pub topic: &'a Topic,
}

/// Moves all policies for a topic to its new location, and emits the changed ones. Call it after all messages of the
/// topic were moved; if only some are, the policies stay.
///
/// If there were messages `at_target` already, the two policies of a user are merged ([`VisibilityPolicy::merged`]).
/// Otherwise the policy of the source replaces the one of the target, unless the user has none. Users for whom
/// `may_read_target` returns false lose their policy for the source.
///
/// Nothing changes for users for whom `saw_source` returns false, who may have a policy for a name that they guessed:
/// an event would reveal messages that they cannot see.
///
/// Does nothing if only the spelling changed: a policy applies to all spellings of a topic.
pub fn move_policies(
    tx: &mut Tx<'_>,
    from: TopicPlace<'_>,
    to: TopicPlace<'_>,
    at_target: bool,
    mut saw_source: impl FnMut(&Tx<'_>, UserId) -> ApiResult<bool>,
    mut may_read_target: impl FnMut(&Tx<'_>, UserId) -> ApiResult<bool>,
) -> ApiResult<()> {
    let (from_key, to_key) = (from.topic.key(), to.topic.key());
    if from.stream_id == to.stream_id && from_key == to_key {
        return Ok(());
    }
    // (policy before at the source, policy before at the target)
    let mut policies: BTreeMap<UserId, (VisibilityPolicy, VisibilityPolicy)> = BTreeMap::new();
    for (user_id, policy) in sql::of_topic(tx, from.stream_id, &from_key)? {
        policies.entry(user_id).or_default().0 = policy;
    }
    for (user_id, policy) in sql::of_topic(tx, to.stream_id, &to_key)? {
        policies.entry(user_id).or_default().1 = policy;
    }
    for (user_id, (source, target)) in policies {
        if !saw_source(tx, user_id)? {
            continue;
        }
        let wanted = if !may_read_target(tx, user_id)? {
            target
        } else if at_target {
            source.merged(target)
        } else if source == VisibilityPolicy::Inherit {
            target
        } else {
            source
        };
        set(tx, user_id, from, source, VisibilityPolicy::Inherit)?;
        set(tx, user_id, to, target, wanted)?;
    }
    Ok(())
}

fn set(
    tx: &mut Tx<'_>,
    user_id: UserId,
    place: TopicPlace<'_>,
    before: VisibilityPolicy,
    after: VisibilityPolicy,
) -> ApiResult<()> {
    if before == after {
        return Ok(());
    }
    sql::put(tx, user_id, place.stream_id, place.topic, after, tx.now())?;
    events::emit(tx, user_id, place.stream_id, place.topic, before, after)
}
