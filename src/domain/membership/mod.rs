//! Commands on channels and their members: creating channels, subscribing and unsubscribing users.

pub mod create_channel;
pub mod subscribe;
pub mod unsubscribe;
