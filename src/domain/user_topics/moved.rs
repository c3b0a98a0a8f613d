//! Moves the policies for a topic along with its messages.

use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::{events, sql};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{StreamId, Topic, UserId};
use roaring::RoaringBitmap;
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
/// Otherwise the policy of the source replaces the one of the target, unless the user has none. Users whom
/// `may_read_target` does not return lose their policy for the source.
///
/// Nothing changes for users whom `saw_source` does not return. They can have a policy for a name that they guessed: an event
/// would reveal messages that they cannot see. Both get all users with a policy, who can be thousands.
///
/// Does nothing if only the spelling changed: a policy applies to all spellings of a topic.
pub fn move_policies(
    tx: &mut Tx<'_>,
    from: TopicPlace<'_>,
    to: TopicPlace<'_>,
    at_target: bool,
    saw_source: impl FnOnce(&Tx<'_>, RoaringBitmap) -> ApiResult<RoaringBitmap>,
    may_read_target: impl FnOnce(&Tx<'_>, RoaringBitmap) -> ApiResult<RoaringBitmap>,
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
    if policies.is_empty() {
        return Ok(());
    }
    let users = saw_source(tx, policies.keys().filter_map(|user_id| user_id.bit()).collect())?;
    let readers = may_read_target(tx, users.clone())?;
    policies.retain(|user_id, _| user_id.is_in(&users));
    let (mut at_source, mut targets) = (SharedEvents::new(), SharedEvents::new());
    for (user_id, (source, target)) in policies {
        let wanted = if !user_id.is_in(&readers) {
            target
        } else if at_target {
            source.merged(target)
        } else if source == VisibilityPolicy::Inherit {
            target
        } else {
            source
        };
        set(tx, user_id, from, (source, VisibilityPolicy::Inherit), &mut at_source)?;
        set(tx, user_id, to, (target, wanted), &mut targets)?;
    }
    for (place, shared) in [(from, at_source), (to, targets)] {
        for (policy, user_ids) in shared {
            events::emit_changed(tx, user_ids, place.stream_id, place.topic, policy);
        }
    }
    Ok(())
}

/// The users who get the same event, by the policy in it.
type SharedEvents = Vec<(VisibilityPolicy, Vec<UserId>)>;

/// Changes a policy. Its event is added to those that users share, except if it comes with a list of muted topics.
fn set(
    tx: &mut Tx<'_>,
    user_id: UserId,
    place: TopicPlace<'_>,
    (before, after): (VisibilityPolicy, VisibilityPolicy),
    shared: &mut SharedEvents,
) -> ApiResult<()> {
    if before == after {
        return Ok(());
    }
    sql::put(tx, user_id, place.stream_id, place.topic, after, tx.now())?;
    if [before, after].contains(&VisibilityPolicy::Muted) {
        return events::emit(tx, user_id, place.stream_id, place.topic, before, after);
    }
    match shared.iter_mut().find(|(policy, _)| *policy == after) {
        Some((_, user_ids)) => user_ids.push(user_id),
        None => shared.push((after, vec![user_id])),
    }
    Ok(())
}
