//! Queue of messages whose push notifications are to be decided. The decision is made after the commit, so that sending
//! costs the same for any number of receivers. Messages that phones show are taken back when they are read.

use crate::domain::limits::MAX_WAITING_PUSH_MESSAGES;
use crate::error::ApiResult;
use crate::store::{Tx, bitmap};
use crate::types::{MessageId, RecipientId, UserId};
use roaring::RoaringBitmap;

/// Queues a message that was sent, if someone has a subscription.
pub fn message_sent(tx: &mut Tx<'_>, message_id: MessageId) -> rusqlite::Result<()> {
    insert(tx, message_id, None)
}

/// Queues a message that was edited and may mention more users now. `known_to` were mentioned before.
pub fn message_edited(
    tx: &mut Tx<'_>,
    message_id: MessageId,
    editor_id: UserId,
    known_to: &RoaringBitmap,
) -> rusqlite::Result<()> {
    insert(tx, message_id, Some((editor_id, known_to)))
}

fn insert(
    tx: &mut Tx<'_>,
    message_id: MessageId,
    edit: Option<(UserId, &RoaringBitmap)>,
) -> rusqlite::Result<()> {
    let has_subscriptions: bool = tx
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM push_subscription)")?
        .query_row([], |row| row.get(0))?;
    if !has_subscriptions {
        return Ok(());
    }
    // Ids are in the order of the queue, so that their distance limits its length.
    let inserted = tx
        .prepare_cached(
            "INSERT INTO push_message (message_id, edited_by, known_to) SELECT ?1, ?2, ?3
             WHERE coalesce((SELECT max(id) FROM push_message) - (SELECT min(id) FROM push_message), 0) < ?4",
        )?
        .execute((
            message_id,
            edit.map(|(editor_id, _)| editor_id),
            edit.map(|(_, known_to)| bitmap::to_blob(known_to)),
            MAX_WAITING_PUSH_MESSAGES,
        ))?;
    if inserted == 0 {
        tracing::warn!(%message_id, "no one is notified of a message, because too many wait for the decision");
    }
    tx.wake_tasks_after_commit();
    Ok(())
}

/// Makes the notifications of a user's phones due that show messages of a conversation which the user has read.
pub fn messages_read(
    tx: &Tx<'_>,
    user_id: UserId,
    recipient_id: RecipientId,
    is_read: impl Fn(u32) -> bool,
) -> ApiResult<()> {
    let mut read = Vec::new();
    let mut statement = tx.prepare_cached(
        "SELECT subscription_id, tag, shown_ids FROM push_subscription AS phones
         CROSS JOIN push_notification ON subscription_id = phones.id
         WHERE user_id = ?1 AND session_id IS NULL AND shown_ids IS NOT NULL",
    )?;
    let mut rows = statement.query([user_id])?;
    while let Some(row) = rows.next()? {
        let shown: Vec<u8> = row.get(2)?;
        for id in bitmap::from_blob(2, &shown)?.iter().filter(|id| is_read(*id)) {
            if is_in(tx, id, recipient_id)? {
                read.push((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
                break;
            }
        }
    }
    for (subscription_id, tag) in &read {
        tx.prepare_cached(
            "UPDATE push_notification SET next_try = max(?3, coalesce((
                 SELECT max(next_try) FROM push_notification WHERE subscription_id = ?1 AND failed_tries > 0), 0))
             WHERE subscription_id = ?1 AND tag = ?2 AND next_try IS NULL",
        )?
        .execute((subscription_id, tag, tx.now()))?;
    }
    if !read.is_empty() {
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

fn is_in(tx: &Tx<'_>, id: u32, recipient_id: RecipientId) -> rusqlite::Result<bool> {
    tx.prepare_cached("SELECT EXISTS (SELECT 1 FROM message WHERE id = ?1 AND recipient_id = ?2)")?
        .query_row((id, recipient_id), |row| row.get(0))
}
