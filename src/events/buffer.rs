//! The recent end of the log in memory, shared by all queues.

use super::delivery::Deliverable;
use super::pending::CommittedEvent;
use super::{Audience, Receiver, Registry, log::LogRow};
use crate::types::EventId;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write;
use std::sync::Arc;

/// Events kept in memory; a queue that is further behind reads the table.
const MAX_EVENTS: usize = 4096;

/// Bytes of serialized events kept in memory. The forms that are written of them may take as much again.
const MAX_BYTES: usize = 1 << 20;

/// An event with its number and audience.
pub struct BufferedEvent {
    /// Its number in the log.
    pub id: EventId,
    /// Its `type` on the wire.
    pub event_type: Cow<'static, str>,
    /// Who it is for.
    pub audience: Audience,
    /// The event; `None` for a row of the log that this program cannot read.
    event: Option<Arc<dyn Deliverable>>,
    /// How much memory it takes, about, in bytes.
    pub size: usize,
}

/// An event cannot be delivered to a queue that must not miss it.
#[derive(Debug)]
pub struct Undeliverable;

impl BufferedEvent {
    /// An event that was just published.
    pub fn published(committed: CommittedEvent) -> Self {
        let CommittedEvent { id, audience, event, size } = committed;
        Self { id, event_type: Cow::Borrowed(event.event_type()), audience, event: Some(event), size }
    }

    /// An event that is read from the log.
    pub fn logged(row: LogRow, registry: &Registry) -> Self {
        let size = row.payload.len() + row.routing.as_ref().map_or(0, String::len);
        let event = registry.read(&row).inspect_err(|error| {
            tracing::warn!(id = %row.id, %error, "queues that wait for an unreadable event will expire");
        });
        Self {
            id: row.id,
            event_type: row.event_type.into(),
            audience: row.audience,
            event: event.ok(),
            size,
        }
    }

    /// Appends the event as a receiver sees it, and returns whether the receiver gets it at all.
    pub fn write_for(&self, receiver: &Receiver<'_>, out: &mut String) -> Result<bool, Undeliverable> {
        let event = self.event.as_ref().ok_or(Undeliverable)?;
        // Writing to a string cannot fail.
        let _infallible = write!(out, "{{\"id\":{},", self.id);
        let is_delivered = event.write_for(receiver, out).map_err(|error| {
            tracing::error!(id = %self.id, %error, "an event could not be written for a queue");
            Undeliverable
        })?;
        out.push('}');
        Ok(is_delivered)
    }
}

/// The newest events, in order.
pub struct EventBuffer {
    events: VecDeque<Arc<BufferedEvent>>,
    bytes: usize,
    /// Every logged event with a greater number is in the buffer.
    base: EventId,
}

impl EventBuffer {
    /// Returns an empty buffer that starts after an event.
    pub fn after(base: EventId) -> Self {
        Self { events: VecDeque::new(), bytes: 0, base }
    }

    /// Returns the number after which the buffer is complete. Older events are only in the table.
    pub fn base(&self) -> EventId {
        self.base
    }

    /// Adds the newest event and removes the oldest ones that have no room any more.
    pub fn push(&mut self, event: Arc<BufferedEvent>) {
        self.bytes += event.size;
        self.events.push_back(event);
        while self.events.len() > MAX_EVENTS || (self.bytes > MAX_BYTES && self.events.len() > 1) {
            if let Some(oldest) = self.events.pop_front() {
                self.bytes -= oldest.size;
                self.base = oldest.id;
            }
        }
    }

    /// Returns the events after a number, the oldest first.
    pub fn after_id(&self, after: EventId) -> impl Iterator<Item = &Arc<BufferedEvent>> {
        let start = self.events.partition_point(|event| event.id <= after);
        self.events.range(start..)
    }
}
