//! Subscriptions: rows and statements, rules, the record on the wire, and `subscription` events. [`members`] caches the
//! audiences of channel messages.

pub mod events;
pub mod members;
pub mod principals;
pub mod record;
pub mod rules;
mod sql;

pub use self::sql::*;
