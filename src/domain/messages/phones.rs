//! Changes of messages and accounts that matter to phones: messages that they show are taken back when they are read or deleted,
//! or do not mention the user any more, and the phones of a deactivated user are forgotten.

use crate::domain::messages::flag_sql;
use crate::domain::messages::flags::bit;
use crate::error::ApiResult;
use crate::store::{Tx, bitmap};
use crate::types::{MessageId, RecipientId, StreamId, UserId};
use roaring::RoaringBitmap;
use std::collections::{BTreeSet, HashSet};

/// The newest messages of a notification that are looked up when messages are read. Those of a notification are in one conversation,
/// unless some were moved.
const LOOKED_UP: usize = 10;

/// Makes the notifications of a user's phones due that show messages of a conversation which the user has read. The number of
/// statements does not depend on that of the notifications.
pub fn messages_read(
    tx: &Tx<'_>,
    user_id: UserId,
    recipient_id: RecipientId,
    is_read: impl Fn(u32) -> bool,
) -> ApiResult<()> {
    let mut shown = shown(tx, user_id, is_read)?;
    if shown.is_empty() {
        return Ok(());
    }
    let ids: Vec<u32> = shown.iter().flat_map(|(_, read)| read).copied().collect();
    let here: HashSet<u32> = tx
        .prepare_cached(
            "SELECT message.id FROM json_each(?2) CROSS JOIN message ON message.id = value WHERE recipient_id = ?1",
        )?
        .query_map((recipient_id, serde_json::to_string(&ids)?), |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    shown.retain(|(_, read)| read.iter().any(|id| here.contains(id)));
    make_shown_due(tx, user_id, &shown)
}

/// The users whom these messages mention, by themselves or their topics; none if there are no phones.
pub fn mentioned_in(tx: &Tx<'_>, ids: &[MessageId]) -> ApiResult<Vec<UserId>> {
    let mut mentioned = BTreeSet::new();
    if are_used(tx)? {
        for id in ids {
            let flags = bit::MENTIONED | bit::TOPIC_WILDCARD_MENTIONED;
            mentioned.extend(flag_sql::users_with_flag(tx, *id, flags)?);
        }
    }
    Ok(mentioned.into_iter().collect())
}

fn are_used(tx: &Tx<'_>) -> rusqlite::Result<bool> {
    tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM push_device)")?.query_row([], |row| row.get(0))
}

/// Makes the notifications of these users' phones due that show one of these messages: it was deleted, or does not mention them any
/// more.
pub fn messages_withdrawn(tx: &Tx<'_>, user_ids: &[UserId], ids: &[MessageId]) -> ApiResult<()> {
    if user_ids.is_empty() || !are_used(tx)? {
        return Ok(());
    }
    let ids: RoaringBitmap = ids.iter().filter_map(|id| id.bit()).collect();
    for user_id in user_ids {
        make_shown_due(tx, *user_id, &shown(tx, *user_id, |id| ids.contains(id))?)?;
    }
    Ok(())
}

/// Makes the notifications of all phones due that show one of these messages of a channel: it was deleted, or does not mention the
/// channel any more. Messages that phones showed in another channel, before they were moved, are not found.
pub fn channel_messages_withdrawn(tx: &Tx<'_>, stream_id: StreamId, ids: &[MessageId]) -> ApiResult<()> {
    if !are_used(tx)? {
        return Ok(());
    }
    let ids: RoaringBitmap = ids.iter().filter_map(|id| id.bit()).collect();
    // The tags of the channel begin with `channel/ID/`, and the character after the slash is the zero.
    let (first, end) = (format!("channel/{stream_id}/"), format!("channel/{stream_id}0"));
    let mut due: Vec<(UserId, String)> = Vec::new();
    let mut statement = tx.prepare_cached(
        "SELECT user_id, tag, shown_ids FROM push_subscription AS phones
         CROSS JOIN push_notification ON subscription_id = phones.id
         WHERE session_id IS NULL AND tag > ?1 AND tag < ?2 AND shown_ids IS NOT NULL",
    )?;
    let mut rows = statement.query((first, end))?;
    while let Some(row) = rows.next()? {
        let shown: Vec<u8> = row.get(2)?;
        if !bitmap::from_blob(2, &shown)?.is_disjoint(&ids) {
            due.push((row.get(0)?, row.get(1)?));
        }
    }
    for (user_id, tag) in due {
        make_due(tx, user_id, Some(serde_json::to_string(&[tag])?))?;
    }
    Ok(())
}

/// The tags of notifications of a user's phones that show some of these messages, with the newest of them.
fn shown(
    tx: &Tx<'_>,
    user_id: UserId,
    is_wanted: impl Fn(u32) -> bool,
) -> ApiResult<Vec<(String, Vec<u32>)>> {
    let mut shown = Vec::new();
    let mut statement = tx.prepare_cached(
        "SELECT tag, shown_ids FROM push_subscription AS phones
         CROSS JOIN push_notification ON subscription_id = phones.id
         WHERE user_id = ?1 AND session_id IS NULL AND shown_ids IS NOT NULL",
    )?;
    let mut rows = statement.query([user_id])?;
    while let Some(row) = rows.next()? {
        let ids: Vec<u8> = row.get(1)?;
        let ids = bitmap::from_blob(1, &ids)?;
        let wanted: Vec<u32> = ids.iter().rev().filter(|id| is_wanted(*id)).take(LOOKED_UP).collect();
        if !wanted.is_empty() {
            shown.push((row.get(0)?, wanted));
        }
    }
    Ok(shown)
}

fn make_shown_due(tx: &Tx<'_>, user_id: UserId, shown: &[(String, Vec<u32>)]) -> ApiResult<()> {
    if shown.is_empty() {
        return Ok(());
    }
    let tags: Vec<&String> = shown.iter().map(|(tag, _)| tag).collect();
    make_due(tx, user_id, Some(serde_json::to_string(&tags)?))
}

/// Makes all notifications of a user's phones due that show messages: all are read.
pub fn all_read(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    make_due(tx, user_id, None)
}

/// Makes the notifications with these tags due, a JSON list, or all.
fn make_due(tx: &Tx<'_>, user_id: UserId, tags: Option<String>) -> ApiResult<()> {
    let due = tx
        .prepare_cached(
            "UPDATE push_notification SET next_try = max(?3, coalesce((
                 SELECT max(next_try) FROM push_notification AS failed
                 WHERE failed.subscription_id = push_notification.subscription_id AND failed_tries > 0), 0))
             WHERE subscription_id = (SELECT id FROM push_subscription WHERE user_id = ?1 AND session_id IS NULL)
                 AND shown_ids IS NOT NULL AND next_try IS NULL
                 AND (?2 IS NULL OR tag IN (SELECT value FROM json_each(?2)))",
        )?
        .execute((user_id, tags, tx.now()))?;
    if due > 0 {
        tx.wake_tasks_after_commit();
    }
    Ok(())
}

/// Ends the phones of a user: the bouncer is to forget them.
pub fn end_phones(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    let ended = tx
        .prepare_cached(
            "UPDATE push_device SET api_key_id = NULL WHERE user_id = ?1 AND api_key_id IS NOT NULL",
        )?
        .execute([user_id])?;
    if ended > 0 {
        tx.wake_tasks_after_commit();
    }
    Ok(())
}
