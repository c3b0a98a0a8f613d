//! A team chat server in one binary and one SQLite file, for the clients people already use.
//!
//! The modules in order; each imports only those before it:
//! 1. [`types`]: identifiers, roles, topics, the clock;
//! 2. [`markdown`]: text to HTML, pure;
//! 3. [`error`]: the error type of the API;
//! 4. [`store`]: the database, snapshots to read it, one writer to change it;
//! 5. [`events`]: the log of changes, and the event queues, which are cursors into it;
//! 6. [`auth`]: callers, credentials, rate limits;
//! 7. [`app`]: the shared state of a running server;
//! 8. [`http`]: routes, parameters, replies;
//! 9. [`domain`]: what several operations share: records, statements, rules, access, events, commands;
//! 10. [`scheduler`]: runs tasks when something is due;
//! 11. [`api`]: the operations, by resource;
//! 12. [`server`]: start, connections, shutdown.
//!
//! `ARCHITECTURE.md` follows a request through them.

pub mod types;

pub mod markdown;

pub mod error;

pub mod store;

pub mod events;

pub mod auth;

pub mod app;

pub mod http;

pub mod domain;

pub mod scheduler;

pub mod api;

pub mod server;
