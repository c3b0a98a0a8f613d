//! Users.

mod access;
mod create;
mod deactivate;
mod role;
mod update;
