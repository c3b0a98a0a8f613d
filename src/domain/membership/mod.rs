//! Commands that create channels, and subscribe and unsubscribe users.

pub mod create_channel;
pub mod subscribe;
pub mod unsubscribe;
