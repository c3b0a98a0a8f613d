//! A server inside a test, for authors of clients and bots.
//!
//! [`TestServer`] is the whole server of this crate on a free port, with users, channels and messages of your choice, a
//! settable clock, and injected faults. It keeps nothing on disk, and stops when it is dropped. Everything here holds
//! for every language: `teamchat serve --ephemeral --test-control` offers the same over HTTP.
//!
//! ```
//! use teamchat::testing::{Channel, Fault, Fixtures, TestServer, User};
//!
//! # fn block_on<T>(future: impl Future<Output = T>) -> T {
//! #     tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
//! # }
//! # block_on(async {
//! let fixtures = Fixtures::new()
//!     .user(User::owner("iago@example.com", "Iago"))
//!     .user(User::bot("echo-bot@example.com", "Echo", "iago@example.com"))
//!     .channel(Channel::public("Verona").subscriber("iago@example.com").subscriber("echo-bot@example.com"));
//! let server = TestServer::start(fixtures).await?;
//!
//! // Start your bot here, with `server.url()`, `echo-bot@example.com` and `server.api_key("echo-bot@example.com")`.
//! server.fault(Fault::status(429).path("/messages").header("Retry-After", "1")).await?;
//! let id = server.send_to_channel("iago@example.com", "Verona", "greetings", "hello").await?;
//! assert_eq!(id, 1);
//!
//! // What your bot asked of the server. This one has asked nothing.
//! assert_eq!(server.requests().await?, []);
//!
//! // The clock moves as you wish: reminders, scheduled messages and queues follow.
//! server.freeze().await?;
//! server.advance(3600).await?;
//!
//! // Back to the fixtures, in a few milliseconds.
//! server.reset().await?;
//! # Ok::<(), teamchat::testing::TestError>(())
//! # }).unwrap();
//! ```
//!
//! This module is the public interface of the crate. The others are hidden from the documentation and change without
//! notice: the program and the project's own tests use them.

/// The examples in Rust of the page for authors of clients.
#[cfg(doctest)]
#[doc = include_str!("../../docs/testing.md")]
struct Page;

mod act;
pub(crate) mod control;
pub(crate) mod double;
pub(crate) mod ephemeral;
mod faults;
mod fixtures;
mod har;
mod in_process;
mod level;
mod monitor;
mod program;
mod redaction;
mod requests;
mod server;

pub use double::{ClockState, Restart};
#[doc(hidden)]
pub use double::{DoubleError, Settings};
pub use faults::{Cut, Fault};
pub use fixtures::{Channel, Date, FixtureError, Fixtures, Group, Message, Reaction, StartClock, User};
pub use level::Level;
#[doc(hidden)]
pub use program::{Program, dump};
pub use requests::{Pattern, RecordedRequest, RequestFilter};
#[doc(hidden)]
pub use server::runtime;
pub use server::{TestError, TestServer};

pub use crate::types::Role;
