//! Permissions to mention many users at once, and groups (`can_mention_many_users_group` of the organization,
//! `can_mention_group` of a group).

use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::access::permissions::is_held;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::permission::UserGroupSetting;
use crate::domain::groups::setting::{Owner, group_of};
use crate::domain::groups::system::SystemGroup;
use crate::domain::limits::MAX_MENTIONED_GROUPS;
use crate::domain::messages::topic_sql;
use crate::domain::{access, groups, limits, rows};
use crate::error::{ApiError, ApiResult};
use crate::types::{GroupId, StreamId, Topic, UserId};
use rusqlite::Connection;
use teamchat_markdown::Rendered;

/// The most users that everyone may mention with a wildcard.
const MAX_FOR_EVERYONE: usize = 15;

/// Checks the sender's permission for the mentions of a message. `topic` is its channel and topic; in direct
/// conversations wildcards are allowed.
///
/// Returns the participants of the topic, ascending, if they were loaded and are few.
pub fn check(
    ctx: Ctx<'_>,
    topic: Option<(StreamId, &Topic)>,
    rendered: &Rendered,
) -> ApiResult<Option<Vec<UserId>>> {
    let mut participants = None;
    let viewer = Viewer::new(ctx);
    let may_mention_many = || is_held(&viewer, RealmGroup::CanMentionManyUsers);
    if let Some((stream_id, topic)) = topic {
        if rendered.mentions_stream_wildcard
            && rows::channel::subscribers(&ctx, stream_id)?.len() > MAX_FOR_EVERYONE as u64
            && !may_mention_many()?
        {
            let msg = "You do not have permission to use channel wildcard mentions in this channel.";
            return Err(ApiError::new(400, "STREAM_WILDCARD_MENTION_NOT_ALLOWED", msg));
        }
        if rendered.mentions_topic_wildcard {
            participants = few_participants(&ctx, stream_id, topic)?;
            if !are_few(participants.as_deref(), ctx.caller.user_id) && !may_mention_many()? {
                let msg = "You do not have permission to use topic wildcard mentions in this topic.";
                return Err(ApiError::new(400, "TOPIC_WILDCARD_MENTION_NOT_ALLOWED", msg));
            }
        }
    }
    check_groups(&viewer, rendered)?;
    Ok(participants)
}

/// The participants of a topic; `None` if they are too many for everyone to mention.
fn few_participants(
    connection: &Connection,
    stream_id: StreamId,
    topic: &Topic,
) -> ApiResult<Option<Vec<UserId>>> {
    match access::messages::topic(connection, stream_id, &topic.key())? {
        Some(topic_id) => Ok(topic_sql::few_participants(connection, topic_id, MAX_FOR_EVERYONE)?),
        None => Ok(Some(Vec::new())),
    }
}

/// True if the participants besides the sender are few enough for everyone to mention.
fn are_few(participants: Option<&[UserId]>, sender_id: UserId) -> bool {
    participants.is_some_and(|people| {
        people.iter().filter(|user_id| **user_id != sender_id).count() < MAX_FOR_EVERYONE
    })
}

/// Checks that a sender may mention the groups of a message.
fn check_groups(sender: &Viewer<'_>, rendered: &Rendered) -> ApiResult<()> {
    limits::check("user groups mentioned", rendered.mentioned_group_ids.len(), MAX_MENTIONED_GROUPS)?;
    for id in &rendered.mentioned_group_ids {
        let id = GroupId(*id);
        let default = UserGroupSetting::CanMention.default_group(SystemGroup::with_id(id).is_some());
        let name = UserGroupSetting::CanMention.name();
        let allowed = group_of(&sender.ctx, Owner::Group(id.0), name, default)?;
        let is_everyone = SystemGroup::with_id(allowed) == Some(SystemGroup::Everyone);
        if !is_everyone && !sender.membership()?.contains(allowed) {
            let name = groups::name(&sender.ctx, id)?.unwrap_or_default();
            return Err(ApiError::bad_request(format!(
                "You are not allowed to mention user group '{name}'."
            )));
        }
    }
    Ok(())
}
