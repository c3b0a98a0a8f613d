//! Topic visibility policies of users: muted, unmuted and followed topics.

pub mod auto_follow;
pub mod events;
pub mod moved;
pub mod muting;
pub mod policy;
pub mod rules;
mod sql;

pub use self::sql::*;
