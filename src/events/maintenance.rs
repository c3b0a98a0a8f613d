//! Periodic maintenance of event queues: expiry, saving positions, trimming the log.

use super::hub::Hub;
use super::{log, queue_store};
use crate::store::{StoreError, Writer};
use crate::types::Clock;

/// Rows removed in one job, so that no request waits long behind it.
const MAX_TRIMMED_PER_JOB: usize = 2000;

/// Removes queues that were not polled for ten minutes, saves the positions of the others, and trims the log to what they
/// can still ask for.
pub async fn run_maintenance(hub: &Hub, writer: &Writer, clock: &Clock) {
    let expired = hub.expire(clock.milliseconds());
    if !expired.is_empty() {
        let removed = writer.run(move |tx| -> Result<(), StoreError> {
            expired.iter().try_for_each(|queue_id| queue_store::delete_queue(tx, queue_id))
        });
        if let Err(error) = removed.await {
            tracing::warn!(%error, "expired queues stay in the file until the next start");
        }
    }
    save_positions(hub, writer).await;
    let until = hub.low_watermark();
    loop {
        let trimmed = writer.run(move |tx| -> Result<usize, StoreError> {
            let (connection, stored) = tx.cache_mut();
            Ok(log::trim(connection, stored, until, MAX_TRIMMED_PER_JOB)?)
        });
        match trimmed.await {
            Ok(rows) if rows == MAX_TRIMMED_PER_JOB => {}
            Ok(_) => return,
            Err(error) => {
                tracing::warn!(%error, "the event log was not trimmed");
                return;
            }
        }
    }
}

/// Saves how far each queue's client is.
pub async fn save_positions(hub: &Hub, writer: &Writer) {
    let positions = hub.drain_dirty_positions();
    if positions.is_empty() {
        return;
    }
    let saved = writer
        .run(move |tx| -> Result<(), StoreError> { queue_store::update_positions(tx, &positions) })
        .await;
    if let Err(error) = saved {
        tracing::warn!(%error, "queue positions were not saved; clients know theirs");
    }
}
