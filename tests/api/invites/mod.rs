//! `/invites`.

mod create;
mod manage;
mod send;
