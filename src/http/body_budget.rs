//! A limit on the bytes of all request bodies in memory, so that many large requests at a time are refused rather than
//! kept until the machine swaps.
//!
//! What a body takes is reserved while it arrives, and given back when the last part of it is dropped: a client that
//! announces a large body and does not send it takes nothing.

use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The bytes of all bodies in memory at a time. Twice the largest body, with room for small ones.
const BUDGET: usize = 80 << 20;

/// The bytes of the bodies of callers who are not known: a part of the budget, so that they leave enough for the others.
const STRANGERS_BUDGET: usize = 8 << 20;

/// The bytes that all bodies together may take.
pub struct BodyBudget {
    all: Arc<Semaphore>,
    strangers: Arc<Semaphore>,
}

/// The part of the budget that one body takes. Clones share it, and the last one gives it back.
#[derive(Clone)]
pub struct Reservation(Arc<Permits>);

struct Permits {
    all: OwnedSemaphorePermit,
    strangers: Option<OwnedSemaphorePermit>,
}

impl Default for BodyBudget {
    fn default() -> Self {
        Self::new(BUDGET, STRANGERS_BUDGET)
    }
}

impl BodyBudget {
    fn new(all: usize, strangers: usize) -> Self {
        Self { all: Arc::new(Semaphore::new(all)), strangers: Arc::new(Semaphore::new(strangers)) }
    }

    /// Reserves the first bytes of a body. Fails with 503 if the budget is used up.
    pub fn reserve(&self, bytes: usize, is_known: bool) -> ApiResult<Reservation> {
        let all = take(&self.all, bytes)?;
        let strangers = if is_known { None } else { Some(take(&self.strangers, bytes)?) };
        Ok(Reservation(Arc::new(Permits { all, strangers })))
    }
}

impl Reservation {
    /// Reserves more bytes for the same body. Fails with 503 if the budget is used up.
    pub fn grow(&mut self, bytes: usize) -> ApiResult<()> {
        let permits = Arc::get_mut(&mut self.0)
            .ok_or_else(|| ApiError::internal("a body grows that was read to its end"))?;
        let more = take(permits.all.semaphore(), bytes)?;
        if let Some(strangers) = &mut permits.strangers {
            strangers.merge(take(strangers.semaphore(), bytes)?);
        }
        permits.all.merge(more);
        Ok(())
    }

    /// Ties the reservation to bytes of the body: all slices of them keep it.
    pub fn keep_with(&self, bytes: Bytes) -> Bytes {
        if bytes.is_empty() {
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

    #[test]
    fn a_body_takes_its_bytes_until_its_last_part_is_gone() {
        let budget = BodyBudget::new(100, 100);
        let mut reservation = budget.reserve(40, true).unwrap();
        reservation.grow(60).unwrap();
        let refusal = budget.reserve(1, true).err().unwrap();
        assert_eq!((refusal.status(), refusal.code()), (503, "SERVICE_UNAVAILABLE"));
        let body = reservation.keep_with(Bytes::from_static(b"a body of two parts"));
        let part = body.slice(2..6);
        drop((reservation, body));
        assert!(budget.reserve(1, true).is_err());
        drop(part);
        budget.reserve(100, true).unwrap();
    }

    #[test]
    fn strangers_leave_the_larger_part_to_the_others() {
        let budget = BodyBudget::new(100, 10);
        let mut stranger = budget.reserve(10, false).unwrap();
        assert!(stranger.grow(1).is_err() && budget.reserve(1, false).is_err());
        let _known = budget.reserve(90, true).unwrap();
        assert!(budget.reserve(1, true).is_err());
    }
}
