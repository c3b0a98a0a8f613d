//! Facts for the decision about notifications, loaded for one user and one message.

use crate::domain::limits::PRESENCE_OFFLINE_THRESHOLD_SECONDS;
use crate::domain::messages::flags::bit;
use crate::domain::messages::record::{MessageRow, attribute};
use crate::domain::notifications::{Facts, Medium};
use crate::domain::{messages, presence, realm, user_settings, user_topics};
use crate::error::ApiResult;
use crate::events::Hub;
use crate::types::{StreamId, UserId};
use rusqlite::{Connection, OptionalExtension};

/// The settings of a subscription.
struct OfSubscription {
    is_muted: bool,
    wildcards_notify: Option<bool>,
    channel: Option<bool>,
}

/// Loads the facts. `stream_id` is the channel of the message; `None` for direct messages.
pub fn load(
    connection: &Connection,
    medium: &Medium,
    (message, stream_id): (&MessageRow, Option<StreamId>),
    user_id: UserId,
) -> ApiResult<Facts> {
    let personal = medium.personal.get(connection, user_id)?;
    let Some(stream_id) = stream_id else {
        return Ok(Facts { is_direct: true, personal, ..Facts::default() });
    };
    let subscription = of_subscription(connection, medium, user_id, stream_id)?;
    let flags = messages::flags_of(connection, user_id, message.id)?;
    let or_users = |value: Option<bool>, setting: &user_settings::UserSetting<bool>| match value {
        Some(value) => Ok(value),
        None => setting.get(connection, user_id),
    };
    Ok(Facts {
        is_direct: false,
        is_mentioned: flags & bit::MENTIONED != 0,
        has_topic_wildcard: flags & bit::TOPIC_WILDCARD_MENTIONED != 0,
        has_channel_wildcard: message.has(attribute::STREAM_WILDCARD),
        is_edit: false,
        policy: user_topics::policy(connection, user_id, stream_id, &message.topic().key())?,
        is_channel_muted: subscription.is_muted,
        wildcards_notify: or_users(subscription.wildcards_notify, &user_settings::WILDCARD_MENTIONS_NOTIFY)?,
        wildcards_notify_in_followed_topics: user_settings::ENABLE_FOLLOWED_TOPIC_WILDCARD_MENTIONS_NOTIFY
            .get(connection, user_id)?,
        personal,
        followed_topics: medium.followed_topics.get(connection, user_id)?,
        channel: or_users(subscription.channel, medium.channels)?,
    })
}

fn of_subscription(
    connection: &Connection,
    medium: &Medium,
    user_id: UserId,
    stream_id: StreamId,
) -> rusqlite::Result<OfSubscription> {
    let column = medium.of_subscription;
    let found = connection
        .prepare_cached(&format!(
            "SELECT is_muted, wildcard_mentions_notify, {column} FROM subscription
             WHERE user_id = ?1 AND stream_id = ?2 AND active"
        ))?
        .query_row((user_id, stream_id), |row| {
            Ok(OfSubscription { is_muted: row.get(0)?, wildcards_notify: row.get(1)?, channel: row.get(2)? })
        })
        .optional()?;
    Ok(found.unwrap_or(OfSubscription { is_muted: false, wildcards_notify: None, channel: None }))
}

/// True if a user is away: no event queue delivers messages to them, or no client reports that they use it.
pub fn is_away(connection: &Connection, hub: &Hub, user_id: UserId, now: i64) -> ApiResult<bool> {
    if !hub.receives_messages(user_id) {
        return Ok(true);
    }
    if realm::settings::PRESENCE_DISABLED.get(connection)? {
        return Ok(false);
    }
    let last_active =
        presence::load(connection, user_id, now)?.and_then(|presence| presence.times.last_active);
    Ok(last_active.is_none_or(|active| now - active > PRESENCE_OFFLINE_THRESHOLD_SECONDS))
}
