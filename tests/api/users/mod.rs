//! Users.

mod create;
mod deactivate;
mod role;
mod update;
