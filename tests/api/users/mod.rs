//! Users.

mod create;
