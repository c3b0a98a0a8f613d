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
use crate::error::ApiResult;
use crate::store::{FollowUp, StoreError, Tx, bitmap};
use crate::types::{EventId, MessageId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

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
#[derive(Clone, Serialize, Deserialize)]
struct Loss {
    #[serde(with = "bitmap")]
    message_ids: RoaringBitmap,
    #[serde(with = "bitmap")]
    user_ids: RoaringBitmap,
    /// True if queues that asked for all public channels lose them too.
    also_public: bool,
}

/// Events whose text follow-up jobs withdraw.
#[derive(Serialize, Deserialize)]
pub struct LateWithdrawal {
    events: VecDeque<EventId>,
    from: Option<Loss>,
}

impl FollowUp for LateWithdrawal {
    const NAME: &'static str = "withdrawal";

    fn run(self, tx: &mut Tx<'_>) -> ApiResult<()> {
        Ok(withdraw(tx, self.events, self.from)?)
    }
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
        let loss = Loss {
            message_ids: message_ids.iter().filter_map(|id| id.bit()).collect(),
            user_ids: receivers.bitmap().clone(),
            also_public: receivers.is_also_public(),
        };
        let events = loss.events(self)?;
        withdraw(self, events, Some(loss))
    }
}

impl Loss {
    /// The events that have the text of the messages.
    fn events(&self, connection: &Connection) -> rusqlite::Result<VecDeque<EventId>> {
        let (Some(first), Some(last)) = (self.message_ids.min(), self.message_ids.max()) else {
            return Ok(VecDeque::new());
        };
        let events = log::events_of_messages(connection, first.into()..=last.into())?.into_iter();
        let withdrawn = events.filter(|(message_id, _)| message_id.is_in(&self.message_ids));
        Ok(withdrawn.map(|(_, id)| id).collect())
    }
}

/// Withdraws some of the events in this job, and the others in follow-up jobs.
fn withdraw(tx: &mut Tx<'_>, mut events: VecDeque<EventId>, from: Option<Loss>) -> Result<(), StoreError> {
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
    if !rest.is_empty() {
        tx.then(LateWithdrawal { events: rest, from })?;
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
        let message_ids = self.from.iter().flat_map(|loss| &loss.message_ids);
        let message_ids: Vec<MessageId> = message_ids.map(MessageId::from).collect();
        let mut changes = Vec::new();
        for id in self.events {
            let Some(event) = log::stored_event(connection, id)? else { continue };
            let change = match &self.from {
                None => Some(without_text(&event, &[], registry)),
                Some(loss) => fewer_receivers(&event, loss, &message_ids, registry),
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

/// The event for fewer receivers, if it is only about messages that the others lose (`message_ids`, ascending).
fn fewer_receivers(
    event: &StoredEvent,
    loss: &Loss,
    message_ids: &[MessageId],
    registry: &Registry,
) -> Option<Change> {
    if !matches!(without_text(event, message_ids, registry), Change::Removed) {
        return None;
    }
    let before = &event.audience;
    let users = before.bitmap() - &loss.user_ids;
    let is_public = before.is_also_public() && !loss.also_public;
    if users.len() == before.bitmap().len() && is_public == before.is_also_public() {
        return None;
    }
    let after = Audience::set(users);
    let after = if is_public { after.and_public_queues() } else { after };
    Some(if after.is_empty() { Change::Removed } else { Change::Audience(after) })
}
