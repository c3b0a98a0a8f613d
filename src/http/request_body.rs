//! Request bodies. A response may be sent before the body is read; the rest of the body has to be skipped then, since the
//! next request of the connection follows it.

use super::interceptor::BodyTap;
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

/// The most bytes of a body that are skipped, and the longest time. Beyond that a new connection is cheaper.
const MAX_SKIPPED: usize = 1024 * 1024;
const SKIP_TIMEOUT: Duration = Duration::from_secs(5);

/// The body of a request. Clones share it.
#[derive(Clone)]
pub struct RequestBody(Arc<Mutex<State>>);

struct State {
    incoming: Incoming,
    /// The client sent `Expect: 100-continue`, and sends the body only when it is read.
    awaits_continue: bool,
    /// Gets a copy of what is read.
    tap: Option<BodyTap>,
}

impl RequestBody {
    /// Wraps the body of a request with these headers. A tap gets a copy of what is read.
    pub fn new(headers: &HeaderMap, incoming: Incoming, tap: Option<BodyTap>) -> Self {
        let awaits_continue = headers.contains_key(header::EXPECT);
        Self(Arc::new(Mutex::new(State { incoming, awaits_continue, tap })))
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads and discards the rest of the body. Returns `false` if too much of it is left: then the response must say
    /// `Connection: close`. If a body is dropped instead, hyper closes the connection without saying so in the response,
    /// and the client's next request is lost.
    pub async fn skip_rest(mut self) -> bool {
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
            }
            Some(())
        };
        tokio::time::timeout(SKIP_TIMEOUT, skipping).await.is_ok_and(|skipped| skipped.is_some())
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
