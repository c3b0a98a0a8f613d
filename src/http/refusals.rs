//! Requests that are not HTTP at all. hyper answers these itself, before any handler, with a status and no body; here
//! they get the JSON body that every error of the interface has.

use crate::error::ApiError;
use hyper::rt::{Read, ReadBufCursor, Write};
use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// How an answer begins that may be one of hyper's refusals. Handlers' answers begin so too when they are errors, but
/// are never empty.
const ERROR: &[u8] = b"HTTP/1.1 4";

/// The header that tells an empty body, as hyper writes it.
const EMPTY: &str = "content-length: 0\r\n";

/// A connection that adds bodies to refusals. All else passes through.
pub struct JsonRefusals<T> {
    connection: T,
    refusal: Option<Refusal>,
}

/// A refusal on its way out.
struct Refusal {
    bytes: Vec<u8>,
    written: usize,
    /// How long hyper believes it is.
    original: usize,
}

impl<T> JsonRefusals<T> {
    /// Wraps a connection.
    pub fn new(connection: T) -> Self {
        Self { connection, refusal: None }
    }

    /// The connection.
    pub fn into_inner(self) -> T {
        self.connection
    }
}

impl Refusal {
    /// What to write in the place of a refusal without a body; `None` for anything else.
    fn of(head: &[u8]) -> Option<Self> {
        if !head.starts_with(ERROR) {
            return None;
        }
        let text = std::str::from_utf8(head).ok()?;
        let (lines, rest) = text.split_once("\r\n\r\n")?;
        if !rest.is_empty() || !lines.contains(EMPTY.trim_end()) {
            return None;
        }
        let status = text.get(9..12)?.parse().ok()?;
        let msg = match status {
            414 => "The address of the request is too long",
            431 => "The headers of the request are too large",
            _ => "The request is not valid HTTP",
        };
        let body = ApiError::new(status, "BAD_REQUEST", msg).body().to_string() + "\n";
        let length = body.len();
        let headers = format!(
            "content-type: application/json\r\nx-content-type-options: nosniff\r\ncontent-length: {length}\r\n"
        );
        let bytes = text.replacen(EMPTY, &headers, 1) + &body;
        Some(Self { bytes: bytes.into_bytes(), written: 0, original: head.len() })
    }
}

impl<T: Write + Unpin> JsonRefusals<T> {
    /// Writes the rest of a refusal.
    fn poll_refusal(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize>> {
        while let Some(refusal) = &mut self.refusal {
            let rest = refusal.bytes.get(refusal.written..).unwrap_or_default();
            if rest.is_empty() {
                let original = refusal.original;
                self.refusal = None;
                return Poll::Ready(Ok(original));
            }
            let written = ready!(Pin::new(&mut self.connection).poll_write(cx, rest))?;
            if written == 0 {
                return Poll::Ready(Ok(0));
            }
            refusal.written += written;
        }
        Poll::Ready(Ok(0))
    }
}

impl<T: Write + Unpin> Write for JsonRefusals<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        // A refusal that is half out is offered again until it is done.
        if self.refusal.is_none() {
            self.refusal = Refusal::of(bytes);
        }
        if self.refusal.is_some() {
            return self.poll_refusal(cx);
        }
        Pin::new(&mut self.connection).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        if let [only] = parts {
            return self.poll_write(cx, only);
        }
        Pin::new(&mut self.connection).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.connection.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.connection).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.connection).poll_shutdown(cx)
    }
}

impl<T: Read + Unpin> Read for JsonRefusals<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.connection).poll_read(cx, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes three bytes at a time, and none every other time.
    #[derive(Default)]
    struct Narrow {
        taken: Vec<u8>,
        ready: bool,
    }

    impl Write for Narrow {
        fn poll_write(mut self: Pin<&mut Self>, _cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
            self.ready = !self.ready;
            if !self.ready {
                return Poll::Pending;
            }
            let length = bytes.len().min(3);
            self.taken.extend(&bytes[..length]);
            Poll::Ready(Ok(length))
        }

        fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// Writes as hyper does: what was not taken is offered again.
    fn written(bytes: &[u8]) -> String {
        let mut connection = JsonRefusals::new(Narrow::default());
        let mut context = Context::from_waker(std::task::Waker::noop());
        let mut rest = bytes;
        while !rest.is_empty() {
            if let Poll::Ready(length) = Pin::new(&mut connection).poll_write(&mut context, rest) {
                rest = &rest[length.unwrap()..];
            }
        }
        String::from_utf8(connection.connection.taken).unwrap()
    }

    #[test]
    fn a_refusal_gets_a_body_however_slowly_it_goes_out() {
        let refusal =
            "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\ndate: today\r\n\r\n";
        let body = "{\"result\":\"error\",\"msg\":\"The headers of the request are too large\",\"code\":\"BAD_REQUEST\"}\n";
        let length = body.len();
        assert_eq!(
            written(refusal.as_bytes()),
            format!(
                "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n\
                 x-content-type-options: nosniff\r\ncontent-length: {length}\r\ndate: today\r\n\r\n{body}"
            )
        );
    }

    #[test]
    fn answers_of_handlers_pass_as_they_are() {
        for answer in [
            "HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n{}",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 21\r\n\r\ncontent-length: 0\r\n\r\n",
            "HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n",
            "content-length: 0\r\n\r\n",
        ] {
            assert_eq!(written(answer.as_bytes()), answer);
        }
    }
}
