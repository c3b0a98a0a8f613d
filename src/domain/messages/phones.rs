//! Changes of messages and accounts that matter to phones: messages that they show are taken back when they are read, and the
//! phones of a deactivated user are forgotten.

use crate::error::ApiResult;
use crate::store::{Tx, bitmap};
use crate::types::{RecipientId, UserId};

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
