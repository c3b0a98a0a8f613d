//! The `event_queue` table: queues as they survive a restart.

use super::registration::{NewQueue, QueueId, Registration};
use crate::store::{ExecuteCached, StoreError, Tx};
use crate::types::{EventId, UserId};
use rusqlite::Connection;

pub struct StoredQueue {
    /// Identifies the queue in requests.
    pub queue_id: QueueId,
    /// The owner.
    pub user_id: UserId,
    /// The parameters; an error if they cannot be parsed.
    pub registration: serde_json::Result<Registration>,
    /// Its client has everything up to here, and perhaps more.
    pub acknowledged: EventId,
}

/// Returns all queues.
pub fn load(connection: &Connection) -> rusqlite::Result<Vec<StoredQueue>> {
    let mut statement =
        connection.prepare("SELECT queue_id, user_id, registration, acknowledged FROM event_queue")?;
    let queues = statement.query_map([], |row| {
        Ok(StoredQueue {
            queue_id: QueueId(row.get::<_, String>(0)?.into()),
            user_id: row.get(1)?,
            registration: serde_json::from_str(row.get_ref(2)?.as_str()?),
            acknowledged: row.get(3)?,
        })
    })?;
    queues.collect()
}

/// Inserts a queue, which needs the events after `acknowledged`. The job has to run before its client learns the name: then
/// the queue is in the file before a change is acknowledged that the client has to get.
pub fn insert_queue(tx: &Tx<'_>, queue: &NewQueue, acknowledged: EventId) -> Result<(), StoreError> {
    let registration = serde_json::to_string(&*queue.registration)?;
    tx.execute_cached(
        "INSERT INTO event_queue (queue_id, user_id, registration, acknowledged) VALUES (?1, ?2, ?3, ?4)",
        (&queue.queue_id.0, queue.user_id, registration, acknowledged),
    )?;
    Ok(())
}

/// Updates the acknowledged positions of queues. A position never goes back.
pub fn update_positions(tx: &Tx<'_>, positions: &[(QueueId, EventId)]) -> Result<(), StoreError> {
    let mut statement = tx.prepare_cached(
        "UPDATE event_queue SET acknowledged = ?2 WHERE queue_id = ?1 AND acknowledged < ?2",
    )?;
    for (queue_id, acknowledged) in positions {
        statement.execute((&queue_id.0, acknowledged))?;
    }
    Ok(())
}

/// Deletes a queue.
pub fn delete_queue(tx: &Tx<'_>, queue_id: &QueueId) -> Result<(), StoreError> {
    tx.execute_cached("DELETE FROM event_queue WHERE queue_id = ?1", [&queue_id.0])?;
    Ok(())
}

/// A user whose queues are deleted: an item of the outbox of a job.
pub struct DeletedQueues(pub UserId);

/// Deletes all queues of a user. Their polls end with the commit.
pub fn delete_queues_of(tx: &mut Tx<'_>, user_id: UserId) -> Result<(), StoreError> {
    tx.execute_cached("DELETE FROM event_queue WHERE user_id = ?1", [user_id])?;
    tx.push_outbox(Box::new(DeletedQueues(user_id)));
    Ok(())
}
