//! The body of a request. Whoever answers may leave it where it is, in part or as a whole; the next request of the
//! connection stands behind it.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

/// How much is read of a body that nobody wants, in bytes, and for how long. Beyond that a new connection is cheaper.
const SKIPPED: usize = 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);

/// A body on its way in. Clones are the same body.
#[derive(Clone)]
pub struct RequestBody(Arc<Mutex<State>>);

struct State {
    incoming: Incoming,
    /// The client sends nothing before it is told to, which reading does.
    is_held_back: bool,
}

impl RequestBody {
    /// The body of a request with these headers.
    pub fn new(headers: &HeaderMap, incoming: Incoming) -> Self {
        let is_held_back = headers.contains_key(header::EXPECT);
        Self(Arc::new(Mutex::new(State { incoming, is_held_back })))
    }

    fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads what nobody has read, and forgets it. `false` if too much is left of it: then the connection has to end,
    /// and the client has to hear so. Where a body is dropped instead, hyper ends the connection behind an answer that
    /// says nothing of it, and the client's next request is lost.
    pub async fn skip_rest(mut self) -> bool {
        if self.is_end_stream() {
            return true;
        }
        if self.with(|state| state.is_held_back) || self.size_hint().lower() > SKIPPED as u64 {
            return false;
        }
        let skipping = async {
            let mut left = SKIPPED;
            while let Some(frame) = self.frame().await {
                let length = frame.ok()?.data_ref().map_or(0, Bytes::len);
                left = left.checked_sub(length)?;
            }
            Some(())
        };
        tokio::time::timeout(PATIENCE, skipping).await.is_ok_and(|skipped| skipped.is_some())
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        self.with(|state| {
            state.is_held_back = false;
            Pin::new(&mut state.incoming).poll_frame(cx)
        })
    }

    fn is_end_stream(&self) -> bool {
        self.with(|state| state.incoming.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.with(|state| state.incoming.size_hint())
    }
}
