//! Requests of every shape, before any handler.

mod authentication;
mod requests;
