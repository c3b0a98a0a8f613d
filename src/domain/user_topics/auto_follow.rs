//! Automatic changes of topic policies: `automatically_follow_topics_policy`,
//! `automatically_unmute_topics_in_muted_streams_policy` (feature level 214) and
//! `automatically_follow_topics_where_mentioned` (feature level 235).

use crate::domain::limits::MAX_USER_TOPICS_BY_THEMSELVES;
use crate::domain::rows::user::UserRow;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::{rules, sql};
use crate::domain::{rows, user_settings};
use crate::error::{ApiResult, ok_unless_refused};
use crate::store::{FollowUp, Tx};
use crate::types::{StreamId, Topic, UserId};
use serde::{Deserialize, Serialize};

/// Mentioned users whose policies one job changes: those of each are counted, which are thousands.
const MENTIONED_PER_JOB: usize = 100;

/// Values of the two settings: the action of the user that changes the policy for a topic.
mod trigger {
    /// Any participation: sending a message, reacting, voting.
    pub const PARTICIPATION: i64 = 1;
    /// Sending a message.
    pub const SEND: i64 = 2;
    /// Sending the first message of the topic.
    pub const INITIATION: i64 = 3;
}

/// A user's settings for topics of a channel.
#[derive(Clone, Copy, Debug)]
struct AutoFollowSettings {
    /// The trigger for following a topic.
    follow: i64,
    /// The trigger for unmuting a topic; `None` if the channel is not muted.
    unmute: Option<i64>,
}

impl AutoFollowSettings {
    /// The policy after an action with these triggers.
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

/// Loads a user's policy for a topic, and their settings; `None` for bots. One statement: this is a part of each send.
fn load(
    tx: &Tx<'_>,
    user: &UserRow,
    stream_id: StreamId,
    topic: &Topic,
) -> ApiResult<Option<(VisibilityPolicy, AutoFollowSettings)>> {
    if user.is_bot() {
        return Ok(None);
    }
    let follow = &user_settings::AUTOMATICALLY_FOLLOW_TOPICS_POLICY;
    let unmute = &user_settings::AUTOMATICALLY_UNMUTE_TOPICS_IN_MUTED_STREAMS_POLICY;
    let mut statement = tx.prepare_cached(
        "SELECT coalesce((SELECT visibility_policy FROM user_topic
                 WHERE user_id = ?1 AND stream_id = ?2 AND name_key = ?3), 0),
             coalesce((SELECT is_muted FROM subscription WHERE user_id = ?1 AND stream_id = ?2 AND active), 0),
             (SELECT value FROM user_setting WHERE user_id = ?1 AND property = ?4),
             (SELECT value FROM user_setting WHERE user_id = ?1 AND property = ?5)",
    )?;
    let parameters = (user.user_id, stream_id, topic.key(), follow.name(), unmute.name());
    let (current, is_muted, stored_follow, stored_unmute): (_, bool, _, _) =
        statement.query_row(parameters, |row| row.try_into())?;
    let unmute = is_muted.then(|| unmute.parse(stored_unmute)).transpose()?;
    Ok(Some((current, AutoFollowSettings { follow: follow.parse(stored_follow)?, unmute })))
}

/// Updates a user's policy for a topic after they sent a message to it. Returns the new policy if it changed. `begins`
/// is called only when needed, and returns whether the message is the first of the topic that the user can see.
pub fn after_send(
    tx: &mut Tx<'_>,
    user: &UserRow,
    stream_id: StreamId,
    topic: &Topic,
    begins: impl FnOnce(&Tx<'_>) -> ApiResult<bool>,
) -> ApiResult<Option<VisibilityPolicy>> {
    let Some((current, settings)) = load(tx, user, stream_id, topic)? else { return Ok(None) };
    let user_id = user.user_id;
    let mut wanted = settings.policy(&[trigger::PARTICIPATION, trigger::SEND]);
    let by_beginning = settings.policy(&[trigger::INITIATION]);
    // Sending the first message does not override a policy that the user set.
    if current == VisibilityPolicy::Inherit
        && by_beginning != VisibilityPolicy::Inherit
        && wanted != VisibilityPolicy::Followed
        && begins(tx)?
    {
        wanted = by_beginning;
    }
    raise(tx, user_id, stream_id, topic, current, wanted)
}

/// Updates the policy of the sender of a message that became the first of a topic by a move: the sender counts as the
/// one who started the topic (release 11.0). A policy that the user set does not change.
pub fn after_split(tx: &mut Tx<'_>, user_id: UserId, stream_id: StreamId, topic: &Topic) -> ApiResult<()> {
    let Some(user) = rows::user::by_id(tx, user_id)? else { return Ok(()) };
    let Some((current, settings)) = load(tx, &user, stream_id, topic)? else { return Ok(()) };
    if current == VisibilityPolicy::Inherit {
        raise(tx, user_id, stream_id, topic, current, settings.policy(&[trigger::INITIATION]))?;
    }
    Ok(())
}

/// Updates a user's policy for a topic after they reacted or voted.
pub fn after_participation(
    tx: &mut Tx<'_>,
    user_id: UserId,
    stream_id: StreamId,
    topic: &Topic,
) -> ApiResult<()> {
    let Some(user) = rows::user::by_id(tx, user_id)? else { return Ok(()) };
    let Some((current, settings)) = load(tx, &user, stream_id, topic)? else { return Ok(()) };
    raise(tx, user_id, stream_id, topic, current, settings.policy(&[trigger::PARTICIPATION])).map(|_| ())
}

/// Lets users follow a topic in which they were mentioned personally or through a group. Muted topics stay muted. If they are
/// many, follow-up jobs do it for some of them.
pub fn after_mention(
    tx: &mut Tx<'_>,
    user_ids: &[UserId],
    stream_id: StreamId,
    topic: &Topic,
) -> ApiResult<()> {
    let (first, others) = user_ids.split_at(user_ids.len().min(MENTIONED_PER_JOB));
    if !others.is_empty() {
        let (user_ids, topic) = (others.to_vec(), topic.as_str().to_owned());
        tx.then(MentionedUsers { user_ids, stream_id, topic })?;
    }
    for user_id in first {
        let current = sql::policy(tx, *user_id, stream_id, &topic.key())?;
        if current == VisibilityPolicy::Muted
            || rows::user::by_id(tx, *user_id)?.is_none_or(|user| user.is_bot())
            || !user_settings::AUTOMATICALLY_FOLLOW_TOPICS_WHERE_MENTIONED.get(tx, *user_id)?
        {
            continue;
        }
        raise(tx, *user_id, stream_id, topic, current, VisibilityPolicy::Followed)?;
    }
    Ok(())
}

/// The rest of the users whose mention lets them follow a topic.
#[derive(Serialize, Deserialize)]
pub struct MentionedUsers {
    user_ids: Vec<UserId>,
    stream_id: StreamId,
    topic: String,
}

impl FollowUp for MentionedUsers {
    const NAME: &'static str = "mentioned_users";

    fn run(self, tx: &mut Tx<'_>) -> ApiResult<()> {
        after_mention(tx, &self.user_ids, self.stream_id, &Topic::stored(self.topic))
    }
}

/// Sets a policy unless it equals the current one or the topic is followed already.
fn raise(
    tx: &mut Tx<'_>,
    user_id: UserId,
    stream_id: StreamId,
    topic: &Topic,
    current: VisibilityPolicy,
    wanted: VisibilityPolicy,
) -> ApiResult<Option<VisibilityPolicy>> {
    if wanted == VisibilityPolicy::Inherit || wanted == current || current == VisibilityPolicy::Followed {
        return Ok(None);
    }
    let limit = MAX_USER_TOPICS_BY_THEMSELVES;
    if current == VisibilityPolicy::Inherit
        && ok_unless_refused(rules::check_room(tx, user_id, limit))?.is_none()
    {
        return Ok(None);
    }
    rules::change(tx, user_id, stream_id, topic, current, wanted)?;
    Ok(Some(wanted))
}
