//! Commands that create and archive channels, and subscribe and unsubscribe users.

pub mod archive;
pub mod create_channel;
pub mod parts;
pub mod subscribe;
pub mod unsubscribe;
