//! A team chat server in one binary and one SQLite file, for the clients people already use.
//!
//! In reading order:
//! 1. [`types`]: identifiers, roles, topics, the clock;
//! 2. [`http`]: routes, parameters, callers, errors, answers;
//! 3. [`store`]: the file, snapshots to read, one writer to change;
//! 4. [`events`]: the log of changes, and the queues that are cursors into it;
//! 5. [`app`] and [`server`]: what handlers share, and what runs;
//! 6. [`markdown`]: text to HTML, pure;
//! 7. [`api`]: the resources, one slice each.
//!
//! `ARCHITECTURE.md` tells how a request goes through these.

pub mod api;
pub mod app;
pub mod auth;
pub mod domain;
pub mod error;
pub mod events;
pub mod http;
pub mod markdown;
pub mod scheduler;
pub mod server;
pub mod store;
pub mod types;
