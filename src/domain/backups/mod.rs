//! Backups: making and checking them, naming and pruning them, and restoring one.
//!
//! A backup is one file: the database as SQLite has it, compressed with zstd, and on request encrypted to recipients of age.
//! Both formats have programs of their own, so that a backup can be read without this one.

mod archive;
mod contents;
mod create;
mod error;
mod record;
mod restore;
mod rotation;
mod scratch;

pub use archive::{Identities, Recipients};
pub use contents::Contents;
pub use create::{Backup, Request, Target, create, space_needed};
pub use error::BackupError;
pub use record::{last_recorded, record};
pub use restore::{Restored, restore};
pub use rotation::{Keep, name_of};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A stage of making or restoring a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Pages of the database are copied; the counts are pages.
    Copy,
    /// The copy is checked; there are no counts.
    Check,
    /// The archive is written or read; the counts are bytes.
    Archive,
    /// The archive is read back; the counts are bytes.
    Verify,
}

/// The observer of long work, and the switch that ends it.
pub struct Progress<'p> {
    /// Gets the stage, the work that is done, and all of it.
    pub on_progress: &'p mut dyn FnMut(Stage, u64, u64),
    /// True ends the work with [`BackupError::Interrupted`].
    pub stop: Arc<AtomicBool>,
}

impl Progress<'_> {
    fn report(&mut self, stage: Stage, done: u64, total: u64) -> Result<(), BackupError> {
        (self.on_progress)(stage, done, total);
        if self.stop.load(Ordering::Relaxed) { Err(BackupError::Interrupted) } else { Ok(()) }
    }
}
