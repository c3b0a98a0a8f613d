//! What moving a topic does to the policies for it. For the operation that moves messages.

use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::{events, sql};
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{StreamId, Topic, UserId};
use std::collections::BTreeMap;

/// A topic of a channel.
#[derive(Clone, Copy, Debug)]
pub struct TopicPlace<'a> {
    /// The channel.
    pub stream_id: StreamId,
    /// The topic.
    pub topic: &'a Topic,
}

/// Carries all policies for a topic to where it went, and tells those whose policies changed. To be called when every
/// message of the topic moved, after the messages' rows changed; a part that moves leaves its policies behind.
///
/// If there were messages `at_target` already, the two topics become one, and a user's two policies what is seen more
/// of the two ([`VisibilityPolicy::merged`]). Otherwise the policy goes along. `may_read_target` tells who may read the
/// channel it went to: the others lose their policy.
///
/// Nothing happens when only the spelling changed: a policy is for all spellings of a topic.
pub fn move_policies(
    tx: &mut Tx<'_>,
    from: TopicPlace<'_>,
    to: TopicPlace<'_>,
    at_target: bool,
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
        let wanted = if !may_read_target(tx, user_id)? {
            VisibilityPolicy::Inherit
        } else if at_target {
            source.merged(target)
        } else if source == VisibilityPolicy::Inherit {
            target
        } else {
            source
        };
        put(tx, user_id, from, source, VisibilityPolicy::Inherit)?;
        put(tx, user_id, to, target, wanted)?;
    }
    Ok(())
}

fn put(
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
    events::emit(tx, user_id, place.stream_id, place.topic, after)
}
