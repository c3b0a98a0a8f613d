//! Background work of the writer, in short jobs: see [`Budget`].

use super::StoreError;
use super::background::Budget;
use super::tx::Tx;
use super::writer::Writer;

impl Writer {
    /// Runs background work in as many jobs as it takes, each for a short time, with the jobs of others between them. `work`
    /// asks its budget before each step, and returns true when all is done. Fails between two jobs if the server stops.
    pub async fn run_in_parts<E>(
        &self,
        name: &'static str,
        mut work: impl FnMut(&mut Tx<'_>, &mut Budget) -> Result<bool, E> + Send + 'static,
    ) -> Result<(), E>
    where
        E: From<StoreError> + Send + 'static,
    {
        loop {
            if self.background().is_stopping() {
                return Err(StoreError::Stopped.into());
            }
            let job = move |tx: &mut Tx<'_>| {
                let mut budget = tx.budget(name);
                let is_done = work(tx, &mut budget)?;
                Ok::<_, E>((work, is_done))
            };
            let (next, is_done) = self.run(job).await?;
            if is_done {
                return Ok(());
            }
            work = next;
        }
    }

    /// Runs background work in steps: as many in a job as there is time for. `step` returns true when all is done. See
    /// [`run_in_parts`](Self::run_in_parts).
    pub async fn run_in_steps<E>(
        &self,
        name: &'static str,
        mut step: impl FnMut(&mut Tx<'_>) -> Result<bool, E> + Send + 'static,
    ) -> Result<(), E>
    where
        E: From<StoreError> + Send + 'static,
    {
        let work = move |tx: &mut Tx<'_>, budget: &mut Budget| -> Result<bool, E> {
            while budget.next_step() {
                if step(tx)? {
                    return Ok(true);
                }
            }
            Ok(false)
        };
        self.run_in_parts(name, work).await
    }
}
