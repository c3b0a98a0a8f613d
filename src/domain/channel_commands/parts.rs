//! Commands on many users and channels, as several jobs: other changes wait for one of them, not for all.

use crate::auth::Caller;
use crate::domain::rows;
use crate::error::ApiResult;
use crate::store::{StoreError, Tx};
use crate::types::UserId;
use std::collections::VecDeque;
use tokio::sync::mpsc;

/// Maximum number of subscriptions, channels times users, that one job changes. Each takes about 50 microseconds.
const SUBSCRIPTIONS_PER_JOB: usize = 1000;

/// The number of sets of receivers that take as long as one subscription.
pub const SETS_PER_SUBSCRIPTION: usize = 10;

/// The users of a command, split into those of each job. There is at least one part, possibly without users.
pub struct Parts(VecDeque<Vec<UserId>>);

impl Parts {
    /// Splits users for a command on this number of channels. A user is in one part, with all channels.
    pub fn split(users: &[UserId], channels: usize) -> Self {
        Self::split_weighted(users, channels, 0)
    }

    /// Splits users as [`Self::split`], for a command that also looks at sets of receivers of moved messages for each user.
    pub fn split_weighted(users: &[UserId], channels: usize, sets: usize) -> Self {
        let per_job = (SUBSCRIPTIONS_PER_JOB / (channels + sets / SETS_PER_SUBSCRIPTION).max(1)).max(1);
        let parts: VecDeque<_> = users.chunks(per_job).map(<[UserId]>::to_vec).collect();
        Self(if parts.is_empty() { VecDeque::from([Vec::new()]) } else { parts })
    }

    /// Takes the users of the first job.
    pub fn take_first(&mut self) -> Vec<UserId> {
        self.0.pop_front().unwrap_or_default()
    }

    /// Runs `work` for the other parts, one after another, in follow-up jobs: even if the client is gone. Each checks
    /// again that the caller is active, and leaves out users who were deactivated meanwhile. The first failure ends them.
    pub fn run_later<T: Send + 'static>(
        self,
        tx: &mut Tx<'_>,
        caller: &Caller,
        work: impl FnMut(&mut Tx<'_>, &Caller, &[UserId]) -> ApiResult<T> + Send + 'static,
    ) -> Later<T> {
        let (sender, results) = mpsc::unbounded_channel();
        let later = Later { jobs: self.0.len(), results };
        Chain { parts: self.0, caller: caller.clone(), work, sender }.run_next(tx);
        later
    }
}

/// The results of follow-up jobs.
pub struct Later<T> {
    jobs: usize,
    results: mpsc::UnboundedReceiver<ApiResult<T>>,
}

impl<T> Later<T> {
    /// Waits until all jobs are committed, and passes on their results in order. Fails as the first job that fails; the
    /// changes of those before it stay.
    pub async fn wait(mut self, mut merge: impl FnMut(T)) -> ApiResult<()> {
        for _ in 0..self.jobs {
            merge(self.results.recv().await.ok_or(StoreError::Stopped)??);
        }
        Ok(())
    }
}

struct Chain<T, F> {
    parts: VecDeque<Vec<UserId>>,
    caller: Caller,
    work: F,
    sender: mpsc::UnboundedSender<ApiResult<T>>,
}

impl<T, F> Chain<T, F>
where
    T: Send + 'static,
    F: FnMut(&mut Tx<'_>, &Caller, &[UserId]) -> ApiResult<T> + Send + 'static,
{
    fn run_next(mut self, tx: &mut Tx<'_>) {
        let Some(users) = self.parts.pop_front() else { return };
        let sender = self.sender.clone();
        let job = move |tx: &mut Tx<'_>| {
            self.caller.reload(tx)?;
            let users = active(tx, users)?;
            let result = (self.work)(tx, &self.caller, &users)?;
            self.run_next(tx);
            Ok(result)
        };
        tx.then_report(job, move |result| {
            // The client may be gone.
            let _gone = sender.send(result);
        });
    }
}

fn active(tx: &Tx<'_>, users: Vec<UserId>) -> rusqlite::Result<Vec<UserId>> {
    let mut active = Vec::with_capacity(users.len());
    for user_id in users {
        if rows::user::by_id(tx, user_id)?.is_some_and(|user| user.is_active) {
            active.push(user_id);
        }
    }
    Ok(active)
}
