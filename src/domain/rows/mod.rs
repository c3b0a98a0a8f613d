//! The rows of users and channels: their columns, and statements that load them by id. Most of the later modules need them.

pub mod channel;
pub mod user;
