//! Invitations: rows, permissions, the link of the first owner, emails, sign-up without an invitation, and `invites_changed`
//! events.

pub mod events;
pub mod letters;
pub mod owner_link;
pub mod record;
pub mod rules;
pub mod sign_up;
mod sql;

pub use self::sql::*;
