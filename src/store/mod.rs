//! The SQLite file: opening it, reading it, and the one way to change it.
//!
//! - [`open`]: what a file must be like, pragmas, migrations, the lock against a second server;
//! - [`Readers`]: a pool of read-only connections, a [`Snapshot`] for each request;
//! - [`Writer`]: one thread with the only writing connection, which runs jobs in groups;
//! - [`Changes`]: whether what was read of a few tables is still so;
//! - [`Locals`]: what jobs remember from one to the next;
//! - [`Tx`]: what a job works with: rows, and an outbox of events that is committed with them.
//!
//! Nothing here knows a resource: statements live in the slices under `api`.

mod changes;
mod error;
mod locals;
pub mod open;
mod readers;
#[cfg(test)]
mod tests;
mod tx;
mod writer;

pub use changes::Changes;
pub use error::StoreError;
pub use locals::Locals;
pub use open::{Database, OpenError, SCHEMA};
pub use readers::{Readers, Snapshot};
pub use tx::{Tx, Unsent};
pub use writer::{Committed, Writer};
