//! Pools and the writer, which a test holds up.

use super::TestServer;
use std::sync::{Arc, mpsc};
use teamchat::app::App;
use teamchat::pool::Pool;
use teamchat::scheduler;
use teamchat::store::{DatabaseCopy, StoreError, Tx};
use tokio::task::JoinSet;

/// A pool in which everything waits until this is dropped.
pub struct Blocked {
    ends: Vec<mpsc::Sender<()>>,
    works: JoinSet<()>,
}

impl Blocked {
    /// Fills the pool, and returns when nothing else runs in it.
    pub async fn new(app: &Arc<App>, pool: fn(&App) -> &Pool) -> Self {
        let (mut ends, mut works) = (Vec::new(), JoinSet::new());
        for _ in 0..pool(app).limits().permits {
            let (end, ended) = mpsc::channel::<()>();
            let (start, started) = tokio::sync::oneshot::channel();
            let app = Arc::clone(app);
            works.spawn(async move {
                let work = move || {
                    start.send(()).unwrap();
                    ended.recv().unwrap_err();
                };
                pool(&app).run(None, work).await.unwrap();
            });
            started.await.unwrap();
            ends.push(end);
        }
        Self { ends, works }
    }

    /// Number of tasks that occupy the pool.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Unblocks the pool.
    pub async fn end(self) {
        drop(self.ends);
        self.works.join_all().await;
    }
}

/// Runs a request that reads its snapshot before a change, and whose job comes after it. The change is given as SQL statements.
pub async fn overtaken<T>(app: &Arc<App>, statements: &str, request: impl Future<Output = T>) -> T {
    grouped(app, statements, 1, request).await
}

/// The same for requests with several jobs, which wait for the change together. Their follow-up jobs come after all of them.
pub async fn grouped<T>(app: &Arc<App>, statements: &str, jobs: i64, requests: impl Future<Output = T>) -> T {
    // The next jobs are those of the requests.
    scheduler::settle(app).await;
    let (end, ended) = mpsc::channel::<()>();
    let (start, started) = tokio::sync::oneshot::channel();
    let (changing, statements) = (Arc::clone(app), statements.to_owned());
    let mut changes = JoinSet::new();
    changes.spawn(async move {
        let change = move |tx: &mut Tx<'_>| {
            start.send(()).unwrap();
            ended.recv().unwrap_err();
            Ok::<_, StoreError>(tx.execute_batch(&statements)?)
        };
        changing.writer.run(change).await.unwrap();
    });
    started.await.unwrap();
    let mut requests = std::pin::pin!(requests);
    tokio::select! {
        _ = &mut requests => panic!("the requests were answered without their jobs"),
        () = until(|| app.writer.metrics().queued.get() >= jobs) => {}
    }
    drop(end);
    changes.join_all().await;
    requests.await
}

/// Runs a change, and another one whose job comes between the first job of the change and its follow-up jobs.
pub async fn interrupt<T>(
    server: &TestServer,
    change: impl Future<Output = T>,
    other: impl Future<Output = ()>,
) -> T {
    let app = server.app();
    let other = async {
        until(|| app.writer.metrics().queued.get() > 0).await;
        other.await;
    };
    let (done, ()) = grouped(app, "", 2, async { tokio::join!(change, other) }).await;
    // The next job is in the group of the follow-up job, or comes after it.
    server.sql("").await;
    done
}

/// Runs a change. Also returns a copy of the file that it had between its first job and its follow-up jobs.
pub async fn copy_between<T>(server: &TestServer, change: impl Future<Output = T>) -> (T, Arc<DatabaseCopy>) {
    let mut copy = None;
    let between = async {
        copy = Some(server.copy());
        server.sql("").await;
    };
    let done = Box::pin(interrupt(server, change, between)).await;
    (done, copy.unwrap())
}

/// Runs a change, and starts the server on the file as it is between the first job of the change and its follow-up jobs, as after a
/// crash. Returns when the follow-up jobs are done.
pub async fn crash_between_jobs<T>(server: &mut TestServer, change: impl Future<Output = T>) -> T {
    let (done, copy) = copy_between(server, change).await;
    server.restore(&copy).await;
    assert_ne!(server.count("follow_up").await, "0");
    server.restart().await;
    while server.count("follow_up").await != "0" {}
    // The events in memory are those of the file after the next job.
    server.sql("").await;
    done
}

/// Waits until a condition holds.
pub async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::task::yield_now().await;
    }
}
