//! Periodic maintenance of event queues: expiry, saving positions, trimming the log.

use super::hub::Hub;
use super::log::EventHead;
use super::{QueueId, log, queue_store};
use crate::store::{StoreError, Tx, Writer};
use crate::types::{Clock, EventId};
use std::collections::VecDeque;

/// Events of the log that are looked at in one snapshot.
const EVENTS_PER_SNAPSHOT: usize = 1000;

/// Rows of queues written in one job.
const QUEUES_PER_JOB: usize = 200;

/// Removes expired queues, saves the positions of the others, and removes the events that none of them needs, from memory
/// and from the file.
pub async fn run_maintenance(hub: &Hub, writer: &Writer, clock: &Clock) {
    hub.expire(clock.monotonic());
    hub.trim_buffer();
    save_queues(hub, writer).await;
    match trim_log(hub, writer, clock).await {
        Ok(()) | Err(StoreError::Stopped) => {}
        Err(error) => tracing::warn!(%error, "the event log was not trimmed"),
    }
}

/// Removes the events that no queue can still ask for, and then the audiences that no event has any more. Events are looked at
/// in snapshots, and removed in short jobs. Idle queues that would keep too many bytes expire.
async fn trim_log(hub: &Hub, writer: &Writer, clock: &Clock) -> Result<(), StoreError> {
    let mut needs = hub.needs(clock.monotonic());
    let (mut after, mut is_trimmed) = (EventId(0), false);
    loop {
        let read = hub.readers.read(|snapshot| -> Result<_, StoreError> {
            Ok(log::read_heads(snapshot, after, needs.head, EVENTS_PER_SNAPSHOT)?)
        });
        let heads = read.await?;
        let Some(last) = heads.last() else { break };
        after = last.id;
        let mut unneeded = VecDeque::new();
        for EventHead { id, event_type, audience, bytes } in heads {
            if !needs.is_needed(id, &event_type, &audience, bytes) {
                unneeded.push_back(id);
            }
        }
        if unneeded.is_empty() {
            continue;
        }
        is_trimmed = true;
        let remove = move |tx: &mut Tx<'_>| -> Result<bool, StoreError> {
            unneeded.pop_front().map_or(Ok(()), |id| log::remove(tx, id))?;
            Ok(unneeded.is_empty())
        };
        writer.run_in_steps("event_log", remove).await?;
    }
    for queue_id in needs.excessive() {
        tracing::warn!(%queue_id, "an idle queue expires: the log would keep too much for it");
        hub.abandon(&queue_id);
    }
    if is_trimmed { remove_unused_audiences(hub, writer).await } else { Ok(()) }
}

async fn remove_unused_audiences(hub: &Hub, writer: &Writer) -> Result<(), StoreError> {
    let mut after = 0;
    loop {
        let read = hub.readers.read(|snapshot| -> Result<_, StoreError> {
            Ok(log::unused_audiences(snapshot, after, EVENTS_PER_SNAPSHOT)?)
        });
        let mut unused = read.await?;
        let Some(last) = unused.last() else { return Ok(()) };
        after = *last;
        let remove = move |tx: &mut Tx<'_>| -> Result<bool, StoreError> {
            let (connection, stored) = tx.cache_mut();
            unused.pop().map_or(Ok(()), |id| log::remove_audience(connection, stored, id))?;
            Ok(unused.is_empty())
        };
        writer.run_in_steps("event_audiences", remove).await?;
    }
}

/// Deletes the rows of queues that have expired, and saves how far the clients of the others are. Also when the server stops.
pub async fn save_queues(hub: &Hub, writer: &Writer) {
    let mut expired: VecDeque<QueueId> = hub.take_expired().into();
    while !expired.is_empty() {
        let some = std::mem::take(&mut expired);
        let removed = writer.run(move |tx| -> Result<_, StoreError> {
            let (mut some, mut budget) = (some, tx.budget("expired_queues"));
            while !some.is_empty() && budget.next_step() {
                some.pop_front().map_or(Ok(()), |queue_id| queue_store::delete_queue(tx, &queue_id))?;
            }
            Ok(some)
        });
        match removed.await {
            Ok(rest) => expired = rest,
            Err(error) => {
                tracing::warn!(%error, "expired queues stay in the file until the next start");
            }
        }
    }
    for some in hub.take_unsaved_positions().chunks(QUEUES_PER_JOB) {
        let some = some.to_vec();
        let saved =
            writer.run(move |tx| -> Result<(), StoreError> { queue_store::update_positions(tx, &some) });
        if let Err(error) = saved.await {
            tracing::warn!(%error, "queue positions were not saved; clients know theirs");
        }
    }
}
