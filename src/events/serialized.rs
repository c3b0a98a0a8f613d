//! Events as text: as the log stores them, and as they wait in memory for queues.

use super::delivery::Deliverable;
use super::event::{Event, Registered, Routed};
use super::registry::EventKind;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// An event as text. The strings have no excess capacity, so that their memory can be counted. A typed value may have
/// any capacity.
#[derive(Clone, Debug)]
pub struct SerializedEvent {
    /// The type of the event.
    pub kind: &'static EventKind,
    /// Its members, as JSON.
    pub payload: Box<str>,
    /// Its routing, as JSON; `None` for an event without.
    pub routing: Option<Box<str>>,
}

impl SerializedEvent {
    /// Serializes an event.
    pub fn new<E: Registered>(routed: &Routed<E>) -> serde_json::Result<Self> {
        let payload = serde_json::to_string(&routed.event)?;
        let routing = serde_json::to_string(&routed.routing)?;
        debug_assert!(reads_back::<E>(&payload), "{} is not read as it is written: {payload}", E::NAME);
        debug_assert!(
            reads_back::<E::Routing>(&routing),
            "{} is not read as it is written: {routing}",
            E::NAME
        );
        let routing = (routing != "null").then(|| routing.into_boxed_str());
        Ok(Self { kind: KindOf::<E>::KIND, payload: payload.into_boxed_str(), routing })
    }

    /// Returns the length of the text in bytes, which is also the memory that it takes.
    pub fn size(&self) -> usize {
        self.payload.len() + self.routing.as_ref().map_or(0, |routing| routing.len())
    }

    /// Returns the event as a value, which queues can share.
    pub fn parse(&self) -> serde_json::Result<Arc<dyn Deliverable>> {
        (self.kind.parse)(&self.payload, self.routing.as_deref())
    }
}

/// The kind of an event type as a constant.
struct KindOf<E>(std::marker::PhantomData<E>);

impl<E: Event> KindOf<E> {
    const KIND: &'static EventKind = &EventKind::of::<E>();
}

/// Checks that a value that is read from its JSON text is written as the same text.
fn reads_back<T: Serialize + DeserializeOwned>(text: &str) -> bool {
    let written = serde_json::from_str::<T>(text).and_then(|value| serde_json::to_string(&value));
    written.is_ok_and(|written| written == text)
}
