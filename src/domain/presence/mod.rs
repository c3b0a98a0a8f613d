//! Presence: rows, rules, the formats on the wire, and `presence` events.

pub mod change;
pub mod events;
pub mod record;
pub mod rules;
pub mod sql;
pub mod state;
