//! Users.

mod access;
mod avatar;
mod create;
mod deactivate;
mod role;
mod update;
