//! Events between emission and delivery.

use super::audience::Audience;
use super::delivery::{Deliverable, share};
use super::event::{Registered, Routed};
use super::log::LogRecord;
use crate::types::EventId;
use std::sync::Arc;

/// An event that has no number yet.
pub struct PendingEvent {
    /// Who it is for.
    pub audience: Audience,
    /// The event.
    pub event: Arc<dyn Deliverable>,
    /// Its row in the log; `None` if it is not logged.
    pub record: Option<LogRecord>,
}

/// An event with its number, ready to be published.
pub struct CommittedEvent {
    /// Its number.
    pub id: EventId,
    /// Who it is for.
    pub audience: Audience,
    /// The event.
    pub event: Arc<dyn Deliverable>,
    /// How much memory it takes, about, in bytes.
    pub size: usize,
}

/// The assumed size of an event that is not logged.
const UNLOGGED_SIZE: usize = 512;

impl PendingEvent {
    /// An event without a row in the log.
    pub fn unlogged<E: Registered>(event: impl Into<Routed<E>>, audience: Audience) -> Self {
        Self { audience, event: share(event.into()), record: None }
    }

    /// Gives the event its number.
    pub fn numbered(self, id: EventId) -> CommittedEvent {
        let size = self.record.map_or(UNLOGGED_SIZE, |record| record.size());
        CommittedEvent { id, audience: self.audience, event: self.event, size }
    }
}
