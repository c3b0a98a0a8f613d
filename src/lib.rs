//! A team chat server in one binary and one SQLite file, for the clients people already use.
//!
//! The public interface of the crate is [`testing`]: a server inside a test, for authors of clients and bots. The other
//! modules are the server itself. They are public because the program and the tests of the project use them, are hidden
//! from the documentation, and change without notice.
//!
//! The modules in order; each imports only those before it:
//! 1. [`types`]: identifiers, roles, topics, the clock;
//! 2. [`markdown`]: text to HTML, pure;
//! 3. [`error`]: the error type of the API;
//! 4. [`pool`]: bounded pools for work that takes long;
//! 5. [`store`]: the database, snapshots to read it, one writer to change it;
//! 6. [`events`]: the log of changes, and the event queues, which are cursors into it;
//! 7. [`auth`]: callers, credentials, rate limits;
//! 8. [`app`]: the shared state of a running server;
//! 9. [`http`]: routes, parameters, replies;
//! 10. [`domain`]: what several operations share: records, statements, rules, access, events, commands;
//! 11. [`scheduler`]: runs tasks when something is due;
//! 12. [`api`]: the operations, by resource;
//! 13. [`server`]: start, connections, shutdown;
//! 14. [`testing`]: test servers.
//!
//! `ARCHITECTURE.md` follows a request through them.

#[doc(hidden)]
pub mod types;

#[doc(hidden)]
pub mod markdown;

#[doc(hidden)]
pub mod error;

#[doc(hidden)]
pub mod pool;

#[doc(hidden)]
pub mod store;

#[doc(hidden)]
pub mod events;

#[doc(hidden)]
pub mod auth;

#[doc(hidden)]
pub mod app;

#[doc(hidden)]
pub mod http;

#[doc(hidden)]
pub mod domain;

#[doc(hidden)]
pub mod scheduler;

#[doc(hidden)]
pub mod api;

#[doc(hidden)]
pub mod server;

pub mod testing;
