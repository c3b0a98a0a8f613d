//! The recent end of the log in memory, shared by all queues.
//!
//! Events wait as text, of which the size is known. A queue needs an event as a value, since the type decides who gets which
//! form of it: the first queue that gets the event parses it, and the value is kept for the others only as long as the event
//! is one of the few that were parsed last.

use super::delivery::Deliverable;
use super::pending::CommittedEvent;
use super::serialized::SerializedEvent;
use super::{Audience, Receiver, Registry, log::LogRow};
use crate::types::EventId;
use parking_lot::Mutex;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::fmt::Write;
use std::sync::{Arc, Weak};

/// Events kept in memory; a queue that is further behind reads the table.
const MAX_EVENTS: usize = 4096;

/// Bytes of events kept in memory, with their audiences.
const MAX_BYTES: usize = 2 << 20;

/// Memory of an event besides its text: its members, two counters, its slot in the buffer, and the overhead of three
/// allocations.
const OVERHEAD: usize = size_of::<BufferedEvent>() + 5 * size_of::<usize>() + 3 * 16;

/// Events that are kept as values as well.
const MAX_PARSED: usize = 64;

/// Bytes of text of the events that are kept as values, but for the one that was parsed last.
const MAX_PARSED_BYTES: usize = 128 << 10;

/// An event with its number and audience.
pub struct BufferedEvent {
    /// Its number in the log.
    pub id: EventId,
    /// Its `type` on the wire.
    pub event_type: Cow<'static, str>,
    /// The users to whom the event is delivered.
    pub audience: Audience,
    /// The event; `None` for a row of the log that this program cannot read.
    event: Option<SerializedEvent>,
    /// The event as a value, if it is kept.
    value: Mutex<Option<Arc<dyn Deliverable>>>,
}

/// A change of an event whose text was withdrawn.
#[derive(Debug)]
pub enum Change {
    /// No queue gets it.
    Removed,
    /// Its members are others now.
    Payload(Box<str>),
    /// It has fewer receivers.
    Audience(Audience),
}

/// An event cannot be delivered to a queue that must not miss it.
#[derive(Debug)]
pub struct Undeliverable;

impl BufferedEvent {
    /// An event that was just published.
    pub fn published(committed: CommittedEvent) -> Self {
        let CommittedEvent { id, audience, event, .. } = committed;
        let event_type = Cow::Borrowed(event.kind.event_type);
        Self { id, event_type, audience, event: Some(event), value: Mutex::default() }
    }

    /// An event that is read from the log.
    pub fn logged(row: LogRow, registry: &Registry) -> Self {
        let LogRow { id, event_type, audience, .. } = row;
        let kind = registry.find(&row.name, row.version).inspect_err(|error| {
            tracing::warn!(%id, %error, "queues that wait for an unreadable event will expire");
        });
        let event =
            kind.ok().map(|kind| SerializedEvent { kind, payload: row.payload, routing: row.routing });
        Self { id, event_type: event_type.into(), audience, event, value: Mutex::default() }
    }

    /// Returns the event as it is after a change; `None` if no queue gets it any more.
    fn changed(&self, change: Change) -> Option<Self> {
        let (mut event, mut audience) = (self.event.clone(), self.audience.clone());
        match change {
            Change::Removed => return None,
            Change::Payload(payload) => {
                if let Some(event) = &mut event {
                    event.payload = payload;
                }
            }
            Change::Audience(fewer) => audience = fewer,
        }
        let event_type = self.event_type.clone();
        Some(Self { id: self.id, event_type, audience, event, value: Mutex::default() })
    }

    /// Returns how long its text is in bytes.
    pub fn size(&self) -> usize {
        self.event.as_ref().map_or(0, SerializedEvent::size)
    }

    /// Appends the event as a receiver sees it, and returns whether the receiver gets it at all. An event that had to be
    /// parsed is added to `parsed`; without one, its value stays as long as the event.
    pub fn write_for(
        self: &Arc<Self>,
        receiver: &Receiver<'_>,
        parsed: Option<&ParsedEvents>,
        out: &mut String,
    ) -> Result<bool, Undeliverable> {
        let value = self.value(parsed)?;
        // Writing to a string cannot fail.
        let _infallible = write!(out, "{{\"id\":{},", self.id);
        let is_delivered = value.write_for(receiver, out).map_err(|error| self.undeliverable(&error))?;
        out.push('}');
        Ok(is_delivered)
    }

    fn value(self: &Arc<Self>, parsed: Option<&ParsedEvents>) -> Result<Arc<dyn Deliverable>, Undeliverable> {
        let value = {
            let mut slot = self.value.lock();
            if let Some(value) = &*slot {
                return Ok(Arc::clone(value));
            }
            let event = self.event.as_ref().ok_or(Undeliverable)?;
            let value = event.parse().map_err(|error| self.undeliverable(&error))?;
            *slot = Some(Arc::clone(&value));
            value
        };
        if let Some(parsed) = parsed {
            parsed.add(self);
        }
        Ok(value)
    }

    /// True if the event is kept as a value.
    #[cfg(test)]
    pub fn has_value(&self) -> bool {
        self.value.lock().is_some()
    }

    fn undeliverable(&self, error: &serde_json::Error) -> Undeliverable {
        tracing::error!(id = %self.id, %error, "an event could not be written for a queue");
        Undeliverable
    }
}

/// The events that were parsed last, which are kept as values.
#[derive(Default)]
pub struct ParsedEvents(Mutex<Parsed>);

#[derive(Default)]
struct Parsed {
    /// The events, each with the length of its text.
    events: VecDeque<(Weak<BufferedEvent>, usize)>,
    bytes: usize,
}

impl ParsedEvents {
    fn add(&self, event: &Arc<BufferedEvent>) {
        let mut parsed = self.0.lock();
        parsed.events.push_back((Arc::downgrade(event), event.size()));
        parsed.bytes += event.size();
        while parsed.events.len() > 1 && (parsed.events.len() > MAX_PARSED || parsed.bytes > MAX_PARSED_BYTES)
        {
            let Some((oldest, size)) = parsed.events.pop_front() else { break };
            parsed.bytes -= size;
            forget_value(&oldest);
        }
    }

    /// Drops all values.
    pub fn clear(&self) {
        let Parsed { events, .. } = std::mem::take(&mut *self.0.lock());
        for (event, _) in events {
            forget_value(&event);
        }
    }
}

/// Drops the value of an event, which may have been dropped itself.
fn forget_value(event: &Weak<BufferedEvent>) {
    if let Some(event) = event.upgrade() {
        *event.value.lock() = None;
    }
}

/// The newest events, in order.
pub struct EventBuffer {
    events: VecDeque<Arc<BufferedEvent>>,
    bytes: usize,
    /// Number of events of each audience, by its serial number. Events share audiences.
    audiences: HashMap<u64, usize>,
    /// Every logged event with a greater number that some queue waits for is in the buffer.
    base: EventId,
}

impl EventBuffer {
    /// Returns an empty buffer that starts after an event.
    pub fn after(base: EventId) -> Self {
        Self { events: VecDeque::new(), bytes: 0, audiences: HashMap::new(), base }
    }

    /// Returns the number after which the buffer is complete. Older events are only in the table.
    pub fn base(&self) -> EventId {
        self.base
    }

    /// Adds the newest event and removes the oldest ones that have no room any more.
    pub fn push(&mut self, event: Arc<BufferedEvent>) {
        self.count(&event);
        self.events.push_back(event);
        while self.events.len() > MAX_EVENTS || (self.bytes > MAX_BYTES && self.events.len() > 1) {
            self.pop();
        }
    }

    /// Removes the events up to one: all queues have them.
    pub fn trim(&mut self, until: EventId) {
        while self.events.front().is_some_and(|oldest| oldest.id <= until) {
            self.pop();
        }
        self.events.shrink_to_fit();
        self.audiences.shrink_to_fit();
    }

    /// Changes an event, if it is in the buffer. Polls that have found it deliver it as it was.
    pub fn change(&mut self, id: EventId, change: Change) {
        let Ok(index) = self.events.binary_search_by_key(&id, |event| event.id) else { return };
        let Some(before) = self.events.remove(index) else { return };
        self.discount(&before);
        if let Some(after) = before.changed(change) {
            self.count(&after);
            self.events.insert(index, Arc::new(after));
        }
    }

    fn pop(&mut self) {
        let Some(oldest) = self.events.pop_front() else { return };
        self.base = oldest.id;
        self.discount(&oldest);
    }

    fn count(&mut self, event: &BufferedEvent) {
        self.bytes += OVERHEAD + event.size();
        let sharing = self.audiences.entry(event.audience.serial()).or_default();
        if *sharing == 0 {
            self.bytes += event.audience.size();
        }
        *sharing += 1;
    }

    fn discount(&mut self, event: &BufferedEvent) {
        self.bytes -= OVERHEAD + event.size();
        let serial = event.audience.serial();
        if let Some(sharing) = self.audiences.get_mut(&serial) {
            *sharing -= 1;
            if *sharing == 0 {
                self.audiences.remove(&serial);
                self.bytes -= event.audience.size();
            }
        }
    }

    /// Returns how many bytes are kept.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the events after a number, the oldest first.
    pub fn after_id(&self, after: EventId) -> impl Iterator<Item = &Arc<BufferedEvent>> {
        let start = self.events.partition_point(|event| event.id <= after);
        self.events.range(start..)
    }
}
