//! Withdrawing the text of deleted messages from events that are not delivered yet.
//!
//! A queue may wait for days for its client. A message that is deleted meanwhile is not delivered to it, nor are its edits; the
//! event about the deletion is. Rows keep their numbers, with nothing in them, and the events in memory are changed with the
//! commit.

use super::Audience;
use super::buffer::Change;
use super::log;
use super::log::{StoredAudiences, StoredEvent};
use super::registry::Registry;
use crate::store::{ExecuteCached, StoreError, Tx, bitmap};
use crate::types::{EventId, MessageId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, Row};
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum number of events changed by one job, and of their bytes, which are overwritten. One event may be longer. They are changed
/// after the job itself, so that its budget does not count them.
const EVENTS_PER_JOB: usize = 200;
const BYTES_PER_JOB: i64 = 1 << 20;

/// Events whose text is withdrawn: an item of the outbox of a job.
pub struct Withdrawal {
    /// The events; some may be trimmed by now.
    events: VecDeque<EventId>,
    /// Their length.
    bytes: i64,
    /// The users who do not get them; `None` for everyone.
    from: Option<Loss>,
}

/// Users who lose messages that others keep.
#[derive(Clone)]
struct Loss {
    receivers: Audience,
    /// The messages, ascending.
    message_ids: Arc<[MessageId]>,
    /// The row with which the next start continues, once a job has left events to the next one.
    row_id: Option<i64>,
}

impl Tx<'_> {
    /// Withdraws the text of messages, which are being deleted, from the events of earlier jobs. What is long is done in
    /// follow-up jobs.
    pub fn withdraw_events(&mut self, message_ids: &[MessageId]) -> Result<(), StoreError> {
        if self.is_muted() {
            return Ok(());
        }
        let mut events = VecDeque::new();
        for message_id in message_ids {
            events.extend(log::events_of_message(self, *message_id)?);
        }
        withdraw(self, events, None)
    }

    /// Withdraws events about messages, ascending, from some receivers only, who lose access to them. Events that are also about
    /// messages which they keep stay as they are. What is long is done in follow-up jobs.
    pub fn withdraw_events_from(
        &mut self,
        message_ids: &[MessageId],
        receivers: &Audience,
    ) -> Result<(), StoreError> {
        if self.is_muted() || receivers.is_empty() {
            return Ok(());
        }
        let loss = Loss { receivers: receivers.clone(), message_ids: message_ids.into(), row_id: None };
        let newest = log::last_event_id(self)?;
        let events = loss.events(self, newest)?;
        withdraw(self, events, Some(loss))
    }

    /// Continues the withdrawals from some receivers that the last stop interrupted.
    pub fn resume_withdrawals(&mut self) -> Result<(), StoreError> {
        let interrupted = self
            .prepare_cached(
                "SELECT id, message_ids, user_ids, also_public, until FROM event_withdrawal WHERE id > 0",
            )?
            .query_map([], Loss::read)?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        for (loss, until) in interrupted {
            let events = loss.events(self, until)?;
            withdraw(self, events, Some(loss))?;
        }
        Ok(())
    }
}

impl Loss {
    /// The events that have the text of the messages, up to one of the log.
    fn events(&self, connection: &Connection, until: EventId) -> rusqlite::Result<VecDeque<EventId>> {
        let (Some(first), Some(last)) = (self.message_ids.first(), self.message_ids.last()) else {
            return Ok(VecDeque::new());
        };
        let events = log::events_of_messages(connection, *first..=*last)?.into_iter();
        let withdrawn = events
            .filter(|(message_id, id)| *id <= until && self.message_ids.binary_search(message_id).is_ok());
        Ok(withdrawn.map(|(_, id)| id).collect())
    }

    /// Reads a row, and the newest event of which its withdrawal takes the text.
    fn read(row: &Row<'_>) -> rusqlite::Result<(Self, EventId)> {
        let set = |column| bitmap::from_blob(column, row.get_ref(column)?.as_blob()?);
        let receivers = Audience::set(set(2)?);
        let receivers = if row.get(3)? { receivers.and_public_queues() } else { receivers };
        let message_ids = set(1)?.into_iter().map(MessageId::from).collect();
        Ok((Self { receivers, message_ids, row_id: Some(row.get(0)?) }, row.get(4)?))
    }

    /// Inserts the row, unless it is there.
    fn store(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.row_id.is_none() {
            let message_ids: RoaringBitmap = self.message_ids.iter().filter_map(|id| id.bit()).collect();
            let receivers = &self.receivers;
            connection.execute_cached(
                "INSERT INTO event_withdrawal (message_ids, user_ids, also_public, until)
                 VALUES (?1, ?2, ?3, (SELECT max(id) FROM event))",
                (
                    bitmap::to_blob(&message_ids),
                    bitmap::to_blob(receivers.bitmap()),
                    receivers.is_also_public(),
                ),
            )?;
            self.row_id = Some(connection.last_insert_rowid());
        }
        Ok(())
    }
}

/// Withdraws some of the events in this job, and the others in follow-up jobs.
fn withdraw(
    tx: &mut Tx<'_>,
    mut events: VecDeque<EventId>,
    mut from: Option<Loss>,
) -> Result<(), StoreError> {
    let (mut earlier, mut earlier_bytes) = (0, 0);
    for withdrawal in tx.outbox_items::<Withdrawal>() {
        earlier += withdrawal.events.len();
        earlier_bytes += withdrawal.bytes;
    }
    let (mut count, mut bytes) = (0, 0);
    for id in events.iter().take(EVENTS_PER_JOB.saturating_sub(earlier)) {
        let length = log::length_of(tx, *id)?;
        if earlier_bytes + bytes + length > BYTES_PER_JOB && earlier + count > 0 {
            break;
        }
        bytes += length;
        count += 1;
    }
    let rest = events.split_off(count);
    if !events.is_empty() {
        tx.push_outbox(Box::new(Withdrawal { events, bytes, from: from.clone() }));
    }
    if rest.is_empty() {
        if let Some(row_id) = from.and_then(|loss| loss.row_id) {
            tx.execute_cached("DELETE FROM event_withdrawal WHERE id = ?1", [row_id])?;
        }
    } else {
        if let Some(loss) = &mut from {
            loss.store(tx)?;
        }
        tx.then(move |tx| Ok(withdraw(tx, rest, from)?));
    }
    Ok(())
}

impl Withdrawal {
    /// Changes the rows, and returns how the events in memory change.
    pub(super) fn apply(
        self,
        connection: &Connection,
        stored: &mut StoredAudiences,
        registry: &Registry,
    ) -> rusqlite::Result<Vec<(EventId, Change)>> {
        let mut changes = Vec::new();
        for id in self.events {
            let Some(event) = log::stored_event(connection, id)? else { continue };
            let change = match &self.from {
                None => Some(without_text(&event, &[], registry)),
                Some(loss) => fewer_receivers(&event, loss, registry),
            };
            let Some(change) = change else { continue };
            match &change {
                Change::Removed => log::clear(connection, id)?,
                Change::Payload(payload) => log::replace_payload(connection, id, payload)?,
                Change::Audience(audience) => log::replace_audience(connection, stored, id, audience)?,
            }
            changes.push((id, change));
        }
        Ok(changes)
    }
}

/// The event without its text. One that this program cannot read is removed: the queues that wait for it expire anyway.
fn without_text(event: &StoredEvent, gone: &[MessageId], registry: &Registry) -> Change {
    let kind = registry.find(&event.name, event.version);
    match kind.ok().map(|kind| (kind.without_text)(&event.payload, gone)) {
        Some(Ok(Some(payload))) => Change::Payload(payload.into_boxed_str()),
        _ => Change::Removed,
    }
}

/// The event for fewer receivers, if it is only about messages that the others lose.
fn fewer_receivers(event: &StoredEvent, loss: &Loss, registry: &Registry) -> Option<Change> {
    if !matches!(without_text(event, &loss.message_ids, registry), Change::Removed) {
        return None;
    }
    let from = &loss.receivers;
    let before = &event.audience;
    let users = before.bitmap() - from.bitmap();
    let is_public = before.is_also_public() && !from.is_also_public();
    if users.len() == before.bitmap().len() && is_public == before.is_also_public() {
        return None;
    }
    let after = Audience::set(users);
    let after = if is_public { after.and_public_queues() } else { after };
    Some(if after.is_empty() { Change::Removed } else { Change::Audience(after) })
}
