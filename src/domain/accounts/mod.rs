//! Commands on accounts: creating, changing and deactivating users and bots, with every event that follows.

pub mod avatar;
pub mod change;
pub mod create;
pub mod create_bot;
pub mod deactivation;
pub mod role;
pub mod settings;
