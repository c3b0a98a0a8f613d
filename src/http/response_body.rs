//! Response bodies: in memory, or streamed while the client reads them.

use crate::error::ApiError;
use bytes::Bytes;
use futures_util::Stream;
use hyper::body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A response body in chunks. An error ends the connection, so that the client sees that the body is incomplete.
pub type BodyStream = Pin<Box<dyn Stream<Item = Result<Bytes, ApiError>> + Send>>;

pub enum ResponseBody {
    /// In memory.
    Full(Bytes),
    /// Produced while it is sent.
    Streamed {
        /// The number of bytes that are not sent yet.
        remaining: u64,
        /// Produces the bytes.
        stream: BodyStream,
    },
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = ApiError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ApiError>>> {
        match &mut *self {
            Self::Full(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Full(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::Streamed { remaining, stream } => stream.as_mut().poll_next(cx).map(|chunk| {
                let chunk = chunk?;
                Some(chunk.map(|bytes| {
                    *remaining = remaining.saturating_sub(bytes.len() as u64);
                    Frame::data(bytes)
                }))
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Full(bytes) => bytes.is_empty(),
            Self::Streamed { remaining, .. } => *remaining == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Full(bytes) => bytes.len() as u64,
            Self::Streamed { remaining, .. } => *remaining,
        })
    }
}
