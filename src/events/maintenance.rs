//! Periodic maintenance of event queues: expiry, saving positions, trimming the log.

use super::hub::Hub;
use super::{log, queue_store};
use crate::store::{StoreError, Tx, Writer};
use crate::types::Clock;

/// Rows of events removed in one job, so that requests do not wait long for it.
const MAX_TRIMMED_PER_JOB: usize = 2000;

/// Rows of queues written in one job.
const MAX_QUEUES_PER_JOB: usize = 500;

/// Unused audiences are looked for while the log is no longer than this, since that reads all of it. A longer log is
/// held by a slow queue, and most of its audiences are in use.
const MAX_EVENTS_SEARCHED: i64 = 10_000;

/// Removes expired queues, saves the positions of the others, and trims the log, in memory and in the file, to the
/// events that they need.
pub async fn run_maintenance(hub: &Hub, writer: &Writer, clock: &Clock) {
    hub.expire(clock.monotonic());
    hub.trim_buffer();
    save_queues(hub, writer).await;
    if let Err(error) = trim_log(hub, writer).await {
        tracing::warn!(%error, "the event log was not trimmed");
    }
}

/// Removes the events that no queue can still ask for, in short jobs, and then the audiences that no event has any more.
async fn trim_log(hub: &Hub, writer: &Writer) -> Result<(), StoreError> {
    let until = hub.low_watermark();
    let mut is_trimmed = false;
    loop {
        let trim = move |tx: &mut Tx<'_>| -> Result<_, StoreError> {
            Ok(log::trim(tx, until, MAX_TRIMMED_PER_JOB)?)
        };
        let rows = writer.run(trim).await?;
        if rows == 0 {
            break;
        }
        is_trimmed = true;
    }
    if is_trimmed && hub.head().0 - until.0 <= MAX_EVENTS_SEARCHED {
        let remove = |tx: &mut Tx<'_>| -> Result<(), StoreError> {
            let (connection, stored) = tx.cache_mut();
            Ok(log::remove_unused_audiences(connection, stored)?)
        };
        writer.run(remove).await?;
    }
    Ok(())
}

/// Deletes the rows of queues that have expired, and saves how far the clients of the others are.
pub async fn save_queues(hub: &Hub, writer: &Writer) {
    for some in hub.take_expired().chunks(MAX_QUEUES_PER_JOB) {
        let some = some.to_vec();
        let removed = writer.run(move |tx| -> Result<(), StoreError> {
            some.iter().try_for_each(|queue_id| queue_store::delete_queue(tx, queue_id))
        });
        if let Err(error) = removed.await {
            tracing::warn!(%error, "expired queues stay in the file until the next start");
        }
    }
    for some in hub.drain_dirty_positions().chunks(MAX_QUEUES_PER_JOB) {
        let some = some.to_vec();
        let saved =
            writer.run(move |tx| -> Result<(), StoreError> { queue_store::update_positions(tx, &some) });
        if let Err(error) = saved.await {
            tracing::warn!(%error, "queue positions were not saved; clients know theirs");
        }
    }
}
