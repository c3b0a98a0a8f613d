//! Users.

mod avatar;
mod create;
