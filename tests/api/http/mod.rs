//! Requests of every shape, before any handler.

mod authentication;
mod bytes;
mod requests;
