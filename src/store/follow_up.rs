//! Follow-up jobs: work that a job leaves to later ones, and that a crash does not lose.
//!
//! Work that is too long for one job is done in several, with the jobs of others between them. The rest is a row of the table
//! `follow_up`, which is inserted with the rows of the job that leaves it. The follow-up job deletes the row, does a part of the
//! work, and leaves its own rest as another row. The next start continues with the rows that a crash left.

use super::tx::Tx;
use super::{ExecuteCached, StoreError};
use crate::error::ApiResult;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The rest of some work, with all that a follow-up job needs: it is stored as JSON. Rows of older versions must stay readable, because
/// the start after a crash may be that of a new version.
pub trait FollowUp: Serialize + DeserializeOwned + Send + 'static {
    /// The name of this kind of work in the file.
    const NAME: &'static str;

    /// Does a part of the work, and leaves the rest by [`Tx::then`]. Jobs of others may have run since the work was left, and
    /// their decisions count.
    fn run(self, tx: &mut Tx<'_>) -> ApiResult<()>;
}

/// A kind of follow-up jobs, which the next start can continue.
pub struct FollowUpKind {
    name: &'static str,
    resume: fn(&mut Tx<'_>, i64, &str) -> serde_json::Result<()>,
}

impl FollowUpKind {
    /// The kind of this type.
    pub const fn of<F: FollowUp>() -> Self {
        Self { name: F::NAME, resume: resume::<F> }
    }
}

fn resume<F: FollowUp>(tx: &mut Tx<'_>, row_id: i64, data: &str) -> serde_json::Result<()> {
    let work: F = serde_json::from_str(data)?;
    run_row(tx, row_id, work);
    Ok(())
}

/// Runs the work of a row in a follow-up job.
fn run_row<F: FollowUp>(tx: &mut Tx<'_>, row_id: i64, work: F) {
    let job = move |tx: &mut Tx<'_>| -> ApiResult<()> {
        tx.execute_cached("DELETE FROM follow_up WHERE id = ?1", [row_id])?;
        work.run(tx)
    };
    tx.then_report(job, |result: ApiResult<()>| {
        if let Err(error) = result {
            tracing::error!(%error, kind = F::NAME, "a follow-up job failed; the next start runs it again");
        }
    });
}

impl Tx<'_> {
    /// Leaves work to a follow-up job, after the group of this job is committed. It has the same author, and runs even if the
    /// caller is gone. It is dropped with this job. After a crash the server is its author.
    pub fn then<F: FollowUp>(&mut self, work: F) -> Result<(), StoreError> {
        let data = serde_json::to_string(&work)?;
        self.execute_cached("INSERT INTO follow_up (name, data) VALUES (?1, ?2)", (F::NAME, data))?;
        let row_id = self.last_insert_rowid();
        run_row(self, row_id, work);
        Ok(())
    }

    /// Continues the follow-up jobs whose rows are left, because of a crash or because they failed. Rows that this program cannot
    /// read stay. Comes before [`Self::then`] in its job: the work of a row that the job leaves itself would be done twice.
    pub fn resume(&mut self, kinds: &[&FollowUpKind]) -> Result<(), StoreError> {
        let rows = self
            .prepare_cached("SELECT id, name, data FROM follow_up WHERE id > 0 ORDER BY id")?
            .query_map([], |row| row.try_into())?
            .collect::<rusqlite::Result<Vec<(i64, String, String)>>>()?;
        for (row_id, name, data) in rows {
            let Some(kind) = kinds.iter().find(|kind| kind.name == name) else {
                tracing::error!(row_id, %name, "a follow-up job of an unknown kind was left");
                continue;
            };
            if let Err(error) = (kind.resume)(self, row_id, &data) {
                tracing::error!(row_id, %name, %error, "a follow-up job that was left cannot be read");
            }
        }
        Ok(())
    }
}
