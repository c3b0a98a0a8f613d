//! Checks of the source and of files that belong to it: imports between modules, statements, routes, the pages of
//! `docs/conformance`, snapshots, prose, texts in other languages.
//!
//! When a snapshot or another generated file changed for a good reason, `.ci/bless` writes it again.

mod book;
mod boundaries;
mod conformance;
mod events;
mod files;
mod follow_ups;
mod interface;
mod levels;
mod map;
mod modules;
mod openapi;
mod plans;
mod prose;
mod routes;
mod settings;
mod snapshots;
pub mod source;
mod statements;
mod unused;
mod words;
