//! Bots: rows, rules, changes of key and owner, wire forms, and `realm_bot` events.

pub mod change;
pub mod events;
pub mod record;
pub mod rules;
pub mod sql;
