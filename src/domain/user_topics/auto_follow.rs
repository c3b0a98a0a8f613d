//! Policies that follow from what people do: `automatically_follow_topics_policy`,
//! `automatically_unmute_topics_in_muted_streams_policy` (feature level 214) and
//! `automatically_follow_topics_where_mentioned` (feature level 235).

use crate::domain::access::user_rows as users;
use crate::domain::access::user_rows::UserRow;
use crate::domain::subscriptions::sql as subscriptions;
use crate::domain::user_settings;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::{rules, sql};
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{StreamId, Topic, UserId};

/// A value of the two settings: what changes the policy for a topic.
mod when {
    /// Anything that takes part: sending, reacting, voting.
    pub const PARTICIPATION: i64 = 1;
    /// Sending a message.
    pub const SEND: i64 = 2;
    /// Sending the first one.
    pub const INITIATION: i64 = 3;
}

/// What a user wants to happen in a channel.
#[derive(Clone, Copy, Debug)]
struct Wishes {
    /// When to follow a topic.
    follow: i64,
    /// When to unmute a topic; `None` where nothing is muted.
    unmute: Option<i64>,
}

impl Wishes {
    /// The policy for what happened: any of these.
    fn policy(self, happened: &[i64]) -> VisibilityPolicy {
        if happened.contains(&self.follow) {
            VisibilityPolicy::Followed
        } else if self.unmute.is_some_and(|unmute| happened.contains(&unmute)) {
            VisibilityPolicy::Unmuted
        } else {
            VisibilityPolicy::Inherit
        }
    }
}

/// The wishes of a user; `None` for bots, which do not look at topics.
fn wishes(tx: &Tx<'_>, user: &UserRow, stream_id: StreamId) -> ApiResult<Option<Wishes>> {
    if user.is_bot() {
        return Ok(None);
    }
    let user_id = user.user_id;
    let follow = user_settings::AUTOMATICALLY_FOLLOW_TOPICS_POLICY.get(tx, user_id)?;
    let subscription = subscriptions::one(tx, user_id, stream_id)?;
    let is_muted = subscription.is_some_and(|(subscription, active)| active && subscription.is_muted);
    let unmute = is_muted
        .then(|| user_settings::AUTOMATICALLY_UNMUTE_TOPICS_IN_MUTED_STREAMS_POLICY.get(tx, user_id))
        .transpose()?;
    Ok(Some(Wishes { follow, unmute }))
}

/// What a message of a user to a topic does to their policy for it. Answers the new policy, if it is another one now.
/// `begins` tells whether it is the first in the topic, as far as the user sees.
pub fn at_send(
    tx: &mut Tx<'_>,
    user: &UserRow,
    stream_id: StreamId,
    topic: &Topic,
    begins: impl FnOnce(&Tx<'_>) -> ApiResult<bool>,
) -> ApiResult<Option<VisibilityPolicy>> {
    let Some(wishes) = wishes(tx, user, stream_id)? else { return Ok(None) };
    let user_id = user.user_id;
    let now = sql::policy(tx, user_id, stream_id, &topic.key())?;
    let mut wanted = wishes.policy(&[when::PARTICIPATION, when::SEND]);
    let by_beginning = wishes.policy(&[when::INITIATION]);
    // Who has chosen something for a topic does not begin it.
    if now == VisibilityPolicy::Inherit
        && by_beginning != VisibilityPolicy::Inherit
        && wanted != VisibilityPolicy::Followed
        && begins(tx)?
    {
        wanted = by_beginning;
    }
    raise(tx, user_id, stream_id, topic, now, wanted)
}

/// What it does when a message that others moved becomes the first of a topic: whoever sent it begins the topic (release
/// 11.0). Who has chosen something for the topic keeps it.
pub fn at_split(tx: &mut Tx<'_>, user_id: UserId, stream_id: StreamId, topic: &Topic) -> ApiResult<()> {
    let Some(user) = users::by_id(tx, user_id)? else { return Ok(()) };
    let Some(wishes) = wishes(tx, &user, stream_id)? else { return Ok(()) };
    let now = sql::policy(tx, user_id, stream_id, &topic.key())?;
    if now == VisibilityPolicy::Inherit {
        raise(tx, user_id, stream_id, topic, now, wishes.policy(&[when::INITIATION]))?;
    }
    Ok(())
}

/// What taking part otherwise does: a reaction, a vote.
pub fn at_participation(
    tx: &mut Tx<'_>,
    user_id: UserId,
    stream_id: StreamId,
    topic: &Topic,
) -> ApiResult<()> {
    let Some(user) = users::by_id(tx, user_id)? else { return Ok(()) };
    let Some(wishes) = wishes(tx, &user, stream_id)? else { return Ok(()) };
    let now = sql::policy(tx, user_id, stream_id, &topic.key())?;
    raise(tx, user_id, stream_id, topic, now, wishes.policy(&[when::PARTICIPATION])).map(|_| ())
}

/// Lets people follow a topic where they were mentioned by name or through a group. What they muted stays so.
pub fn where_mentioned(
    tx: &mut Tx<'_>,
    user_ids: &[UserId],
    stream_id: StreamId,
    topic: &Topic,
) -> ApiResult<()> {
    for user_id in user_ids {
        let now = sql::policy(tx, *user_id, stream_id, &topic.key())?;
        if now == VisibilityPolicy::Muted
            || users::by_id(tx, *user_id)?.is_none_or(|user| user.is_bot())
            || !user_settings::AUTOMATICALLY_FOLLOW_TOPICS_WHERE_MENTIONED.get(tx, *user_id)?
        {
            continue;
        }
        raise(tx, *user_id, stream_id, topic, now, VisibilityPolicy::Followed)?;
    }
    Ok(())
}

/// Sets a policy that shows more of a topic; one that is followed stays so.
fn raise(
    tx: &mut Tx<'_>,
    user_id: UserId,
    stream_id: StreamId,
    topic: &Topic,
    now: VisibilityPolicy,
    wanted: VisibilityPolicy,
) -> ApiResult<Option<VisibilityPolicy>> {
    if wanted == VisibilityPolicy::Inherit || wanted == now || now == VisibilityPolicy::Followed {
        return Ok(None);
    }
    rules::set(tx, user_id, stream_id, topic, wanted)?;
    Ok(Some(wanted))
}
