//! Bodies of answers: whole ones, and ones that are made piece by piece while the client takes them.

use crate::error::ApiError;
use bytes::Bytes;
use futures_util::Stream;
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll};

/// The pieces of an answer's body. An error in the middle ends the connection: the client sees that something is missing.
pub type Pieces = Pin<Box<dyn Stream<Item = Result<Bytes, ApiError>> + Send>>;

/// The body of an answer.
pub enum Body {
    /// In memory.
    Whole(Bytes),
    /// Made while it is sent: `left` bytes are to come.
    InPieces {
        /// Bytes that are not sent yet.
        left: u64,
        /// What makes them.
        pieces: Pieces,
    },
}

impl hyper::body::Body for Body {
    type Data = Bytes;
    type Error = ApiError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ApiError>>> {
        match &mut *self {
            Self::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Self::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Self::InPieces { left, pieces } => pieces.as_mut().poll_next(cx).map(|piece| {
                let piece = piece?;
                Some(piece.map(|bytes| {
                    *left = left.saturating_sub(bytes.len() as u64);
                    Frame::data(bytes)
                }))
            }),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Whole(bytes) => bytes.is_empty(),
            Self::InPieces { left, .. } => *left == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::InPieces { left, .. } => *left,
        })
    }
}
