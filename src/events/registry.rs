//! The list of all events, by which rows of the log are read back.

use super::delivery::{Deliverable, share};
use super::event::{Event, Routed};
use crate::types::MessageId;
use std::sync::Arc;

/// All events that can be emitted.
pub struct Registry {
    kinds: &'static [EventKind],
}

/// An event type, and how its text is read.
#[derive(Debug)]
pub struct EventKind {
    /// The event's `type` on the wire.
    pub event_type: &'static str,
    /// The name in the log.
    pub name: &'static str,
    /// The version of the stored form.
    pub version: u32,
    pub(super) parse: Parse,
    pub(super) without_text: WithoutText,
}

/// Reads an event from its members and its routing.
type Parse = fn(&str, Option<&str>) -> serde_json::Result<Arc<dyn Deliverable>>;

/// Writes the members of an event without the text of its message, while others are gone too; `None` if nothing is left to deliver.
type WithoutText = fn(&str, &[MessageId]) -> serde_json::Result<Option<String>>;

/// Why a row of the log cannot be delivered.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableRow {
    /// The event type is not in the registry.
    #[error("no event has the name {0:?}")]
    UnknownName(String),
    /// The row was written by a program with another version of the type.
    #[error("version {found} of {name:?} is stored, version {known} is known")]
    OtherVersion {
        /// The event type.
        name: &'static str,
        /// The version of the row.
        found: u32,
        /// The version that this program reads.
        known: u32,
    },
}

impl EventKind {
    /// Returns the entry of an event type.
    pub const fn of<E: Event>() -> Self {
        Self {
            event_type: E::TYPE,
            name: E::NAME,
            version: E::VERSION,
            parse: parse::<E>,
            without_text: without_text::<E>,
        }
    }
}

fn parse<E: Event>(payload: &str, routing: Option<&str>) -> serde_json::Result<Arc<dyn Deliverable>> {
    let event: E = serde_json::from_str(payload)?;
    let routing = serde_json::from_str(routing.unwrap_or("null"))?;
    Ok(share(Routed { event, routing }))
}

fn without_text<E: Event>(payload: &str, gone: &[MessageId]) -> serde_json::Result<Option<String>> {
    let event: E = serde_json::from_str(payload)?;
    event.without_text(gone).map(|event| serde_json::to_string(&event)).transpose()
}

impl Registry {
    /// Creates a registry.
    ///
    /// # Panics
    ///
    /// If two entries have one name. In a constant that is an error of the compiler.
    pub const fn new(kinds: &'static [EventKind]) -> Self {
        let mut one = 0;
        while one < kinds.len() {
            let mut other = 0;
            while other < one {
                assert!(!is_same(kinds[one].name, kinds[other].name), "two events have one name");
                other += 1;
            }
            one += 1;
        }
        Self { kinds }
    }

    /// Returns the event type of a row. Rows of unknown types and of other versions are refused, never guessed at.
    pub(super) fn find(&self, name: &str, version: u32) -> Result<&'static EventKind, UnreadableRow> {
        let kind = self.kinds.iter().find(|kind| *kind.name == *name);
        let kind = kind.ok_or_else(|| UnreadableRow::UnknownName(name.to_owned()))?;
        if kind.version != version {
            return Err(UnreadableRow::OtherVersion { name: kind.name, found: version, known: kind.version });
        }
        Ok(kind)
    }

    /// Returns all event types, in the order of the list.
    pub fn kinds(&self) -> &'static [EventKind] {
        self.kinds
    }
}

/// Compares two texts in a constant.
const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}

/// Lists all events: marks each as `Registered` and creates their [`Registry`].
macro_rules! register_events {
    ($(#[$meta:meta])* $visibility:vis static $registry:ident = [$($event:ty),* $(,)?];) => {
        $(impl $crate::events::Registered for $event {})*

        $(#[$meta])*
        $visibility static $registry: $crate::events::Registry =
            $crate::events::Registry::new(&[$($crate::events::EventKind::of::<$event>()),*]);
    };
}
pub(crate) use register_events;
