//! Channels: statements, rules, the record on the wire, folders, default channel groups, and `stream` events.

pub mod default_groups;
pub mod events;
pub mod folder;
pub mod folder_sql;
pub mod folders;
pub mod record;
pub mod rules;
pub mod sql;
