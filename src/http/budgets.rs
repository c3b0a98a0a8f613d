//! Limits on the bytes in memory, so that many requests or answers at a time are refused rather than kept until the machine
//! swaps.
//!
//! Memory of a body is reserved while it arrives, and released when the last part of it is dropped: a client that
//! announces a large body and does not send it reserves nothing. A response keeps its reservation until its client has
//! read it.

use crate::error::{ApiError, ApiResult};
use crate::metrics::Count;
use crate::pool::{Owner, Shares};
use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The bytes that something may take in all, and a part of them that one owner may take, so that one owner alone does not
/// use up all of it.
pub struct Budget(Arc<Inner>);

struct Inner {
    limits: Limits,
    all: AtomicUsize,
    parts: Shares<Owner, AtomicUsize>,
    refusals: Count,
}

/// The limits of a budget, in bytes.
#[derive(Clone, Copy)]
struct Limits {
    /// Limit of all owners together.
    all: usize,
    /// Limit of one owner. A larger body uses up the whole limit of its owner, and of the total its own size, at most
    /// all of it.
    part: usize,
    /// Size of bodies that are never refused: there are at most as many as connections. They count in the total, and not
    /// in the part of their owner.
    small: usize,
}

/// Most bodies and answers are smaller.
const SMALL: usize = 4 << 10;

/// A part of the memory of this process, up to a limit.
fn share(memory: Option<u64>, part: u64, most: usize) -> usize {
    memory.and_then(|memory| usize::try_from(memory / part).ok()).map_or(most, |share| share.min(most))
}

/// The part of a budget that one body takes. Clones share it, and the last one gives it back.
#[derive(Clone)]
pub struct Reservation(Arc<Held>);

struct Held {
    budget: Arc<Inner>,
    owner: Owner,
    bytes: usize,
    of_all: usize,
    part: Option<Part>,
}

/// The bytes that a body takes of the part of its owner.
struct Part {
    used: Arc<AtomicUsize>,
    bytes: usize,
}

impl Budget {
    /// For the bodies of users' requests. A part is the largest body. Like the other budgets, it is a part of the memory of
    /// this process, so that all of them together leave room for the rest; `None` is more than enough.
    pub fn of_bodies(memory: Option<u64>) -> Self {
        let all = share(memory, 8, 128 << 20);
        Self::new(Limits { all, part: (33 << 20).min(all * 3 / 4), small: SMALL })
    }

    /// For the bodies of callers who are not known.
    pub fn of_strangers(memory: Option<u64>) -> Self {
        let all = share(memory, 64, 8 << 20);
        Self::new(Limits { all, part: (512 << 10).min(all / 4), small: SMALL })
    }

    /// Budget for responses to users: unread ones stay in memory for a while.
    pub fn of_answers(memory: Option<u64>) -> Self {
        let all = share(memory, 8, 256 << 20);
        Self::new(Limits { all, part: (16 << 20).min(all / 4), small: SMALL })
    }

    /// For heads of requests that are long. Their buffers have up to twice their size.
    pub fn of_heads(memory: Option<u64>) -> Self {
        let all = share(memory, 32, 16 << 20);
        Self::new(Limits { all, part: (2 << 20).min(all / 4), small: 0 })
    }

    /// For mails that arrive. One owner may have all of it: mostly there is one, the mail server on this machine.
    pub fn of_mails(memory: Option<u64>) -> Self {
        let all = share(memory, 8, 64 << 20);
        Self::new(Limits { all, part: all, small: SMALL })
    }

    fn new(limits: Limits) -> Self {
        let (all, parts) = (AtomicUsize::new(0), Shares::default());
        Self(Arc::new(Inner { limits, all, parts, refusals: Count::default() }))
    }

    /// Number of bodies that were refused.
    pub fn refusals(&self) -> u64 {
        self.0.refusals.get()
    }

    /// The bytes that are reserved.
    #[cfg(test)]
    pub fn used(&self) -> usize {
        self.0.all.load(Ordering::Relaxed)
    }

    /// Reserves nothing yet, for a body of this owner.
    pub fn begin(&self, owner: Owner) -> Reservation {
        let budget = Arc::clone(&self.0);
        Reservation(Arc::new(Held { budget, owner, bytes: 0, of_all: 0, part: None }))
    }
}

impl Reservation {
    /// Reserves more bytes for the same body. Fails with 503 if the budget is used up, or the part of it.
    pub fn grow(&mut self, bytes: usize) -> ApiResult<()> {
        let held = Arc::get_mut(&mut self.0)
            .ok_or_else(|| ApiError::internal("a body grows that was read to its end"))?;
        held.grow(bytes).ok_or_else(|| {
            held.budget.refusals.increment();
            ApiError::busy()
        })
    }

    /// A further reservation for the same owner, if there is room; it is no refusal otherwise.
    pub fn another(&self, bytes: usize) -> Option<Self> {
        let Held { budget, owner, .. } = &*self.0;
        let mut held = Held { budget: Arc::clone(budget), owner: *owner, bytes: 0, of_all: 0, part: None };
        held.grow(bytes)?;
        Some(Self(Arc::new(held)))
    }

    /// Ties the reservation to bytes of the body: all slices of them keep it.
    pub fn keep_with(&self, bytes: Bytes) -> Bytes {
        if bytes.is_empty() || self.0.bytes <= self.0.budget.limits.small {
            return bytes;
        }
        Bytes::from_owner(Counted { bytes, _reservation: self.clone() })
    }
}

impl Held {
    /// Small bodies take one step, as most bodies are small.
    fn grow(&mut self, more: usize) -> Option<()> {
        let Inner { all, limits, parts, .. } = &*self.budget;
        self.bytes = self.bytes.saturating_add(more);
        let more_of_all = self.bytes.min(limits.all) - self.of_all;
        if self.bytes <= limits.small {
            all.fetch_add(more_of_all, Ordering::Relaxed);
        } else {
            if self.owner != Owner::Proxied {
                let unused = || Part { used: parts.of(self.owner, AtomicUsize::default), bytes: 0 };
                let part = self.part.get_or_insert_with(unused);
                let more = self.bytes.min(limits.part) - part.bytes;
                take(&part.used, more, limits.part)?;
                part.bytes += more;
            }
            take(all, more_of_all, limits.all)?;
        }
        self.of_all += more_of_all;
        Some(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.budget.all.fetch_sub(self.of_all, Ordering::Relaxed);
        if let Some(Part { used, bytes }) = &self.part {
            used.fetch_sub(*bytes, Ordering::Relaxed);
        }
    }
}

struct Counted {
    bytes: Bytes,
    _reservation: Reservation,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

fn take(used: &AtomicUsize, bytes: usize, limit: usize) -> Option<usize> {
    let add = |used: usize| used.checked_add(bytes).filter(|sum| *sum <= limit);
    used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::UserId;

    fn budget() -> Budget {
        Budget::new(Limits { all: 100, part: 40, small: 10 })
    }

    fn reserve(budget: &Budget, user_id: i64, bytes: usize) -> ApiResult<Reservation> {
        let mut reservation = budget.begin(Owner::User(UserId(user_id)));
        reservation.grow(bytes).map(|()| reservation)
    }

    #[test]
    fn all_budgets_together_leave_most_of_the_memory() {
        let all = |memory| {
            let budgets = [Budget::of_bodies, Budget::of_strangers, Budget::of_answers, Budget::of_heads];
            budgets.map(|budget| budget(memory).0.limits.all >> 20)
        };
        assert_eq!(all(None), [128, 8, 256, 16]);
        assert_eq!(all(Some(8 << 30)), [128, 8, 256, 16]);
        assert_eq!(all(Some(1 << 30)), [128, 8, 128, 16]);
        assert_eq!(all(Some(512 << 20)), [64, 8, 64, 16]);
        assert_eq!(all(Some(256 << 20)), [32, 4, 32, 8]);
        // The largest body fits into what one user may have, or else into all.
        assert_eq!(Budget::of_bodies(Some(512 << 20)).0.limits.part, 33 << 20);
        assert!(reserve(&Budget::of_bodies(Some(128 << 20)), 1, 33 << 20).is_ok());
    }

    /// `SECURITY.md` has these numbers.
    #[test]
    fn a_few_users_together_use_up_a_budget() {
        let users = |Budget(inner): Budget| inner.limits.all.div_ceil(inner.limits.part);
        assert_eq!(users(Budget::of_answers(None)), 16);
        assert_eq!(users(Budget::of_answers(Some(512 << 20))), 4, "a small machine");
        assert_eq!(users(Budget::of_bodies(None)), 4);
    }

    #[test]
    fn bodies_keep_their_reservation_until_dropped() {
        let budget = budget();
        let mut reservation = reserve(&budget, 1, 20).unwrap();
        reservation.grow(20).unwrap();
        let refusal = reserve(&budget, 1, 11).err().unwrap();
        assert_eq!((refusal.status(), refusal.code()), (503, "SERVICE_UNAVAILABLE"));
        let slice = reservation.keep_with(Bytes::from_static(b"a body")).slice(2..);
        assert!(reservation.grow(1).is_err(), "it is read");
        drop(reservation);
        assert!(reserve(&budget, 1, 11).is_err());
        assert_eq!(slice, "body");
        drop(slice);
        reserve(&budget, 1, 40).unwrap();
    }

    #[test]
    fn limits_of_one_user_leave_room_for_others() {
        let budget = budget();
        let _first = reserve(&budget, 1, 40).unwrap();
        assert!(reserve(&budget, 1, 11).is_err());
        let second = reserve(&budget, 2, 40).unwrap();
        assert!(reserve(&budget, 3, 30).is_err(), "all have too much together");
        drop(second);
        reserve(&budget, 3, 30).unwrap();
    }

    #[test]
    fn small_bodies_do_not_count_for_their_owner_and_oversized_ones_use_the_whole_share() {
        let budget = budget();
        let mut grown = reserve(&budget, 1, 10).unwrap();
        let _small = (reserve(&budget, 1, 10).unwrap(), reserve(&budget, 1, 10).unwrap());
        grown.grow(20).unwrap();
        assert!(reserve(&budget, 1, 11).is_err(), "all of the body counts");
        drop(grown);
        let _large = reserve(&budget, 1, 60).unwrap();
        assert!(reserve(&budget, 1, 11).is_err());
        reserve(&budget, 2, 20).unwrap();
    }

    #[test]
    fn small_bodies_count_in_the_total_and_are_never_refused() {
        let budget = budget();
        let mut small: Vec<_> = (0..12).map(|user_id| reserve(&budget, user_id, 10).unwrap()).collect();
        assert!(reserve(&budget, 20, 11).is_err());
        small.truncate(8);
        assert!(reserve(&budget, 20, 21).is_err());
        reserve(&budget, 20, 20).unwrap();
        drop(small);
        reserve(&budget, 20, 40).unwrap();
        assert_eq!(budget.used(), 0);
    }

    #[test]
    fn clients_behind_a_proxy_have_no_limit_but_that_of_all() {
        let budget = budget();
        let of_proxy = |bytes| {
            let mut reservation = budget.begin(Owner::Proxied);
            reservation.grow(bytes).map(|()| reservation)
        };
        let _held = (of_proxy(40).unwrap(), of_proxy(40).unwrap());
        assert!(of_proxy(21).is_err());
        reserve(&budget, 1, 20).unwrap();
    }

    #[test]
    fn large_bodies_count_fully_towards_the_total() {
        let budget = budget();
        let mut large = reserve(&budget, 1, 60).unwrap();
        assert!(reserve(&budget, 2, 41).is_err());
        large.grow(20).unwrap();
        assert!(reserve(&budget, 2, 21).is_err());
        let other = reserve(&budget, 2, 20).unwrap();
        assert!(large.grow(1).is_err());
        drop((large, other));
        let _larger_than_the_whole = reserve(&budget, 1, 1000).unwrap();
        assert!(reserve(&budget, 2, 11).is_err());
    }
}
