//! Follow-up jobs, and the rows of those that a crash interrupts.

use super::{Bench, write};
use crate::error::ApiResult;
use crate::store::{FollowUp, FollowUpKind, StoreError, Tx};
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, mpsc};

/// Writes a number, and in follow-up jobs those before it down to the last multiple of ten.
#[derive(Serialize, Deserialize)]
struct CountDown(i64);

impl FollowUp for CountDown {
    const NAME: &'static str = "count_down";

    fn run(self, tx: &mut Tx<'_>) -> ApiResult<()> {
        write(tx, self.0)?;
        if self.0 % 10 > 1 {
            tx.then(Self(self.0 - 1))?;
        }
        Ok(())
    }
}

/// The rows of follow-up jobs.
const ROWS: &str = "SELECT id FROM follow_up ORDER BY id";

#[tokio::test]
async fn follow_up_jobs_run_without_their_caller() {
    let (_folder, bench) = Bench::start();
    let (open, gate) = mpsc::channel::<()>();
    let job = bench.writer.run(move |tx| {
        gate.recv().unwrap();
        CountDown(3).run(tx)
    });
    assert!(job.now_or_never().is_none());
    let (beside, ()) = tokio::join!(bench.write(10), async { open.send(()).unwrap() });
    beside.unwrap();
    let published = Arc::clone(&bench.published);
    // Follow-up jobs of the last job run before the writer ends.
    bench.writer.run(|tx| CountDown(22).run(tx)).await.unwrap();
    bench.close();
    let mut published = published.lock().clone();
    assert_eq!(published[..3], [3, 10, 2]);
    published.sort_unstable();
    assert_eq!(published, [1, 2, 3, 10, 21, 22]);
}

#[tokio::test]
async fn follow_up_jobs_of_jobs_that_fail_are_dropped() {
    let (_folder, bench) = Bench::start();
    let fails = bench.writer.run(|tx| {
        tx.then(CountDown(30))?;
        Err::<(), _>(StoreError::Stopped)
    });
    fails.await.unwrap_err();
    bench.write(50).await.unwrap();
    bench.write(60).await.unwrap();
    assert_eq!((bench.rows(), bench.list(ROWS)), (vec![50, 60], vec![]));
    bench.close();
}

#[tokio::test]
async fn follow_up_jobs_that_a_crash_interrupted_are_resumed() {
    let (folder, bench) = Bench::start();
    let (open, gate) = mpsc::channel::<()>();
    let first = bench.writer.run(move |tx| {
        gate.recv().unwrap();
        CountDown(3).run(tx)
    });
    let path = folder.path().join("after.sqlite");
    // The copy is made after the group of the job, and before the follow-up job.
    let copy = bench.writer.copy_to(path.clone());
    let (first, copy, ()) = tokio::join!(first, copy, async { open.send(()).unwrap() });
    first.unwrap();
    copy.unwrap();
    bench.write(50).await.unwrap();
    bench.write(60).await.unwrap();
    assert_eq!((bench.rows(), bench.list(ROWS)), (vec![1, 2, 3, 50, 60], vec![]));
    bench.close();

    let bench = Bench::open(&path);
    assert_eq!((bench.rows(), bench.list(ROWS)), (vec![3], vec![1]));
    let resume = |tx: &mut Tx<'_>| tx.resume(&[&FollowUpKind::of::<CountDown>()]);
    bench.writer.run(resume).await.unwrap();
    bench.write(50).await.unwrap();
    bench.write(60).await.unwrap();
    assert_eq!((bench.rows(), bench.list(ROWS)), (vec![1, 2, 3, 50, 60], vec![]));
    bench.close();
}

/// Each row is left for a program that can do the work: a kind that this one does not know, data that it cannot read, and a job that
/// fails, because its number is there.
#[tokio::test]
async fn follow_up_jobs_that_fail_keep_their_rows() {
    let (_folder, bench) = Bench::start();
    bench.write(7).await.unwrap();
    let insert = |tx: &mut Tx<'_>| -> Result<(), StoreError> {
        Ok(tx.execute_batch(
            "INSERT INTO follow_up (name, data) VALUES
                 ('unknown', '1'), ('count_down', '{'), ('count_down', '7'), ('count_down', '1')",
        )?)
    };
    bench.writer.run(insert).await.unwrap();
    let resume = |tx: &mut Tx<'_>| tx.resume(&[&FollowUpKind::of::<CountDown>()]);
    bench.writer.run(resume).await.unwrap();
    for number in [50, 60, 70] {
        bench.write(number).await.unwrap();
    }
    assert_eq!((bench.rows(), bench.list(ROWS)), (vec![1, 7, 50, 60, 70], vec![1, 2, 3]));
    bench.close();
}
