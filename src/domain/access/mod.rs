//! Access: who sees a channel, a user, a message.
//!
//! Rows are loaded through the caller, so that rows without access are not found. Each rule is written once, over
//! `user_set::UserSet`, and evaluated in two forms: for one viewer, and as the set of all viewers.

pub mod channel_viewers;
pub mod channels;
pub mod messages;
pub mod permissions;
mod user_set;
pub mod users;
pub mod visitors;
