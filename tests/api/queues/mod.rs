//! Event queues.

mod events;
