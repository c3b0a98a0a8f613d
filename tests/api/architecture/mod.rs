//! Checks of the source itself and of what belongs to it: which module imports which, the statements, the routes, the
//! pages of `docs/conformance`, the snapshots.
//!
//! When a snapshot changed for a good reason, write it again with
//! `INSTA_UPDATE=always cargo test --test api architecture`.

mod boundaries;
mod conformance;
mod events;
mod files;
mod interface;
mod map;
mod modules;
mod openapi;
mod plans;
mod routes;
mod settings;
mod snapshots;
pub mod source;
mod statements;
