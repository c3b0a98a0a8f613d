//! Subscriptions: statements, rules, the record on the wire, and `subscription` events.

pub mod events;
pub mod members;
pub mod principals;
pub mod record;
pub mod rules;
pub mod sql;
