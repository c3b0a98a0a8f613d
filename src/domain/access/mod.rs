//! Access: who sees a channel, a user, a message.
//!
//! Rows are loaded through the caller, so that what the caller may not see is not found. Each question has one evaluator
//! with two forms: for one viewer, and as the set of all viewers.

pub mod channel_rows;
pub mod channel_viewers;
pub mod channels;
pub mod permissions;
pub mod user_rows;
pub mod users;
