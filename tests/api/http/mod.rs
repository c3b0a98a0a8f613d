//! Requests of every shape, before any handler.

mod authentication;
mod bytes;
mod every_route;
mod full_disk;
mod malformed;
mod requests;
