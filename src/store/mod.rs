//! The SQLite file: opening it, reading snapshots, and the writer, through which every change goes.
//!
//! - [`open`]: creates or upgrades a file, and locks it against a second server;
//! - [`Announcement`]: the content of the lock file, by which commands reach a running server;
//! - `connect`: connections with their pragmas;
//! - `file_state`: the version of a file, or the program that wrote it;
//! - `measured_space`: the free space of the disk, measured when it matters;
//! - `migrations`: the schema, and the steps from older ones to it;
//! - [`Readers`]: a pool of read-only connections, with a [`Snapshot`] for each request;
//! - [`Writer`]: one thread with the only writing connection, which runs jobs in groups;
//! - [`Budget`]: the time that one background job of the writer may take; `work_in_parts`: work in as many jobs as it takes;
//! - [`Tx`]: the transaction of a job: rows, caches, and an outbox that is committed with the rows;
//! - [`FollowUp`]: work that a job leaves to later ones;
//! - [`CommitSink`]: writes and publishes the outboxes;
//! - [`WriterCaches`]: caches that jobs share;
//! - [`TableVersion`]: a version counter of tables, used to invalidate caches outside the writer, and values made of their rows;
//! - `row_cache`: values made of single rows, shared by all snapshots;
//! - [`DatabaseCopy`]: the whole database in memory, to go back to;
//! - `snapshot_file`: copies of the database as files, for backups;
//! - `upgrade_copy`: the copy of a file that is made before an upgrade;
//! - `schema_check`: the schema of a file, compared with that of this program;
//! - `pragmas`: SQLite's checks of a file, and giving pages back;
//! - [`ScratchFolder`]: a folder that is removed unless it is complete;
//! - [`ExecuteCached`]: statements that return no rows;
//! - [`bitmap`]: sets of ids as blobs; [`counter`]: named numbers;
//! - `json_column`: JSON as text.
//!
//! Nothing here knows events or resources.

mod announcement;
mod background;
pub mod bitmap;
mod connect;
mod copies;
pub mod counter;
mod error;
mod execute_cached;
mod file;
mod file_state;
mod follow_up;
mod json_column;
mod measured_space;
mod migrations;
mod new_database;
pub mod open;
mod pragmas;
mod readers;
mod row_cache;
mod schema_check;
mod scratch_folder;
mod sink;
mod slow_statements;
mod snapshot_file;
mod table_version;
#[cfg(test)]
mod tests;
mod tx;
mod upgrade_copy;
mod watchdog;
mod work_in_parts;
mod writer;
mod writer_cache;
mod writer_metrics;

pub use announcement::Announcement;
pub use background::{BackgroundFigures, BackgroundJobs, Budget};
pub use copies::DatabaseCopy;
pub use error::{Cause, OpenError, StoreError};
pub use execute_cached::ExecuteCached;
pub use file::{
    FileIdentity, beside, create_private, disk_usage, free_space, has_log, name_finished,
    network_file_system, private_file,
};
#[cfg(target_os = "linux")]
pub use file::{kind_of_file_system, network_name};
pub use follow_up::{FollowUp, FollowUpKind};
pub use json_column::json_column;
pub use migrations::SCHEMA;
pub use open::{Database, leave_log_to_replicator};
pub use pragmas::{integrity_problems, missing_references, release_pages};
pub use readers::{Readers, Snapshot, current_reader, read_for};
pub use row_cache::RowValue;
pub use schema_check::schema_differences;
pub use scratch_folder::ScratchFolder;
pub use sink::CommitSink;
pub use snapshot_file::sync_folder;
pub use table_version::{TableVersion, WatchedTables};
#[cfg(test)]
pub(crate) use tests::steps::count_steps;
pub use tx::{OutboxItem, Tx};
pub use writer::Writer;
pub use writer_cache::WriterCaches;
pub use writer_metrics::WriterMetrics;
