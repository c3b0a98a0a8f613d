//! Limits on the bytes in memory, so that many large requests or answers at a time are refused rather than kept until the
//! machine swaps.
//!
//! What a body takes is reserved while it arrives, and given back when the last part of it is dropped: a client that
//! announces a large body and does not send it takes nothing. An answer keeps its place until its client has read it.

use crate::error::{ApiError, ApiResult};
use crate::pool::Shares;
use crate::types::UserId;
use bytes::Bytes;
use std::net::IpAddr;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The bytes that something may take in all, and a part of them that one owner may take, so that one owner alone does not
/// use up all of it.
pub struct Budget(Arc<Inner>);

struct Inner {
    all: Arc<Semaphore>,
    limits: Limits,
    parts: Shares<Owner, Semaphore>,
}

/// Whose bytes they are.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Owner {
    /// A user's.
    User(UserId),
    /// Those of callers who are not known, by [`address_block`](crate::types::address_block).
    Address(IpAddr),
}

/// The limits of a budget, in bytes.
#[derive(Clone, Copy)]
struct Limits {
    /// What all take together.
    all: usize,
    /// What one takes. A larger body takes as much of the part, and of the whole what it has, but not more than there is.
    part: usize,
    /// What is not counted: there are not more of such bodies than connections.
    small: usize,
}

/// The part of a budget that one body takes. Clones share it, and the last one gives it back.
#[derive(Clone)]
pub struct Reservation(Arc<Held>);

struct Held {
    budget: Arc<Inner>,
    owner: Owner,
    bytes: usize,
    permits: Option<[OwnedSemaphorePermit; 2]>,
}

impl Budget {
    /// For the bodies of users' requests. A part is the largest body.
    pub fn of_bodies() -> Self {
        Self::new(Limits { all: 128 << 20, part: 33 << 20, small: 64 << 10 })
    }

    /// For the bodies of callers who are not known.
    pub fn of_strangers() -> Self {
        Self::new(Limits { all: 8 << 20, part: 512 << 10, small: 4 << 10 })
    }

    /// For answers to users that are being sent: whoever does not read theirs keeps them in memory for a while.
    pub fn of_answers() -> Self {
        Self::new(Limits { all: 256 << 20, part: 16 << 20, small: 64 << 10 })
    }

    fn new(limits: Limits) -> Self {
        Self(Arc::new(Inner { all: Arc::new(Semaphore::new(limits.all)), limits, parts: Shares::default() }))
    }

    /// Reserves nothing yet, for a body of this owner.
    pub fn begin(&self, owner: Owner) -> Reservation {
        Reservation(Arc::new(Held { budget: Arc::clone(&self.0), owner, bytes: 0, permits: None }))
    }
}

impl Reservation {
    /// Reserves more bytes for the same body. Fails with 503 if the budget is used up, or the part of it.
    pub fn grow(&mut self, bytes: usize) -> ApiResult<()> {
        let held = Arc::get_mut(&mut self.0)
            .ok_or_else(|| ApiError::internal("a body grows that was read to its end"))?;
        held.bytes = held.bytes.saturating_add(bytes);
        let Inner { all, limits, parts } = &*held.budget;
        if held.bytes <= limits.small {
            return Ok(());
        }
        let taken =
            |permits: &[OwnedSemaphorePermit; 2]| permits.each_ref().map(OwnedSemaphorePermit::num_permits);
        let [of_part, of_all] = held.permits.as_ref().map_or([0; 2], taken);
        let part = parts.of(held.owner, || Semaphore::new(limits.part));
        let part = take(&part, held.bytes.min(limits.part) - of_part)?;
        let all = take(all, held.bytes.min(limits.all) - of_all)?;
        match &mut held.permits {
            Some([of_part, of_all]) => {
                of_part.merge(part);
                of_all.merge(all);
            }
            none => *none = Some([part, all]),
        }
        Ok(())
    }

    /// Ties the reservation to bytes of the body: all slices of them keep it.
    pub fn keep_with(&self, bytes: Bytes) -> Bytes {
        if bytes.is_empty() || self.0.permits.is_none() {
            return bytes;
        }
        Bytes::from_owner(Counted { bytes, _reservation: self.clone() })
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

fn take(budget: &Arc<Semaphore>, bytes: usize) -> ApiResult<OwnedSemaphorePermit> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    Arc::clone(budget).try_acquire_many_owned(bytes).map_err(|_| ApiError::busy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        Budget::new(Limits { all: 100, part: 40, small: 10 })
    }

    fn reserve(budget: &Budget, user_id: i64, bytes: usize) -> ApiResult<Reservation> {
        let mut reservation = budget.begin(Owner::User(UserId(user_id)));
        reservation.grow(bytes).map(|()| reservation)
    }

    #[test]
    fn a_body_takes_its_place_until_its_last_part_is_gone() {
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
    fn one_leaves_some_for_the_others() {
        let budget = budget();
        let _first = reserve(&budget, 1, 40).unwrap();
        assert!(reserve(&budget, 1, 11).is_err());
        let second = reserve(&budget, 2, 40).unwrap();
        assert!(reserve(&budget, 3, 30).is_err(), "all have too much together");
        drop(second);
        reserve(&budget, 3, 30).unwrap();
    }

    #[test]
    fn small_bodies_are_not_counted_and_larger_ones_than_a_part_take_all_of_it() {
        let budget = budget();
        let mut grown = reserve(&budget, 1, 10).unwrap();
        let _small = (reserve(&budget, 1, 10).unwrap(), reserve(&budget, 1, 10).unwrap());
        grown.grow(20).unwrap();
        assert!(reserve(&budget, 1, 11).is_err(), "all of the body counts");
        drop(grown);
        let _large = reserve(&budget, 1, 60).unwrap();
        assert!(reserve(&budget, 1, 11).is_err());
        reserve(&budget, 2, 40).unwrap();
    }

    #[test]
    fn a_body_that_is_larger_than_a_part_takes_all_that_it_has_from_the_whole() {
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
