//! Streamed files: a part is in memory while the client takes it.
//!
//! The memory of a part is reserved as that of other answers. The first parts are small, since clients may ask for a
//! thousand files and read none. One that takes them quickly gets larger parts, as long as there is memory.

use super::budgets::Reservation;
use super::response_body::BodyStream;
use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::try_unfold;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Reads a part of a file: from an offset, and at most this many bytes. It may be shorter, and is not empty.
pub type PartSource = Box<dyn Fn(u64, usize) -> BoxFuture<'static, ApiResult<Bytes>> + Send + Sync>;

/// The bytes of a part that every client gets, and the most.
pub const FIRST_PART: usize = 32 * 1024;
const LARGEST_PART: usize = 256 * 1024;

/// A client that takes a part in this time is quick.
const QUICK: Duration = Duration::from_millis(100);

/// A file that is being sent.
struct Sending {
    source: PartSource,
    at: u64,
    length: u64,
    /// The size of the next part.
    wanted: usize,
    /// When the last part was read.
    read: Option<Instant>,
    /// Held by the part that the client takes.
    turn: Arc<Semaphore>,
    /// Of [`FIRST_PART`] bytes.
    reservation: Option<Reservation>,
}

/// A part, its memory, and the turn of the next one.
struct Part {
    bytes: Bytes,
    _reservations: [Option<Reservation>; 2],
    _turn: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Part {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Streams a file of this length. Each part is read once the one before it was taken, and dropped. The reservation is for
/// a part of [`FIRST_PART`] bytes.
pub fn stream(source: PartSource, length: u64, reservation: Option<Reservation>) -> BodyStream {
    let turn = Arc::new(Semaphore::new(1));
    let sending = Sending { source, at: 0, length, wanted: FIRST_PART, read: None, turn, reservation };
    Box::pin(try_unfold(sending, |mut sending| async move {
        if sending.at >= sending.length {
            return Ok(None);
        }
        let turn = Arc::clone(&sending.turn).acquire_owned().await.map_err(ApiError::internal)?;
        sending.adapt();
        let more = sending.reserve_more();
        let most = if more.is_some() { sending.wanted } else { FIRST_PART };
        let most = most.min(usize::try_from(sending.length - sending.at).unwrap_or(usize::MAX));
        let bytes = (sending.source)(sending.at, most).await?;
        if bytes.is_empty() {
            return Err(ApiError::internal("a file is shorter than its size says"));
        }
        sending.at += bytes.len() as u64;
        sending.read = Some(Instant::now());
        let part = Part { bytes, _reservations: [sending.reservation.clone(), more], _turn: turn };
        Ok(Some((Bytes::from_owner(part), sending)))
    }))
}

impl Sending {
    /// Doubles the next part if the last one was taken quickly.
    fn adapt(&mut self) {
        let Some(read) = self.read else { return };
        let is_quick = read.elapsed() < QUICK;
        self.wanted = if is_quick { (self.wanted * 2).min(LARGEST_PART) } else { FIRST_PART };
    }

    fn reserve_more(&self) -> Option<Reservation> {
        let more = self.wanted - FIRST_PART;
        if more == 0 { None } else { self.reservation.as_ref()?.another(more) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::budgets::Budget;
    use super::*;
    use crate::pool::Owner;
    use crate::types::UserId;
    use futures_util::{FutureExt, StreamExt};
    use parking_lot::Mutex;

    const LENGTH: u64 = 1 << 20;

    /// A file of zeros, and the sizes of the parts that were read.
    fn file(reservation: Reservation) -> (BodyStream, Arc<Mutex<Vec<usize>>>) {
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let read = Arc::clone(&sizes);
        let source: PartSource = Box::new(move |_, most| {
            read.lock().push(most);
            async move { Ok(Bytes::from(vec![0; most])) }.boxed()
        });
        (stream(source, LENGTH, Some(reservation)), sizes)
    }

    fn reserved(budget: &Budget, bytes: usize) -> Reservation {
        let mut reservation = budget.begin(Owner::User(UserId(1)));
        reservation.grow(bytes).unwrap();
        reservation
    }

    #[tokio::test]
    async fn a_part_is_read_when_the_last_one_was_dropped() {
        let (mut stream, sizes) = file(reserved(&Budget::of_answers(None), FIRST_PART));
        let first = stream.next().await.unwrap().unwrap();
        let rest = first.slice(1..);
        drop(first);
        assert!(stream.next().now_or_never().is_none(), "a part of it is not sent");
        drop(rest);
        stream.next().await.unwrap().unwrap();
        assert_eq!(sizes.lock().len(), 2);
    }

    #[tokio::test]
    async fn parts_are_small_without_memory_and_for_clients_that_are_slow() {
        let budget = Budget::of_answers(None);
        let (mut stream, sizes) = file(reserved(&budget, FIRST_PART));
        // All that the user may have.
        let mut others = vec![budget.begin(Owner::User(UserId(1)))];
        while others.last_mut().unwrap().grow(1 << 20).is_ok() {
            others.push(budget.begin(Owner::User(UserId(1))));
        }
        let mut length = 0;
        while let Some(part) = stream.next().await {
            length += part.unwrap().len() as u64;
        }
        assert_eq!(length, LENGTH);
        let sizes = sizes.lock();
        assert!(sizes.iter().skip(1).any(|size| *size == FIRST_PART), "{sizes:?}");
        assert!(sizes.iter().all(|size| *size <= LARGEST_PART), "{sizes:?}");
    }

    #[tokio::test]
    async fn parts_keep_their_memory_until_they_are_dropped() {
        let budget = Budget::of_answers(None);
        let (mut stream, _sizes) = file(reserved(&budget, FIRST_PART));
        let part = stream.next().await.unwrap().unwrap();
        drop(stream);
        assert_eq!(budget.used(), FIRST_PART);
        drop(part);
        assert_eq!(budget.used(), 0);
    }
}
