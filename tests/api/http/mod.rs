//! Requests of every shape, before any handler.

mod requests;
