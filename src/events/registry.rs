//! The list of all events, by which rows of the log are read back.

use super::delivery::{Deliverable, share};
use super::event::{Event, Routed};
use super::log::LogRow;
use std::sync::Arc;

/// All events that can be emitted.
pub struct Registry {
    kinds: &'static [EventKind],
}

/// An event type, and how its rows are read.
pub struct EventKind {
    /// The event's `type` on the wire.
    pub event_type: &'static str,
    /// The name in the log.
    pub name: &'static str,
    /// The version of the stored form.
    pub version: u32,
    parse: fn(&LogRow) -> serde_json::Result<Arc<dyn Deliverable>>,
}

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
    /// The row is not what its name and version promise.
    #[error("malformed {name:?}: {source}")]
    Malformed {
        /// The event type.
        name: &'static str,
        /// What is wrong.
        source: serde_json::Error,
    },
}

impl EventKind {
    /// Returns the entry of an event type.
    pub const fn of<E: Event>() -> Self {
        Self { event_type: E::TYPE, name: E::NAME, version: E::VERSION, parse: parse::<E> }
    }
}

fn parse<E: Event>(row: &LogRow) -> serde_json::Result<Arc<dyn Deliverable>> {
    let event: E = serde_json::from_str(&row.payload)?;
    let routing = serde_json::from_str(row.routing.as_deref().unwrap_or("null"))?;
    Ok(share(Routed { event, routing }))
}

impl Registry {
    /// Makes a registry.
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

    /// Returns the event of a row. Rows of unknown types and of other versions are refused, never guessed at.
    pub(super) fn read(&self, row: &LogRow) -> Result<Arc<dyn Deliverable>, UnreadableRow> {
        let kind = self.kinds.iter().find(|kind| *kind.name == *row.name);
        let kind = kind.ok_or_else(|| UnreadableRow::UnknownName(row.name.clone()))?;
        if kind.version != row.version {
            let (found, known) = (row.version, kind.version);
            return Err(UnreadableRow::OtherVersion { name: kind.name, found, known });
        }
        (kind.parse)(row).map_err(|source| UnreadableRow::Malformed { name: kind.name, source })
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

/// Lists all events: marks each as `Registered` and makes the
/// [`Registry`] of them.
macro_rules! register_events {
    ($(#[$meta:meta])* $visibility:vis static $registry:ident = [$($event:ty),* $(,)?];) => {
        $(impl $crate::events::Registered for $event {})*

        $(#[$meta])*
        $visibility static $registry: $crate::events::Registry =
            $crate::events::Registry::new(&[$($crate::events::EventKind::of::<$event>()),*]);
    };
}
pub(crate) use register_events;
