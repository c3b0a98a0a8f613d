//! Invitations: rows, permissions, the link of the first owner, and `invites_changed` events.

pub mod events;
pub mod owner_link;
pub mod record;
pub mod rules;
mod sql;

pub use self::sql::*;
