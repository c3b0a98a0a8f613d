//! The event log, and the queues that read it.
//!
//! - [`Event`] and [`Audience`]: what a slice emits, and for whom;
//! - [`log`]: the `event` table, written with the changes it tells of;
//! - [`EventType`]: what differs between the receivers of an event, decided at delivery;
//! - [`Registration`] and [`Hub`]: the queues, each a cursor into the log, and the recent tail of the log in memory;
//! - [`Hub::poll`]: waiting for events.
//!
//! An event's id is its number in the log. Nothing here knows a resource.

mod audience;
mod event;
mod house;
mod hub;
pub mod log;
mod long_poll;
mod registration;
mod tail;

pub use audience::Audience;
pub use event::{Event, EventType, Receiver, Verdict};
pub use house::{delete_queue, delete_queues_of, insert_queue, keep_house, save};
pub use hub::{Hub, QueueError};
pub use long_poll::Delivery;
pub use registration::{Capabilities, NewQueue, QueueId, Registration};
