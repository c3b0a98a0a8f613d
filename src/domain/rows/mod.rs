//! The rows of users and channels, which most of the modules below need.

pub mod channel;
pub mod user;
