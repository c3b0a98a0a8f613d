//! Users.

mod access;
mod avatar;
mod create;
mod deactivate;
mod get;
mod look_alikes;
mod role;
mod update;
