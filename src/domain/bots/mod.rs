//! Bots: rows, rules, who administers them, default channels, changes of key and owner, wire forms, and `realm_bot` events.

mod administrators;
pub mod change;
pub mod default_channels;
pub mod events;
pub mod integrations;
pub mod record;
pub mod rules;
mod sql;

pub use self::sql::*;
