//! Commands on accounts: creating, changing and deactivating people and bots, with the events that follow.

pub mod avatar;
pub mod change;
pub mod create;
pub mod deactivation;
pub mod delete;
pub mod first_channel;
pub mod handover;
pub mod password;
pub mod role;
