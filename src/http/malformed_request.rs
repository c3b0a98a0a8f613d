//! JSON bodies for responses to malformed HTTP.
//!
//! hyper itself responds to requests that are not valid HTTP, with a status and no body. [`JsonErrorIo`] sits between
//! hyper and the connection, and adds the JSON body that every error of the API has.

use super::request_metrics::{REQUEST_ID, refused_id};
use crate::error::ApiError;
use hyper::rt::{Read, ReadBufCursor, Write};
use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The start of hyper's own error responses. Those of handlers start the same way, but are never empty.
const ERROR_PREFIX: &[u8] = b"HTTP/1.1 4";

/// The text for a head that is too large.
pub const HEAD_TOO_LARGE: &str = "The headers of the request are too large";

/// The header of an empty body, as hyper writes it.
const EMPTY_BODY: &str = "content-length: 0\r\n";

/// A connection that adds JSON bodies to hyper's own error responses. Everything else passes through.
pub struct JsonErrorIo<T> {
    connection: T,
    response: Option<ErrorResponse>,
}

/// An error response that is being written.
struct ErrorResponse {
    bytes: Vec<u8>,
    written: usize,
    /// The number of bytes that hyper wanted to write.
    original_length: usize,
}

/// Writes a whole error response, after which the connection is closed, for connections that hyper does not serve.
pub fn write_error(status: u16, msg: &'static str) -> Vec<u8> {
    let (reason, code) = match status {
        431 => ("Request Header Fields Too Large", "BAD_REQUEST"),
        503 => ("Service Unavailable", "SERVICE_UNAVAILABLE"),
        505 => ("HTTP Version Not Supported", "BAD_REQUEST"),
        _ => ("Bad Request", "BAD_REQUEST"),
    };
    let body = ApiError::new(status, code, msg).body().to_string() + "\n";
    let length = body.len();
    let id = if status >= 500 { format!("{REQUEST_ID}: {}\r\n", refused_id(status)) } else { String::new() };
    format!(
        "HTTP/1.1 {status} {reason}\r\ncontent-type: application/json\r\nx-content-type-options: nosniff\r\n\
         {id}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

impl<T> JsonErrorIo<T> {
    /// Wraps a connection.
    pub fn new(connection: T) -> Self {
        Self { connection, response: None }
    }

    /// Unwraps the connection.
    pub fn into_inner(self) -> T {
        self.connection
    }
}

impl ErrorResponse {
    /// Returns the response to write in place of an empty error response of hyper; `None` for anything else.
    fn replacing(head: &[u8]) -> Option<Self> {
        if !head.starts_with(ERROR_PREFIX) {
            return None;
        }
        let text = std::str::from_utf8(head).ok()?;
        let (lines, rest) = text.split_once("\r\n\r\n")?;
        if !rest.is_empty() || !lines.contains(EMPTY_BODY.trim_end()) {
            return None;
        }
        let status = text.get(9..12)?.parse().ok()?;
        let msg = match status {
            414 => "The address of the request is too long",
            431 => HEAD_TOO_LARGE,
            _ => "The request is not valid HTTP",
        };
        let body = ApiError::new(status, "BAD_REQUEST", msg).body().to_string() + "\n";
        let length = body.len();
        let headers = format!(
            "content-type: application/json\r\nx-content-type-options: nosniff\r\ncontent-length: {length}\r\n"
        );
        let bytes = text.replacen(EMPTY_BODY, &headers, 1) + &body;
        Some(Self { bytes: bytes.into_bytes(), written: 0, original_length: head.len() })
    }
}

impl<T: Write + Unpin> JsonErrorIo<T> {
    /// Writes the rest of an error response. Returns the length of the text that it replaced.
    fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<Result<usize>> {
        while let Some(response) = &mut self.response {
            let rest = response.bytes.get(response.written..).unwrap_or_default();
            if rest.is_empty() {
                let length = response.original_length;
                self.response = None;
                return Poll::Ready(Ok(length));
            }
            let written = ready!(Pin::new(&mut self.connection).poll_write(cx, rest))?;
            if written == 0 {
                return Poll::Ready(Ok(0));
            }
            response.written += written;
        }
        Poll::Ready(Ok(0))
    }
}

impl<T: Write + Unpin> Write for JsonErrorIo<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        // hyper offers the same bytes again until they are taken.
        if self.response.is_none() {
            self.response = ErrorResponse::replacing(bytes);
        }
        if self.response.is_some() {
            return self.poll_response(cx);
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

impl<T: Read + Unpin> Read for JsonErrorIo<T> {
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

    /// Writes as hyper does: bytes that were not accepted are offered again.
    fn written(bytes: &[u8]) -> String {
        let mut connection = JsonErrorIo::new(Narrow::default());
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
    fn an_empty_error_gets_a_body_however_slowly_it_is_written() {
        let response =
            "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-length: 0\r\ndate: today\r\n\r\n";
        let body = "{\"result\":\"error\",\"msg\":\"The headers of the request are too large\",\"code\":\"BAD_REQUEST\"}\n";
        let length = body.len();
        assert_eq!(
            written(response.as_bytes()),
            format!(
                "HTTP/1.1 431 Request Header Fields Too Large\r\ncontent-type: application/json\r\n\
                 x-content-type-options: nosniff\r\ncontent-length: {length}\r\ndate: today\r\n\r\n{body}"
            )
        );
    }

    #[test]
    fn responses_of_handlers_pass_unchanged() {
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
