//! Queue of messages whose push notifications are to be decided. The decision is made after the commit, so that sending
//! costs the same for any number of receivers.

use crate::domain::limits::MAX_WAITING_PUSH_MESSAGES;
use crate::store::{Tx, bitmap};
use crate::types::{MessageId, UserId};
use roaring::RoaringBitmap;

/// Queues a message that was sent, if anybody has a subscription.
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
