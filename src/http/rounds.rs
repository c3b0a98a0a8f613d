//! Rounds in which requests begin, so that the few requests of one owner need not wait for the many of another.
//!
//! The runtime polls connections in the order in which they become ready: where hundreds are ready, a simple request would wait
//! for all of them. So a round begins few requests, and the others wait for their [turns](Turns). The next round begins once
//! the runtime has polled what was ready. From then on no more is ready at a time than a round has begun, whatever the number
//! of connections.

use crate::pool::Owner;
use crate::turns::{Turn, Turns};
use parking_lot::Mutex;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Notify;

/// Number of requests of a round: few, so that it is short, and enough that its end is a small part of it.
const PLACES: usize = 24;

/// The time that each request counts: about that of a simple one. Long reads count by themselves, where they take turns.
const COST: Duration = Duration::from_micros(50);

/// The rounds of a server.
pub struct Rounds {
    turns: Arc<Turns>,
    begun: Mutex<Vec<Turn>>,
    /// A request waits for the next round.
    waiting: Notify,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { turns: Turns::of_short_work(PLACES, COST), begun: Mutex::default(), waiting: Notify::new() }
    }
}

impl Rounds {
    /// Waits until a request of an owner may begin.
    pub async fn wait(&self, owner: Owner) {
        let turn = match self.turns.try_take(Some(owner)) {
            Ok(turn) => turn,
            Err(next) => {
                self.waiting.notify_one();
                // The queue ends with the server.
                let Ok(turn) = next.await else { return };
                turn
            }
        };
        self.begun.lock().push(turn);
    }

    /// Ends rounds that requests wait for, each when the runtime has polled what is ready. Runs for as long as there are
    /// requests.
    pub async fn run(self: Arc<Self>) {
        loop {
            self.waiting.notified().await;
            while self.turns.has_queue() {
                yield_now().await;
                let begun = std::mem::take(&mut *self.begun.lock());
                // The next requests begin.
                drop(begun);
            }
        }
    }
}

/// Lets the runtime poll what is ready. tokio's function of this name leaves the task with its worker until that has nothing
/// else to do, which is after the next read, and that may wait for a disk; from here, other workers take the task.
pub async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if has_yielded {
            return Poll::Ready(());
        }
        has_yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::UserId;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::task::JoinSet;

    fn user(id: i64) -> Owner {
        Owner::User(UserId(id))
    }

    /// Begins requests of these owners, all ready at once. Returns the number of those that began while the last one waited.
    async fn begun_before_last(owners: impl IntoIterator<Item = i64>) -> usize {
        let (rounds, begun) = (Arc::new(Rounds::default()), Arc::new(AtomicUsize::new(0)));
        let mut running = JoinSet::new();
        running.spawn(Arc::clone(&rounds).run());
        let mut requests = JoinSet::new();
        for (index, id) in owners.into_iter().enumerate() {
            let (rounds, begun) = (Arc::clone(&rounds), Arc::clone(&begun));
            requests.spawn(async move {
                let before = begun.load(Ordering::Relaxed);
                rounds.wait(user(id)).await;
                (index, begun.fetch_add(1, Ordering::Relaxed) - before)
            });
        }
        requests.join_all().await.into_iter().max().unwrap().1
    }

    #[tokio::test]
    async fn one_request_does_not_wait_for_hundreds_of_another_owner() {
        assert!(begun_before_last(std::iter::repeat_n(1, 500).chain([2])).await <= PLACES);
    }

    #[tokio::test]
    async fn one_request_does_not_wait_for_thousands_of_hundreds_of_owners() {
        let busy = (1..=200).cycle().take(20_000);
        // Each of them is next before any is again.
        assert!(begun_before_last(busy.chain([201])).await <= 200 + PLACES);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn all_requests_begin() {
        let rounds = Arc::new(Rounds::default());
        let mut running = JoinSet::new();
        running.spawn(Arc::clone(&rounds).run());
        let mut clients = JoinSet::new();
        for id in 0..200 {
            let rounds = Arc::clone(&rounds);
            clients.spawn(async move {
                for _ in 0..200 {
                    rounds.wait(user(id % 3)).await;
                }
            });
        }
        clients.join_all().await;
        assert!(!rounds.turns.has_queue());
    }
}
