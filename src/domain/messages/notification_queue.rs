//! Queues of messages whose notifications are to be decided, one for each medium. The decision is made after the commit, so that
//! sending costs the same for any number of receivers.

use crate::domain::limits::MAX_WAITING_MESSAGES;
use crate::store::{Tx, bitmap};
use crate::types::{MessageId, UserId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, Row};

/// The queues of a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Push notifications. Only used if there are subscriptions.
    Push,
    /// Mail. Only used if the server sends mail.
    Mail,
}

impl Queue {
    const ALL: [Self; 2] = [Self::Push, Self::Mail];

    /// The table of messages whose notifications are to be decided.
    pub fn waiting(self) -> &'static str {
        match self {
            Self::Push => "push_message",
            Self::Mail => "mail_message",
        }
    }

    /// The table of messages that are held for users who are not away.
    pub fn held(self) -> &'static str {
        match self {
            Self::Push => "push_held",
            Self::Mail => "mail_held",
        }
    }
}

/// The tables that are empty if a queue is not used, in the order of the queues. The writer has to notice their changes
/// ([`Tx::kept`]).
pub const TABLES: &[&str] = &["push_subscription", "mail_setup"];

/// The queues that are used, in the order of [`Queue::ALL`].
#[derive(Clone, Copy)]
struct UsedQueues([bool; Queue::ALL.len()]);

fn used_queues(connection: &Connection) -> rusqlite::Result<UsedQueues> {
    let statement = "SELECT EXISTS (SELECT 1 FROM push_subscription), EXISTS (SELECT 1 FROM mail_setup)";
    let used = |row: &Row<'_>| Ok(UsedQueues([row.get(0)?, row.get(1)?]));
    connection.prepare_cached(statement)?.query_row([], used)
}

/// Queues a message that was sent. It is read for `known_to`, although the read states of some are stored later.
pub fn message_sent(
    tx: &mut Tx<'_>,
    message_id: MessageId,
    known_to: Option<&RoaringBitmap>,
) -> rusqlite::Result<()> {
    insert(tx, message_id, None, known_to)
}

/// Queues a message that was edited and may mention more users now. `known_to` were mentioned before.
pub fn message_edited(
    tx: &mut Tx<'_>,
    message_id: MessageId,
    editor_id: UserId,
    known_to: &RoaringBitmap,
) -> rusqlite::Result<()> {
    insert(tx, message_id, Some(editor_id), Some(known_to))
}

fn insert(
    tx: &mut Tx<'_>,
    message_id: MessageId,
    edited_by: Option<UserId>,
    known_to: Option<&RoaringBitmap>,
) -> rusqlite::Result<()> {
    let UsedQueues(used) = tx.kept(used_queues)?;
    for (queue, is_used) in Queue::ALL.into_iter().zip(used) {
        if is_used {
            insert_into(tx, queue, message_id, edited_by, known_to)?;
        }
    }
    Ok(())
}

fn insert_into(
    tx: &mut Tx<'_>,
    queue: Queue,
    message_id: MessageId,
    edited_by: Option<UserId>,
    known_to: Option<&RoaringBitmap>,
) -> rusqlite::Result<()> {
    let table = queue.waiting();
    // Ids are in the order of the queue, so that their distance limits its length.
    let inserted = tx
        .prepare_cached(&format!(
            "INSERT INTO {table} (message_id, edited_by, known_to) SELECT ?1, ?2, ?3
             WHERE coalesce((SELECT max(id) FROM {table}) - (SELECT min(id) FROM {table}), 0) < ?4"
        ))?
        .execute((message_id, edited_by, known_to.map(bitmap::to_blob), MAX_WAITING_MESSAGES))?;
    if inserted == 0 {
        tracing::warn!(%message_id, ?queue, "no one is notified of a message, because too many wait for the decision");
    }
    tx.wake_tasks_after_commit();
    Ok(())
}
