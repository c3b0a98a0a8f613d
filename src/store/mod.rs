//! The SQLite file: opening it, reading it, and the one way to change it.
//!
//! - [`open`]: checks a file, creates or upgrades it, and locks it against a second server;
//! - [`Readers`]: a pool of read-only connections, with a [`Snapshot`] for each request;
//! - [`Writer`]: one thread with the only writing connection, which runs jobs in groups;
//! - [`Tx`]: what a job works with: rows, caches, and an outbox that is committed with the rows;
//! - [`CommitSink`]: writes and publishes the outboxes;
//! - [`WriterCaches`]: caches that jobs share;
//! - [`TableVersion`]: a version counter of tables, used to invalidate caches outside the writer;
//! - [`DatabaseCopy`]: the whole database in memory, to go back to;
//! - [`bitmap`]: sets of ids as blobs.
//!
//! Nothing here knows events or resources.

pub mod bitmap;
mod copies;
mod error;
mod file;
mod new_database;
pub mod open;
mod readers;
mod sink;
mod table_version;
#[cfg(test)]
mod tests;
mod tx;
mod watchdog;
mod writer;
mod writer_cache;

pub use copies::DatabaseCopy;
pub use error::{Cause, OpenError, StoreError};
pub use file::FileIdentity;
pub use open::{Database, SCHEMA};
pub use readers::{Readers, Snapshot};
pub use sink::CommitSink;
pub use table_version::TableVersion;
pub use tx::{OutboxItem, Tx};
pub use writer::Writer;
pub use writer_cache::WriterCaches;
