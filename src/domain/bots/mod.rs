//! Bots: rows, rules, the `realm_bot` event, and changes of key and owner.

pub mod change;
pub mod events;
pub mod record;
pub mod rules;
pub mod sql;
