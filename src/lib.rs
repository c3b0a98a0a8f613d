//! A team chat server in one binary and one SQLite file, for the clients people already use.
//!
//! The public interface of the crate is [`testing`]: a server inside a test, for authors of clients and bots. The other
//! modules are the server itself. They are public because the program and the tests of the project use them, are hidden
//! from the documentation, and change without notice.
//!
//! The modules in order; each imports only those before it:
//! 1. [`types`]: identifiers, roles, topics, the clock;
//! 2. [`error`]: the error type of the API;
//! 3. [`metrics`]: counters and histograms;
//! 4. [`memory`]: the memory of the machine or of its control group;
//! 5. [`pool`]: bounded pools for work that takes long;
//! 6. [`turns`]: the order in which work begins;
//! 7. [`http_client`]: requests to other servers;
//! 8. [`oidc`]: sign-on by OpenID Connect, the protocol with a provider;
//! 9. [`smtp`]: emails to a mail server;
//! 10. [`store`]: the database, snapshots to read it, one writer to change it;
//! 11. [`events`]: the log of changes, and the event queues, which are cursors into it;
//! 12. [`auth`]: callers, credentials, rate limits;
//! 13. [`app`]: the shared state of a running server;
//! 14. [`domain`]: code shared by several operations: records, statements, rules, access, events, commands;
//! 15. [`http`]: routes, parameters, replies;
//! 16. [`scheduler`]: runs tasks when something is due;
//! 17. [`api`]: the operations, by resource;
//! 18. [`commands`]: what the command line does to a database or to a running server;
//! 19. [`moving`]: archives of other servers;
//! 20. [`server`]: start, connections, shutdown;
//! 21. [`testing`]: test servers.
//!
//! Text becomes HTML in a crate of its own, `teamchat-markdown`. `ARCHITECTURE.md` follows a request through them.

#[doc(hidden)]
pub mod types;

#[doc(hidden)]
pub mod error;

#[doc(hidden)]
pub mod metrics;

#[doc(hidden)]
pub mod memory;

#[doc(hidden)]
pub mod pool;

#[doc(hidden)]
pub mod turns;

#[doc(hidden)]
pub mod http_client;

#[doc(hidden)]
pub mod oidc;

#[doc(hidden)]
pub mod smtp;

#[doc(hidden)]
pub mod store;

#[doc(hidden)]
pub mod events;

#[doc(hidden)]
pub mod auth;

#[doc(hidden)]
pub mod app;

#[doc(hidden)]
pub mod domain;

#[doc(hidden)]
pub mod http;

#[doc(hidden)]
pub mod scheduler;

#[doc(hidden)]
pub mod api;

#[doc(hidden)]
pub mod commands;

#[doc(hidden)]
pub mod moving;

#[doc(hidden)]
pub mod server;

pub mod testing;
