//! Channels: statements, rules, the record on the wire, default channel groups, and `stream` events.

pub mod default_groups;
pub mod events;
pub mod record;
pub mod rules;
mod sql;

pub use self::sql::*;
