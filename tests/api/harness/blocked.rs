//! Pools that a test holds up.

use std::sync::{Arc, mpsc};
use teamchat::app::App;
use teamchat::pool::Pool;
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

/// Waits until a condition holds.
pub async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        tokio::task::yield_now().await;
    }
}
