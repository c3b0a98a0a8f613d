//! What slices emit, and how one event becomes what each receiver sees.

use super::{QueueId, Registration};
use crate::types::UserId;
use serde::Serialize;
use serde_json::Value;

/// An event as a slice emits it. Serialized once, for all receivers, without `id`; it includes `type`.
pub trait Event: Serialize {
    /// The event's `type` on the wire, which a queue's `event_types` filters.
    const TYPE: &'static str;
}

/// A queue for which an event is delivered.
#[derive(Clone, Copy)]
pub struct Receiver<'a> {
    /// Whose queue it is.
    pub user_id: UserId,
    /// The queue.
    pub queue_id: &'a QueueId,
    /// What it asked for.
    pub registration: &'a Registration,
}

/// What a queue gets of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Skip,
    /// The form of this number. Forms are made once and shared by all queues that get them.
    Form(u8),
}

/// How the events of one type differ between receivers. A type that is not listed is the same for all.
pub struct EventType {
    /// The `type`.
    pub name: &'static str,
    /// Whether a queue gets the event, and in which form.
    pub verdict: fn(&Value, &Receiver<'_>) -> Verdict,
    /// The event in a form, as a JSON object without `id`.
    pub form: fn(&Value, u8) -> String,
    /// Members that only this receiver's copy has, as JSON text without braces; empty for none.
    pub personal: fn(&Value, &Receiver<'_>) -> String,
}

impl EventType {
    /// For types whose copies have no personal members.
    pub fn nothing_personal(_event: &Value, _receiver: &Receiver<'_>) -> String {
        String::new()
    }
}
