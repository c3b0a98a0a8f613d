//! The order in which work begins, where there is more than runs at a time: reads, requests.
//!
//! Owners of much work wait for those of little: it is start-time fair queueing (Goyal, Vin, Cheng 1996) by the time that
//! work has taken. Work begins no earlier, in virtual time, than its owner's work before it has ended; the least time is
//! next. Owners who had little for a while have a lead, and a part of the places, so that neither the work of others that
//! waits nor that which runs holds them up.

use crate::pool::{KNOWN_OWNERS, Owner};
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::oneshot::error::RecvError;
use tokio::sync::oneshot::{self, Receiver, Sender};

/// The lead of an owner without work for a while, in virtual time.
const LEAD: Duration = Duration::from_millis(20);

/// A number of places for work. The server itself may have all of them.
pub struct Turns {
    places: usize,
    /// The most of one owner.
    places_of_owner: usize,
    /// The time that work counts; `None` if it is as long as its turn.
    cost: Option<Duration>,
    state: Mutex<State>,
}

/// A place, until it is dropped.
pub struct Turn {
    turns: Arc<Turns>,
    owner: Option<Owner>,
    begun: Instant,
}

#[derive(Default)]
struct State {
    running: usize,
    /// The virtual time: of the work that began last.
    now: Duration,
    owners: HashMap<Option<Owner>, Work>,
    /// Owners that wait, by the virtual time of their next work.
    queue: BTreeSet<(Duration, Option<Owner>)>,
    /// Number of owners at which they are looked through.
    max_known: usize,
}

/// The work of an owner.
#[derive(Default)]
struct Work {
    running: usize,
    waiting: VecDeque<Sender<Turn>>,
    /// The key in the queue.
    queued: Option<Duration>,
    /// The virtual time at which its work ends, as far as that is known.
    end: Duration,
}

impl Turns {
    /// Places for work of unknown length. Each owner has half of them at most, rounded up.
    pub fn new(places: usize) -> Arc<Self> {
        Self::with_cost(places, places.div_ceil(2), None)
    }

    /// Places for work that is short, and counts the same. An owner may have all but those that are kept for others.
    pub fn of_short_work(places: usize, cost: Duration) -> Arc<Self> {
        Self::with_cost(places, places, Some(cost))
    }

    fn with_cost(places: usize, places_of_owner: usize, cost: Option<Duration>) -> Arc<Self> {
        let state = State { max_known: KNOWN_OWNERS, ..State::default() };
        Arc::new(Self { places, places_of_owner, cost, state: Mutex::new(state) })
    }

    /// Waits for the turn of an owner's work; `None` for that of the server.
    pub async fn take(self: &Arc<Self>, owner: Option<Owner>) -> Result<Turn, RecvError> {
        match self.try_take(owner) {
            Ok(turn) => Ok(turn),
            Err(waiting) => waiting.await,
        }
    }

    /// True if work waits.
    pub fn has_queue(&self) -> bool {
        !self.state.lock().queue.is_empty()
    }

    /// Takes a turn at once, or a place in the queue.
    pub fn try_take(self: &Arc<Self>, owner: Option<Owner>) -> Result<Turn, Receiver<Turn>> {
        let mut state = self.state.lock();
        state.forget();
        let has_queue = state.owners.get(&owner).is_some_and(|work| !work.waiting.is_empty());
        if !has_queue && self.has_place(&state, owner) {
            return Ok(self.begin(&mut state, owner));
        }
        let (sender, receiver) = oneshot::channel();
        state.owners.entry(owner).or_default().waiting.push_back(sender);
        state.enqueue(owner);
        Err(receiver)
    }

    /// True if work of this owner may begin, were it its turn.
    fn has_place(&self, state: &State, owner: Option<Owner>) -> bool {
        let (running, end) =
            state.owners.get(&owner).map_or((0, Duration::ZERO), |work| (work.running, work.end));
        let of_owner = if owner.is_some() { self.places_of_owner } else { self.places };
        let of_all = if end + LEAD <= state.now { self.places } else { self.places_without_lead() };
        running < of_owner && state.running < of_all
    }

    fn places_without_lead(&self) -> usize {
        self.places - self.places / 4
    }

    fn begin(self: &Arc<Self>, state: &mut State, owner: Option<Owner>) -> Turn {
        let now = state.now;
        let work = state.owners.entry(owner).or_default();
        let start = work.end.max(now.saturating_sub(LEAD));
        work.end = start + self.cost.unwrap_or_default();
        work.running += 1;
        state.now = now.max(start);
        state.running += 1;
        Turn { turns: Arc::clone(self), owner, begun: Instant::now() }
    }

    /// The next work that may begin, with its turn. Those whose callers are gone are skipped.
    fn next(self: &Arc<Self>) -> Option<(Sender<Turn>, Turn)> {
        let mut state = self.state.lock();
        loop {
            // Owners with a lead come first. Few have all of their places.
            let latest = match state.running {
                running if running < self.places_without_lead() => Duration::MAX,
                running if running < self.places => state.now.checked_sub(LEAD)?,
                _ => return None,
            };
            let mut owners = state.queue.iter().take_while(|(start, _)| *start <= latest);
            let owner = owners.find(|(_, owner)| self.has_place(&state, *owner))?.1;
            let sender = state.owners.get_mut(&owner).and_then(|work| work.waiting.pop_front());
            let turn = match sender {
                Some(sender) if !sender.is_closed() => Some((sender, self.begin(&mut state, owner))),
                _ => None,
            };
            state.enqueue(owner);
            if turn.is_some() {
                return turn;
            }
        }
    }
}

impl State {
    /// Puts an owner where it belongs in the queue, if it waits.
    fn enqueue(&mut self, owner: Option<Owner>) {
        let Some(work) = self.owners.get_mut(&owner) else { return };
        if let Some(queued) = work.queued.take() {
            self.queue.remove(&(queued, owner));
        }
        if !work.waiting.is_empty() {
            let start = work.end.max(self.now.saturating_sub(LEAD));
            work.queued = Some(start);
            self.queue.insert((start, owner));
        }
    }

    /// Forgets owners without work when there are many.
    fn forget(&mut self) {
        if self.owners.len() >= self.max_known {
            self.owners.retain(|_, work| work.running > 0 || !work.waiting.is_empty());
            self.max_known = KNOWN_OWNERS.max(2 * self.owners.len());
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.turns.state.lock();
        state.running -= 1;
        if let Some(work) = state.owners.get_mut(&self.owner) {
            work.running -= 1;
            if self.turns.cost.is_none() {
                work.end += self.begun.elapsed();
            }
        }
        state.enqueue(self.owner);
        let has_queue = !state.queue.is_empty();
        drop(state);
        if has_queue {
            // Outside of the lock: a turn whose caller is gone by now comes back, and is dropped.
            while let Some((sender, turn)) = self.turns.next() {
                drop(sender.send(turn));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::UserId;
    use std::pin::Pin;
    use std::task::Poll;

    fn user(id: i64) -> Option<Owner> {
        Some(Owner::User(UserId(id)))
    }

    /// A read that waits, as a future that is polled by hand.
    type Waiting = Pin<Box<dyn Future<Output = Result<Turn, RecvError>>>>;

    fn wait(turns: &Arc<Turns>, owner: Option<Owner>) -> Waiting {
        let turns = Arc::clone(turns);
        Box::pin(async move { turns.take(owner).await })
    }

    async fn turn_of(waiting: &mut Waiting) -> Option<Turn> {
        std::future::poll_fn(|context| {
            Poll::Ready(match waiting.as_mut().poll(context) {
                Poll::Ready(turn) => Some(turn.unwrap()),
                Poll::Pending => None,
            })
        })
        .await
    }

    impl Turns {
        /// Number of reads that have begun and not ended.
        pub(crate) fn running(&self) -> usize {
            self.state.lock().running
        }

        /// Counts time for an owner, as if it had read for as long.
        fn charge(&self, owner: Option<Owner>, time: Duration) {
            let mut state = self.state.lock();
            state.owners.entry(owner).or_default().end += time;
            state.enqueue(owner);
        }
    }

    #[tokio::test]
    async fn an_owner_has_half_of_the_places_and_the_server_all() {
        let turns = Turns::new(2);
        let first = turns.take(user(1)).await.unwrap();
        let mut second = wait(&turns, user(1));
        assert!(turn_of(&mut second).await.is_none());
        let other = turns.take(user(2)).await.unwrap();
        assert!(turn_of(&mut second).await.is_none());
        drop(other);
        assert!(turn_of(&mut second).await.is_none(), "the place is not theirs");
        drop(first);
        drop(turn_of(&mut second).await.unwrap());
        let of_server = [turns.take(None).await.unwrap(), turns.take(None).await.unwrap()];
        assert!(turn_of(&mut wait(&turns, None)).await.is_none());
        drop(of_server);
    }

    #[tokio::test]
    async fn the_owner_that_has_read_least_is_next() {
        let turns = Turns::new(1);
        let running = turns.take(user(9)).await.unwrap();
        let mut waiting = Vec::new();
        for (id, milliseconds) in [(1, 3000), (2, 1000), (3, 2000)] {
            turns.charge(user(id), Duration::from_millis(milliseconds));
            for _ in 0..2 {
                let mut read = wait(&turns, user(id));
                assert!(turn_of(&mut read).await.is_none());
                waiting.push((id, read));
            }
        }
        drop(running);
        let mut order = Vec::new();
        while !waiting.is_empty() {
            let mut begun = None;
            for (index, (_, read)) in waiting.iter_mut().enumerate() {
                if let Some(turn) = turn_of(read).await {
                    assert!(begun.is_none(), "one at a time");
                    begun = Some((index, turn));
                }
            }
            let (index, turn) = begun.unwrap();
            let (id, _) = waiting.remove(index);
            order.push(id);
            // Each read takes a second and a half.
            turns.charge(user(id), Duration::from_millis(1500));
            drop(turn);
        }
        assert_eq!(order, [2, 3, 2, 1, 3, 1]);
    }

    #[tokio::test]
    async fn a_place_is_kept_for_owners_that_have_read_little() {
        let turns = Turns::new(4);
        let mut running = Vec::new();
        for id in 1..=3 {
            turns.charge(user(id), Duration::from_secs(1));
            running.push(turns.take(user(id)).await.unwrap());
        }
        let mut heavy = wait(&turns, user(1));
        assert!(turn_of(&mut heavy).await.is_none());
        let light = turns.take(user(4)).await.unwrap();
        drop(light);
        assert!(turn_of(&mut heavy).await.is_none(), "the place is kept");
        running.pop();
        assert!(turn_of(&mut heavy).await.is_some());
    }

    #[tokio::test]
    async fn reads_whose_callers_are_gone_are_skipped() {
        let turns = Turns::new(1);
        let running = turns.take(user(1)).await.unwrap();
        let mut gone: Vec<Waiting> = (0..1000).map(|_| wait(&turns, user(2))).collect();
        for read in &mut gone {
            assert!(turn_of(read).await.is_none());
        }
        let mut last = wait(&turns, user(3));
        assert!(turn_of(&mut last).await.is_none());
        // The first one has its turn already, and did not come to use it.
        drop(running);
        drop(gone);
        drop(turn_of(&mut last).await.unwrap());
        let state = turns.state.lock();
        assert_eq!((state.running, state.queue.len()), (0, 0));
    }

    #[tokio::test]
    async fn owners_without_reads_are_forgotten() {
        let turns = Turns::new(1);
        for id in 0..5000 {
            drop(turns.take(user(id)).await.unwrap());
        }
        assert!(turns.state.lock().owners.len() <= KNOWN_OWNERS);
    }
}
