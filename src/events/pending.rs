//! Events between emission and delivery.

use super::audience::Audience;
use super::serialized::SerializedEvent;
use crate::types::{EventId, MessageId};

/// An event that has no number yet.
pub struct PendingEvent {
    /// The users to whom the event is delivered.
    pub audience: Audience,
    pub event: SerializedEvent,
    /// The message whose text it has.
    pub message_id: Option<MessageId>,
    /// True if it gets a row in the log.
    pub is_logged: bool,
}

/// An event with its number, ready to be published.
pub struct CommittedEvent {
    /// Number of the event in the log.
    pub id: EventId,
    /// The receivers.
    pub audience: Audience,
    pub event: SerializedEvent,
    /// True if it has a row in the log.
    pub is_logged: bool,
}

impl PendingEvent {
    /// Gives the event its number.
    pub fn numbered(self, id: EventId) -> CommittedEvent {
        let Self { audience, event, is_logged, .. } = self;
        CommittedEvent { id, audience, event, is_logged }
    }
}
