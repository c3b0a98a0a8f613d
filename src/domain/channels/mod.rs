//! Channels: statements, rules, the record on the wire, default channel groups, and `stream` events.

pub mod default_groups;
pub mod events;
pub mod group_params;
pub mod record;
pub mod rules;
pub mod sql;
