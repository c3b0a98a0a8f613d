//! The new database: jobs on its writer, and reads beside it.

use crate::app::App;
use crate::moving::import::error::{ImportError, ImportResult};
use crate::store::{Snapshot, Tx};
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// The new database.
pub struct Target {
    /// Its shared state.
    pub app: Arc<App>,
    /// The runtime on which the writer is asked.
    pub runtime: Handle,
    /// The job that runs now.
    running: Option<JoinHandle<ImportResult<()>>>,
}

impl Target {
    /// Writes to a database, from a thread that may block.
    pub fn new(app: Arc<App>, runtime: Handle) -> Self {
        Self { app, runtime, running: None }
    }

    /// The time in UNIX seconds.
    pub fn now(&self) -> i64 {
        self.app.clock.seconds()
    }

    /// Runs a job, after the one before.
    pub fn run<T: Send + 'static>(
        &mut self,
        job: impl FnOnce(&mut Tx<'_>) -> ImportResult<T> + Send + 'static,
    ) -> ImportResult<T> {
        self.wait()?;
        self.runtime.block_on(self.app.writer.run(move |tx| with_deferred_checks(tx, job)))
    }

    /// Starts a job, after the one before. Its error is returned by the next call.
    pub fn start(
        &mut self,
        job: impl FnOnce(&mut Tx<'_>) -> ImportResult<()> + Send + 'static,
    ) -> ImportResult<()> {
        self.wait()?;
        let app = Arc::clone(&self.app);
        let run = async move { app.writer.run(move |tx| with_deferred_checks(tx, job)).await };
        self.running = Some(self.runtime.spawn(run));
        Ok(())
    }

    /// Waits for the job that was started.
    pub fn wait(&mut self) -> ImportResult<()> {
        match self.running.take() {
            Some(running) => self.runtime.block_on(running).map_err(ImportError::new)?,
            None => Ok(()),
        }
    }

    /// Reads for as long as it takes: the check of a large database takes minutes.
    pub fn read<T>(&self, work: impl FnOnce(&Snapshot<'_>) -> ImportResult<T>) -> ImportResult<T> {
        self.app.readers.read_everything(work)
    }
}

/// Runs a job whose rows may refer to others that it inserts later.
fn with_deferred_checks<T>(
    tx: &mut Tx<'_>,
    job: impl FnOnce(&mut Tx<'_>) -> ImportResult<T>,
) -> ImportResult<T> {
    tx.mute();
    tx.pragma_update(None, "defer_foreign_keys", true)?;
    job(tx)
}
