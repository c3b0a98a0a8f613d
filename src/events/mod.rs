//! The event log, and the queues that read it.
//!
//! - [`Event`] and [`Audience`]: a change, and its receivers. The type of an event decides which receiver gets it and
//!   in which form;
//! - [`Registry`]: the list of all events. Only listed ones can be emitted, and only these are read from the log;
//! - [`Tx::emit`](crate::store::Tx::emit): emits an event with the rows of a job; [`broadcast`]: sends one that is not
//!   kept, without the writer;
//! - [`EventSink`]: writes emitted events to the log and publishes them after the commit;
//! - [`log`]: the `event` table;
//! - [`Hub`]: the queues, each a cursor into the log, and the recent end of the log in memory. See its module for a picture
//!   of the cursors;
//! - [`Hub::poll`]: waits for events;
//! - [`Tx::withdraw_events`](crate::store::Tx::withdraw_events): removes the text of a deleted message from events that are not
//!   delivered;
//! - [`run_maintenance`]: expires idle queues, and removes events that no queue needs.
//!
//! An event's id is its number in the log. Nothing here knows a resource.
//!
//! From commit to queue an event is text, so that its memory can be counted. The first queue that receives an event
//! parses it; the others share the value, and each variant is serialized once. A row of the log with an unknown type or
//! version expires the queues that wait for it.

mod audience;
mod buffer;
mod delivery;
mod emit;
mod event;
mod hub;
mod ids;
pub mod log;
mod long_poll;
mod maintenance;
mod needs;
mod pending;
mod poll;
mod queue_store;
mod registration;
mod registry;
mod serialized;
mod state;
#[cfg(test)]
mod tests;
mod withdraw;

pub use audience::Audience;
pub use emit::{EventSink, broadcast};
pub(crate) use event::uniform_event;
pub use event::{Event, Form, Members, Receiver, Registered, Routed};
pub use hub::Hub;
pub use long_poll::{Delivery, Poller, observe_waits};
pub use maintenance::{run_maintenance, save_queues};
pub use poll::QueueError;
pub use queue_store::{delete_queue, delete_queues_of, insert_queue};
pub use registration::{
    Capabilities, DEFAULT_IDLE_SECONDS, MAX_EVENTS_BEHIND_IDLE, MAX_IDLE_SECONDS, NewQueue, QueueId,
    Registration,
};
pub(crate) use registry::register_events;
pub use registry::{EventKind, Registry, UnreadableRow};
pub use state::{MAX_EVENTS_BEHIND, MAX_QUEUES_PER_USER};
pub use withdraw::LateWithdrawal;
