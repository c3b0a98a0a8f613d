//! Messages that people missed, collected for mail: statements.
//!
//! A batch has the missed messages of one person. Its first message sets when mail is sent; later ones join it.

use crate::domain::limits::MAX_MISSED_MESSAGES;
use crate::domain::user_settings::EMAIL_NOTIFICATIONS_BATCHING_PERIOD_SECONDS;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::{MessageId, UserId};
use rusqlite::{Connection, OptionalExtension};

/// Seconds for which a batch is due before later messages join it: the queue of mail has no room. With a batch for each period, the
/// end of an outage would cause hundreds of emails to each person.
const OVERDUE: i64 = 60;

/// The missed messages of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Names the row.
    pub id: i64,
    /// The person.
    pub user_id: UserId,
    /// When mail is sent, in UNIX seconds.
    pub due: i64,
}

/// Adds a message to the batch of a person that is not due yet or is overdue, or begins one. Beyond [`MAX_MISSED_MESSAGES`] the
/// oldest message of the batch is dropped.
pub fn add(tx: &mut Tx<'_>, user_id: UserId, message_id: MessageId) -> ApiResult<()> {
    let open: Option<(i64, i64)> = tx
        .prepare_cached(
            "SELECT id, due FROM missed_batch WHERE user_id = ?1 AND due NOT BETWEEN ?3 AND ?2 ORDER BY due LIMIT 1",
        )?
        .query_row((user_id, tx.now(), tx.now() - OVERDUE + 1), |row| row.try_into())
        .optional()?;
    let latest = tx.now() + EMAIL_NOTIFICATIONS_BATCHING_PERIOD_SECONDS.get(tx, user_id)?;
    let batch_id = match open {
        Some((batch_id, due)) if due <= latest => batch_id,
        // It began while the clock was ahead.
        Some((batch_id, _)) => {
            tx.execute_cached("UPDATE missed_batch SET due = ?2 WHERE id = ?1", (batch_id, latest))?;
            tx.wake_tasks_after_commit();
            batch_id
        }
        None => {
            tx.execute_cached("INSERT INTO missed_batch (user_id, due) VALUES (?1, ?2)", (user_id, latest))?;
            tx.wake_tasks_after_commit();
            tx.last_insert_rowid()
        }
    };
    let added = tx
        .prepare_cached("INSERT OR IGNORE INTO missed_message (batch_id, message_id) VALUES (?1, ?2)")?
        .execute((batch_id, message_id))?;
    if added == 0 {
        return Ok(());
    }
    let count: i64 = tx
        .prepare_cached("UPDATE missed_batch SET count = count + 1 WHERE id = ?1 RETURNING count")?
        .query_row([batch_id], |row| row.get(0))?;
    if count > MAX_MISSED_MESSAGES {
        let oldest: MessageId = tx
            .prepare_cached("SELECT min(message_id) FROM missed_message WHERE batch_id = ?1")?
            .query_row([batch_id], |row| row.get(0))?;
        remove(tx, batch_id, &[oldest])?;
    }
    Ok(())
}

/// Makes messages due again whose email was not sent, because it is not right any more.
pub fn put_back(tx: &mut Tx<'_>, user_id: UserId, message_ids: &[MessageId]) -> ApiResult<()> {
    if message_ids.is_empty() {
        return Ok(());
    }
    tx.execute_cached(
        "INSERT INTO missed_batch (user_id, due, count) VALUES (?1, ?2, ?3)",
        (user_id, tx.now(), message_ids.len() as i64),
    )?;
    let batch_id = tx.last_insert_rowid();
    tx.execute_cached(
        "INSERT INTO missed_message (batch_id, message_id) SELECT ?1, value FROM json_each(?2)",
        (batch_id, serde_json::to_string(message_ids)?),
    )?;
    tx.wake_tasks_after_commit();
    Ok(())
}

/// Moves the times of a person's batches, whose setting became this many seconds longer.
pub fn period_changed(tx: &mut Tx<'_>, user_id: UserId, longer: i64) -> rusqlite::Result<()> {
    let moved = tx
        .prepare_cached("UPDATE missed_batch SET due = due + ?2 WHERE user_id = ?1")?
        .execute((user_id, longer))?;
    if moved > 0 {
        tx.wake_tasks_after_commit();
    }
    Ok(())
}

/// The first batches after a position in the order of times that are due at `now`, or the first one if it is not due.
pub fn batches_after(
    connection: &Connection,
    (due, id): (i64, i64),
    now: i64,
    limit: usize,
) -> rusqlite::Result<Vec<Batch>> {
    let mut batches: Vec<Batch> = connection
        .prepare_cached(
            "SELECT id, user_id, due FROM missed_batch WHERE due >= ?1 AND (due > ?1 OR id > ?2)
             ORDER BY due, id LIMIT ?3",
        )?
        .query_map((due, id, limit as i64), |row| {
            Ok(Batch { id: row.get(0)?, user_id: row.get(1)?, due: row.get(2)? })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let due = batches.partition_point(|batch| batch.due <= now);
    batches.truncate(due.max(1));
    Ok(batches)
}

/// The messages of a batch, ascending.
pub fn messages_of(connection: &Connection, batch_id: i64) -> rusqlite::Result<Vec<MessageId>> {
    connection
        .prepare_cached("SELECT message_id FROM missed_message WHERE batch_id = ?1 ORDER BY message_id")?
        .query_map([batch_id], |row| row.get(0))?
        .collect()
}

/// Removes messages from a batch.
pub fn remove(tx: &Tx<'_>, batch_id: i64, message_ids: &[MessageId]) -> ApiResult<()> {
    let removed = tx
        .prepare_cached(
            "DELETE FROM missed_message
             WHERE batch_id = ?1 AND message_id IN (SELECT value FROM json_each(?2))",
        )?
        .execute((batch_id, serde_json::to_string(message_ids)?))?;
    tx.execute_cached(
        "UPDATE missed_batch SET count = count - ?2 WHERE id = ?1",
        (batch_id, removed as i64),
    )?;
    Ok(())
}

/// Removes a batch that has no messages any more.
pub fn remove_empty(tx: &Tx<'_>, batch_id: i64) -> rusqlite::Result<()> {
    tx.execute_cached(
        "DELETE FROM missed_batch WHERE id = ?1
         AND NOT EXISTS (SELECT 1 FROM missed_message WHERE batch_id = ?1)",
        [batch_id],
    )
}

/// True if there are no batches.
pub fn is_clear(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT NOT EXISTS (SELECT 1 FROM missed_batch)")?
        .query_row([], |row| row.get(0))
}

/// Removes a few messages or a batch: the server does not send mail any more. Returns false if there are none.
pub fn clear_some(tx: &Tx<'_>) -> rusqlite::Result<bool> {
    let messages = tx
        .prepare_cached(
            "DELETE FROM missed_message WHERE (batch_id, message_id) IN
                 (SELECT batch_id, message_id FROM missed_message LIMIT 100)",
        )?
        .execute([])?;
    if messages > 0 {
        return Ok(true);
    }
    let batches = tx
        .prepare_cached("DELETE FROM missed_batch WHERE id IN (SELECT id FROM missed_batch LIMIT 100)")?
        .execute([])?;
    Ok(batches > 0)
}
