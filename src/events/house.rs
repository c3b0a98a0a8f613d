//! What is done about queues now and then: idle ones expire, positions are saved, the log is trimmed.

use super::log;
use crate::app::App;
use crate::store::{StoreError, Tx};
use crate::types::{EventId, UserId};

/// Rows removed in one job, so that no request waits long behind it.
const TRIMMED_AT_ONCE: usize = 2000;

/// Removes queues that nobody has asked for in ten minutes, saves how far the others are, and trims the log to what
/// they can still ask for.
pub async fn keep_house(app: &App) {
    let expired = app.hub.expire(app.clock.milliseconds());
    let removed = app.writer.run(move |tx| -> Result<(), StoreError> {
        for queue_id in &expired {
            delete_queue(tx, &queue_id.0)?;
        }
        Ok(())
    });
    if let Err(error) = removed.await {
        tracing::warn!(%error, "expired queues stay in the file until the next start");
    }
    save(app).await;
    let until = app.hub.acknowledged_by_all();
    loop {
        let trimmed = app.writer.run(move |tx| -> Result<usize, StoreError> {
            let (connection, stored) = tx.local();
            Ok(log::trim(connection, stored, until, TRIMMED_AT_ONCE)?)
        });
        match trimmed.await {
            Ok(rows) if rows == TRIMMED_AT_ONCE => {}
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(%error, "the event log was not trimmed");
                return;
            }
        }
    }
}

/// Writes down how far each queue's client is.
pub async fn save(app: &App) {
    let positions = app.hub.take_unsaved();
    if positions.is_empty() {
        return;
    }
    let saved = app.writer.run(move |tx| -> Result<(), StoreError> {
        let mut statement = tx.prepare_cached(
            "UPDATE event_queue SET acknowledged = ?2 WHERE queue_id = ?1 AND acknowledged < ?2",
        )?;
        for (queue_id, acknowledged) in &positions {
            statement.execute((&queue_id.0, acknowledged))?;
        }
        Ok(())
    });
    if let Err(error) = saved.await {
        tracing::warn!(%error, "queue positions were not saved; clients know theirs");
    }
}

/// Writes a queue's row. It is in the file before its client hears its name.
pub fn insert_queue(tx: &Tx<'_>, queue: &super::NewQueue) -> Result<(), StoreError> {
    let registration = serde_json::to_string(&*queue.registration).unwrap_or_default();
    let acknowledged: EventId = log::last_event_id(tx)?;
    tx.prepare_cached(
        "INSERT INTO event_queue (queue_id, user_id, registration, acknowledged) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute((&queue.queue_id.0, queue.user_id, registration, acknowledged))?;
    Ok(())
}

/// Removes a queue's row.
pub fn delete_queue(tx: &Tx<'_>, queue_id: &str) -> Result<(), StoreError> {
    tx.prepare_cached("DELETE FROM event_queue WHERE queue_id = ?1")?.execute([queue_id])?;
    Ok(())
}

/// Removes the rows of all queues of a user.
pub fn delete_queues_of(tx: &Tx<'_>, user_id: UserId) -> Result<(), StoreError> {
    tx.prepare_cached("DELETE FROM event_queue WHERE user_id = ?1")?.execute([user_id])?;
    Ok(())
}
