//! Users.

mod access;
mod avatar;
mod create;
mod deactivate;
mod get;
mod role;
mod update;
