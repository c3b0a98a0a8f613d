//! Decides who missed waiting messages, in snapshots after their commit.

use crate::app::App;
use crate::domain::access::messages::direct_user_ids;
use crate::domain::messages::flags::bit;
use crate::domain::messages::record::{MessageRow, attribute};
use crate::domain::notifications::{MAIL, deciding};
use crate::domain::realm::user_ids;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::{messages, missed_messages, rows, user_topics};
use crate::error::ApiResult;
use crate::events::Hub;
use crate::store::Snapshot;
use crate::types::{StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// Decides about all waiting messages.
pub async fn decide_waiting(app: &App) -> ApiResult<()> {
    let decide = |snapshot: &Snapshot<'_>, hub: &Hub, now| {
        let candidates = |message: &MessageRow, stream_id: Option<StreamId>| {
            let named = match stream_id {
                Some(_) if message.has(attribute::STREAM_WILDCARD) => return everyone(snapshot),
                Some(stream_id) => interested(snapshot, message, stream_id)?,
                None => direct_user_ids(snapshot, message.recipient_id)?.unwrap_or_default(),
            };
            people_among(snapshot, named)
        };
        deciding::decide(snapshot, hub, &MAIL, now, candidates)
    };
    deciding::decide_waiting(app, &MAIL, "missed_decisions", decide, missed_messages::add).await
}

/// Checks held messages. Returns when they are checked next, in UNIX seconds.
pub async fn check_held(app: &App) -> ApiResult<Option<i64>> {
    deciding::check_held(app, &MAIL, "missed_checks", missed_messages::add).await
}

/// All active people.
fn everyone(connection: &Connection) -> ApiResult<RoaringBitmap> {
    Ok(user_ids::active_ids(connection)? - user_ids::bot_ids(connection)?)
}

/// Returns the active people among some users.
fn people_among(connection: &Connection, user_ids: Vec<UserId>) -> ApiResult<RoaringBitmap> {
    let mut people = RoaringBitmap::new();
    for user_id in user_ids {
        let user = rows::user::by_id(connection, user_id)?;
        if user.is_some_and(|user| user.is_active && !user.is_bot()) {
            people.extend(user_id.bit());
        }
    }
    Ok(people)
}

/// The users who may have a reason to get mail about a channel message without a wildcard mention of the channel, by the rows that
/// name them: few in a large channel, so that a message costs the same there.
fn interested(connection: &Connection, message: &MessageRow, stream_id: StreamId) -> ApiResult<Vec<UserId>> {
    let flags = bit::MENTIONED | bit::TOPIC_WILDCARD_MENTIONED;
    let mut found = messages::users_with_flag(connection, message.id, flags)?;
    let policies = user_topics::of_topic(connection, stream_id, &message.topic().key())?;
    let followers = policies.into_iter().filter(|(_, policy)| *policy == VisibilityPolicy::Followed);
    found.extend(followers.map(|(user_id, _)| user_id));
    let subscribers = user_ids::set(
        connection,
        "SELECT user_id FROM subscription WHERE stream_id = ?1 AND active AND email_notifications",
        [stream_id],
    )?;
    let everywhere = user_ids::set(
        connection,
        "SELECT user_id FROM user_setting
         WHERE property = 'enable_stream_email_notifications' AND value = 'true'",
        (),
    )?;
    found.extend((subscribers | everywhere).into_iter().map(UserId::from));
    Ok(found)
}
