//! Request bodies. A response may be sent before the body is read; the rest of the body has to be skipped then, since the
//! next request of the connection follows it.

use super::budgets::Reservation;
use super::discard_rate::DiscardRate;
use super::interceptor::BodyTap;
use crate::error::{ApiError, ApiResult};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderMap};
use parking_lot::Mutex;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// The most bytes of a body that are skipped, and the longest time. Beyond that a new connection is cheaper.
const MAX_SKIPPED: usize = 1024 * 1024;
const SKIP_TIMEOUT: Duration = Duration::from_secs(5);

/// The longest time to receive a body, so that a slow sender cannot hold its connection forever.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The longest time to receive the body of a caller who is not known, which is small.
const STRANGER_TIMEOUT: Duration = Duration::from_secs(20);

/// Limit on the body of a caller.
#[derive(Clone, Copy)]
pub struct BodyLimit {
    /// The length of the body in bytes.
    pub bytes: usize,
    /// True if the caller is known, and may take longer.
    pub is_known: bool,
}

/// The body of a request. Clones share it.
#[derive(Clone)]
pub struct RequestBody(Arc<Mutex<State>>);

struct State {
    incoming: Incoming,
    /// The client sent `Expect: 100-continue`, and sends the body only when it is read.
    awaits_continue: bool,
    /// Receives a copy of the body.
    tap: Option<BodyTap>,
}

impl RequestBody {
    /// Wraps the body of a request with these headers. A tap receives a copy of the body.
    pub fn new(headers: &HeaderMap, incoming: Incoming, tap: Option<BodyTap>) -> Self {
        let awaits_continue = headers.contains_key(header::EXPECT);
        Self(Arc::new(Mutex::new(State { incoming, awaits_continue, tap })))
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock())
    }

    /// Reads the body into memory, with a reservation of the budget that `begin` makes; `None` if it is empty. What does not
    /// arrive at once is read in parts, and the future of `next_part` ends when the next may be read.
    pub async fn collect<F: Future<Output = ()>>(
        self,
        limit: BodyLimit,
        begin: impl FnOnce() -> Reservation,
        next_part: impl Fn() -> F,
    ) -> ApiResult<Option<(Bytes, Reservation)>> {
        let announced = self.size_hint().exact();
        if announced.is_some_and(|length| length > limit.bytes as u64) {
            return Err(ApiError::too_large());
        }
        if announced == Some(0) || self.is_end_stream() {
            return Ok(None);
        }
        let timeout = if limit.is_known { TIMEOUT } else { STRANGER_TIMEOUT };
        let longest = announced.map_or(limit.bytes, |length| limit.bytes.min(length as usize));
        let collected =
            tokio::time::timeout(timeout, self.collect_parts(limit.bytes, longest, begin, next_part));
        collected.await.unwrap_or_else(|_| Err(ApiError::request_timeout()))
    }

    /// Most bodies are one frame, which is not copied. Others are in a buffer that at most doubles, and counts with all of its
    /// room.
    async fn collect_parts<F: Future<Output = ()>>(
        mut self,
        limit: usize,
        longest: usize,
        begin: impl FnOnce() -> Reservation,
        next_part: impl Fn() -> F,
    ) -> ApiResult<Option<(Bytes, Reservation)>> {
        let Some(first) = self.next_data().await? else { return Ok(None) };
        if first.len() > limit {
            return Err(ApiError::too_large());
        }
        let mut reservation = begin();
        reservation.grow(first.len())?;
        if self.is_end_stream() {
            return Ok(Some((first, reservation)));
        }
        let mut reserved = first.len();
        let mut collected = first.to_vec();
        drop(first);
        next_part().await;
        while let Some(data) = self.next_data().await? {
            let length = collected.len() + data.len();
            if length > limit {
                return Err(ApiError::too_large());
            }
            if length > collected.capacity() {
                let room = (2 * collected.capacity()).min(longest).max(length);
                reservation.grow(room.saturating_sub(reserved))?;
                reserved = reserved.max(room);
                collected.reserve_exact(room - collected.len());
            }
            collected.extend_from_slice(&data);
            next_part().await;
        }
        Ok(Some((collected.into(), reservation)))
    }

    async fn next_data(&mut self) -> ApiResult<Option<Bytes>> {
        while let Some(frame) = self.frame().await {
            let frame = frame.map_err(|_| ApiError::bad_request("The request body could not be read"))?;
            // Trailers are ignored.
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// Reads and discards the rest of the body. Returns `false` if too much of it is left: the response must then have
    /// `Connection: close`. If a body is dropped instead, hyper closes the connection without this header, and the
    /// client's next request is lost.
    pub async fn skip_rest(mut self, rate: &DiscardRate) -> bool {
        if self.is_end_stream() {
            return true;
        }
        if self.with(|state| state.awaits_continue) || self.size_hint().lower() > MAX_SKIPPED as u64 {
            return false;
        }
        let skipping = async {
            let mut left = MAX_SKIPPED;
            while let Some(frame) = self.frame().await {
                let length = frame.ok()?.data_ref().map_or(0, Bytes::len);
                left = left.checked_sub(length)?;
                rate.take(length).await;
            }
            Some(())
        };
        // Boxed, since every request would have the place for it, and most have no body.
        let skipped = Box::pin(tokio::time::timeout(SKIP_TIMEOUT, skipping)).await;
        skipped.is_ok_and(|skipped| skipped.is_some())
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        self.with(|state| {
            state.awaits_continue = false;
            let polled = Pin::new(&mut state.incoming).poll_frame(cx);
            if let (Some(tap), Poll::Ready(Some(Ok(frame)))) = (&state.tap, &polled) {
                tap.add(frame.data_ref().map_or(&[], |data| data));
            }
            polled
        })
    }

    fn is_end_stream(&self) -> bool {
        self.with(|state| state.incoming.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.with(|state| state.incoming.size_hint())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::budgets::Budget;
    use crate::pool::Owner;
    use crate::types::UserId;
    use hyper::Response;
    use hyper::server::conn::http1;
    use hyper::service::service_fn;
    use hyper_util::rt::TokioIo;
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::io::AsyncWriteExt;
    use tokio::time::Instant;

    fn begin() -> Reservation {
        Budget::of_bodies(None).begin(Owner::User(UserId(1)))
    }

    /// Collects the body of a request. Returns the length or the status of the error, the number of
    /// waits for a further part, and the time.
    async fn collect(limit: BodyLimit, request: &[u8]) -> (Result<usize, u16>, usize, Duration) {
        let (mut client, server) = tokio::io::duplex(1 << 10);
        let (sender, mut collected) = tokio::sync::mpsc::unbounded_channel();
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let sender = sender.clone();
            async move {
                let (head, body) = request.into_parts();
                let (start, parts) = (Instant::now(), AtomicUsize::new(0));
                let next_part = async || {
                    parts.fetch_add(1, Ordering::Relaxed);
                };
                let read = RequestBody::new(&head.headers, body, None).collect(limit, begin, next_part).await;
                let read =
                    read.map(|read| read.map_or(0, |(body, _)| body.len())).map_err(|error| error.status());
                sender.send((read, parts.into_inner(), start.elapsed())).unwrap();
                Ok::<_, Infallible>(Response::new(String::new()))
            }
        });
        // The connection may end in the step in which the body is given up.
        let answered = async {
            tokio::select! {
                _ = http1::Builder::new().serve_connection(TokioIo::new(server), service) => collected.recv().await,
                collected = collected.recv() => collected,
            }
        };
        tokio::join!(answered, client.write_all(request)).0.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_bodies_time_out_sooner_for_strangers() {
        for (is_known, seconds) in [(true, 60), (false, 20)] {
            let half = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf";
            let (read, _, elapsed) = collect(BodyLimit { bytes: 100, is_known }, half).await;
            assert_eq!((read, elapsed.as_secs()), (Err(408), seconds), "is known: {is_known}");
        }
    }

    #[tokio::test]
    async fn bodies_in_one_part_wait_for_none_and_others_for_each() {
        let limit = BodyLimit { bytes: 100_000, is_known: true };
        for (length, waits) in [(3, 0..=0), (90_000, 5..=1000)] {
            let head = format!("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
            let (read, parts, _) = collect(limit, &[head.into_bytes(), vec![b'a'; length]].concat()).await;
            assert_eq!(read, Ok(length));
            assert!(waits.contains(&parts), "{parts} waits for {length} bytes");
        }
    }
}
