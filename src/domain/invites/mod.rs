//! Invitations: rows, who may invite to what, the link of the first owner, and `invites_changed` events.

pub mod events;
pub mod owner_link;
pub mod record;
pub mod rules;
pub mod sql;
