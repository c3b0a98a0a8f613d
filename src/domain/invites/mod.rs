//! Invitations: rows and links, and the `invites_changed` event.

pub mod events;
pub mod owner_link;
pub mod record;
pub mod sql;
