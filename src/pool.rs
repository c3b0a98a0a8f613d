//! Bounded pools for work that takes long: rendering, images, password hashes, slow reads.
//!
//! Such work runs on blocking threads, never on a thread that serves requests and never on the writer's. A [`Pool`]
//! limits how much of it runs and how much waits:
//! - its permits belong to the work and not to the caller that waits, so a client that hangs up frees nothing early;
//! - the work of one user takes at most half of the permits, rounded up, so all of a pool that has one; where two users
//!   take all, the others wait in the queue;
//! - a queue that is full refuses more work, and a caller that waited too long is refused;
//! - its threads have a lower priority than the others where the system has one for each thread, so that requests that are
//!   quick stay quick on a machine with few cores.

use crate::error::{ApiError, ApiResult};
use crate::metrics::Count;
use crate::types::UserId;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Number of entries of a table of owners after which unused ones are removed.
pub const KNOWN_OWNERS: usize = 1024;

/// A limit on work of one kind.
pub struct Pool {
    limits: Limits,
    permits: Arc<Semaphore>,
    /// One place for each piece of work, running or waiting.
    places: Arc<Semaphore>,
    by_user: Shares<UserId, Share>,
    refusals: Count,
}

/// The limits of a pool.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of running tasks.
    pub permits: usize,
    /// Maximum number of tasks that wait for a permit.
    pub queue: usize,
    /// Maximum number of waiting and running tasks of one user.
    pub queue_of_user: usize,
    /// Maximum time that a caller waits for a permit and for the result.
    pub deadline: Duration,
}

/// The owner of a share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// A user; see [`Caller::quota_owner`](crate::auth::Caller::quota_owner).
    User(UserId),
    /// An anonymous caller, by [`address_block`](crate::types::address_block).
    Address(IpAddr),
    /// Clients behind a proxy, whose addresses are not known yet. Only limits of all owners apply to them.
    Proxied,
}

/// The shares of owners in a common resource. An unused share is dropped.
pub struct Shares<K, V>(Mutex<HashMap<K, Weak<V>>>);

impl<K, V> Default for Shares<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V> Shares<K, V> {
    /// The share of an owner, created if it is unused.
    pub fn of(&self, owner: K, make: impl FnOnce() -> V) -> Arc<V> {
        let mut known = self.0.lock();
        if known.len() >= KNOWN_OWNERS {
            known.retain(|_, share| share.strong_count() > 0);
        }
        if let Some(share) = known.get(&owner).and_then(Weak::upgrade) {
            return share;
        }
        let share = Arc::new(make());
        known.insert(owner, Arc::downgrade(&share));
        share
    }
}

/// The part of a pool that one user may take.
struct Share {
    permits: Arc<Semaphore>,
    places: Arc<Semaphore>,
}

/// Permit and share of a task, held until it ends.
struct Admission {
    _permit: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
    _of_user: Option<(OwnedSemaphorePermit, OwnedSemaphorePermit, Arc<Share>)>,
}

/// The pools of a server. Each kind of work has its own, so that none waits for another kind.
pub struct Pools {
    /// Markdown, formulas, and differences between versions of a message.
    pub rendering: Pool,
    /// Decoding, scaling and drawing of images.
    pub images: Pool,
    /// Password hashes of strangers.
    pub passwords: Pool,
    /// Password hashes of people who are logged in, or at an address that is known.
    pub known_passwords: Pool,
    /// Reads that may take longer than a page of messages: searches, long lists.
    pub slow_reads: Pool,
    /// Decisions about notifications, and composing them. They do not wait for searches.
    pub notifications: Pool,
    /// Backups.
    pub backups: Pool,
    /// Exports of the organization, which read all of it.
    pub exports: Pool,
    /// The read of `GET /health`, which a disk may hold up.
    pub health: Pool,
}

/// Two at a time, so that one long formula does not hold up the other senders.
const RENDERING: Limits =
    Limits { permits: 2, queue: 256, queue_of_user: 32, deadline: Duration::from_secs(10) };

/// Each may take 128 MiB for its pixels, and the same during the conversion; several at a time would make a small
/// machine swap.
const IMAGES: Limits = Limits { permits: 1, queue: 32, queue_of_user: 8, deadline: Duration::from_secs(30) };

/// Each takes 19 MiB and about 20 ms of a core.
const PASSWORDS: Limits =
    Limits { permits: 2, queue: 64, queue_of_user: 4, deadline: Duration::from_secs(10) };

/// One at a time is enough for people, and adds little to the load of strangers.
const KNOWN_PASSWORDS: Limits =
    Limits { permits: 1, queue: 64, queue_of_user: 4, deadline: Duration::from_secs(10) };

/// Fewer than the cores of a small machine, so that short reads continue.
const SLOW_READS: Limits =
    Limits { permits: 2, queue: 1024, queue_of_user: 64, deadline: Duration::from_secs(30) };

/// A message can cause thousands of notifications, which take part of two cores at the low priority of pools.
const NOTIFICATIONS: Limits =
    Limits { permits: 2, queue: 1024, queue_of_user: 64, deadline: Duration::from_secs(30) };

/// One at a time. It has its own connection, and takes as long as it takes.
const BACKUPS: Limits =
    Limits { permits: 1, queue: 1, queue_of_user: 1, deadline: Duration::from_secs(24 * 60 * 60) };

/// One at a time, in the background.
const EXPORTS: Limits =
    Limits { permits: 1, queue: 0, queue_of_user: 1, deadline: Duration::from_secs(24 * 60 * 60) };

/// One at a time: each takes well under a millisecond, unless the disk hangs.
const HEALTH: Limits = Limits { permits: 1, queue: 4096, queue_of_user: 1, deadline: Duration::from_secs(5) };

impl Pools {
    /// Number of reading connections for the pools, in addition to those of ordinary requests: one for each permit of
    /// the pools whose work reads.
    pub const READERS: u32 = (RENDERING.permits
        + IMAGES.permits
        + SLOW_READS.permits
        + NOTIFICATIONS.permits
        + EXPORTS.permits
        + HEALTH.permits) as u32;

    /// The pools of a server. `deadline` replaces the deadlines of all of them.
    pub fn new(deadline: Option<Duration>) -> Self {
        let pool =
            |limits: Limits| Pool::new(Limits { deadline: deadline.unwrap_or(limits.deadline), ..limits });
        Self {
            rendering: pool(RENDERING),
            images: pool(IMAGES),
            passwords: pool(PASSWORDS),
            known_passwords: pool(KNOWN_PASSWORDS),
            slow_reads: pool(SLOW_READS),
            notifications: pool(NOTIFICATIONS),
            backups: pool(BACKUPS),
            exports: pool(EXPORTS),
            health: pool(HEALTH),
        }
    }
}

impl Pool {
    /// A pool with these limits.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            permits: Arc::new(Semaphore::new(limits.permits)),
            places: Arc::new(Semaphore::new(limits.permits + limits.queue)),
            by_user: Shares::default(),
            refusals: Count::default(),
        }
    }

    /// Runs `work` on a blocking thread when there is a permit, and returns its result. `user` is charged for the work;
    /// `None` for anonymous requests.
    ///
    /// Work that has begun runs to its end and keeps its permit, even if the caller goes away or the deadline passes.
    /// Fails with 503 if the queue is full or the deadline passes, with 429 if the user has too much work in the pool,
    /// and with 500 if the work panics.
    pub async fn run<T: Send + 'static>(
        &self,
        user: Option<UserId>,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> ApiResult<T> {
        let admitted_and_done = async {
            let admission = self.admit(user).await.inspect_err(|_| self.refusals.increment())?;
            let done = tokio::task::spawn_blocking(move || {
                let _until_the_end = admission;
                lower_priority();
                work()
            });
            done.await.map_err(|panic| ApiError::internal(format_args!("work in a pool failed: {panic}")))
        };
        match tokio::time::timeout(self.limits.deadline, admitted_and_done).await {
            Ok(result) => result,
            Err(_) => {
                self.refusals.increment();
                Err(ApiError::busy())
            }
        }
    }

    async fn admit(&self, user: Option<UserId>) -> ApiResult<Admission> {
        let of_user = match user.map(|user| self.share(user)) {
            // The user's own turn comes first, so that waiting for it takes no place from the others.
            Some(share) => {
                let place =
                    Arc::clone(&share.places).try_acquire_owned().map_err(|_| ApiError::rate_limited(1.0))?;
                let permit = Arc::clone(&share.permits).acquire_owned().await.map_err(ApiError::internal)?;
                Some((place, permit, share))
            }
            None => None,
        };
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| ApiError::busy())?;
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(ApiError::internal)?;
        Ok(Admission { _permit: permit, _place: place, _of_user: of_user })
    }

    fn share(&self, user: UserId) -> Arc<Share> {
        self.by_user.of(user, || Share {
            permits: Arc::new(Semaphore::new(self.limits.permits.div_ceil(2))),
            places: Arc::new(Semaphore::new(self.limits.queue_of_user)),
        })
    }

    /// Number of running tasks.
    pub fn running(&self) -> usize {
        self.limits.permits - self.permits.available_permits()
    }

    /// Number of tasks that run, or wait without being limited by their user.
    pub fn admitted(&self) -> usize {
        self.limits.permits + self.limits.queue - self.places.available_permits()
    }

    /// Number of refusals: the queue or the share of a user was full, or the deadline passed.
    pub fn refusals(&self) -> u64 {
        self.refusals.get()
    }

    /// The limits with which the pool was made.
    pub fn limits(&self) -> Limits {
        self.limits
    }
}

/// Nice value of pool threads: request threads get ten times as much of a contended core.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Gives this thread, and those that it starts, the priority of pools. It keeps it: the blocking threads of the runtime run
/// nothing else, and raising it again would take a privilege.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    {
        thread_local! {
            static IS_LOWERED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
        }
        if !IS_LOWERED.replace(true)
            && let Err(error) = rustix::process::nice(NICENESS)
        {
            tracing::warn!(%error, "slow work has the priority of requests");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use std::sync::mpsc;
    use std::task::Poll;

    const ADA: Option<UserId> = Some(UserId(1));
    const BOB: Option<UserId> = Some(UserId(2));

    fn pool(permits: usize, queue: usize) -> Arc<Pool> {
        let deadline = Duration::from_secs(3600);
        Arc::new(Pool::new(Limits { permits, queue, queue_of_user: 2, deadline }))
    }

    /// Work that has begun, and ends when `end` is dropped.
    struct Blocked {
        end: mpsc::Sender<()>,
        caller: tokio::task::JoinHandle<ApiResult<()>>,
    }

    #[expect(clippy::disallowed_methods, reason = "a test's own tasks")]
    async fn block(pool: &Arc<Pool>, user: Option<UserId>) -> Blocked {
        let (end, ended) = mpsc::channel::<()>();
        let (start, started) = tokio::sync::oneshot::channel();
        let pool = Arc::clone(pool);
        let caller = tokio::spawn(async move {
            let work = move || {
                start.send(()).unwrap();
                assert!(ended.recv().is_err());
            };
            pool.run(user, work).await
        });
        started.await.unwrap();
        Blocked { end, caller }
    }

    async fn is_pending<T>(future: &mut Pin<Box<impl Future<Output = T>>>) -> bool {
        std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
    }

    async fn until(condition: impl Fn() -> bool) {
        while !condition() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn abandoned_work_keeps_its_permit() {
        let pool = pool(1, 4);
        let Blocked { end, caller } = block(&pool, ADA).await;
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        assert_eq!((pool.running(), pool.admitted()), (1, 1));
        drop(end);
        until(|| pool.admitted() == 0).await;
        assert_eq!(pool.running(), 0);
        assert_eq!(pool.run(ADA, || 7).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn full_pools_refuse_and_cancelled_callers_leave_the_queue() {
        let pool = pool(1, 1);
        let first = block(&pool, None).await;
        let mut second = Box::pin(pool.run(None, || ()));
        assert!(is_pending(&mut second).await);
        let refused = pool.run(None, || ()).await.unwrap_err();
        assert_eq!((refused.status(), refused.code()), (503, "SERVICE_UNAVAILABLE"));
        assert!(refused.headers().iter().any(|(name, _)| *name == "Retry-After"));
        drop(second);
        assert_eq!(pool.admitted(), 1);
        drop(first.end);
        first.caller.await.unwrap().unwrap();
        pool.run(None, || ()).await.unwrap();
    }

    #[tokio::test]
    async fn one_user_takes_half_of_the_permits_and_a_bounded_part_of_the_queue() {
        let pool = pool(2, 8);
        let first = block(&pool, ADA).await;
        let mut second = Box::pin(pool.run(ADA, || ()));
        assert!(is_pending(&mut second).await);
        // The other permit stays available, and the waiting task takes no place in the queue of others.
        assert_eq!((pool.running(), pool.admitted()), (1, 1));
        assert_eq!(pool.run(ADA, || ()).await.unwrap_err().code(), "RATE_LIMIT_HIT");
        pool.run(BOB, || ()).await.unwrap();
        drop(first.end);
        second.await.unwrap();
    }

    #[tokio::test]
    async fn a_caller_waits_until_the_deadline_and_the_work_goes_on() {
        let limits = Limits { permits: 1, queue: 1, queue_of_user: 2, deadline: Duration::ZERO };
        let pool = Pool::new(limits);
        let (end, ended) = mpsc::channel::<()>();
        let refused = pool.run(ADA, move || ended.recv().unwrap_err()).await.unwrap_err();
        assert_eq!((refused.status(), refused.code()), (503, "SERVICE_UNAVAILABLE"));
        assert_eq!(pool.running(), 1);
        let refused = pool.run(BOB, || ()).await.unwrap_err();
        assert_eq!((refused.status(), refused.code()), (503, "SERVICE_UNAVAILABLE"));
        drop(end);
        until(|| pool.admitted() == 0).await;
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_gives_the_permit_back() {
        let pool = pool(1, 1);
        let failed = pool.run::<()>(ADA, || panic!("a mistake")).await.unwrap_err();
        assert_eq!(failed.status(), 500);
        pool.run(ADA, || ()).await.unwrap();
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn pool_threads_yield_to_requests() {
        let niceness = || rustix::process::nice(0).unwrap();
        let of_requests = niceness();
        let pool = pool(1, 1);
        for _ in 0..3 {
            assert_eq!(pool.run(ADA, niceness).await.unwrap(), (of_requests + NICENESS).min(19));
        }
        assert_eq!(niceness(), of_requests);
    }
}
