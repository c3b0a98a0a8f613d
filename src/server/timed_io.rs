//! A connection with a time limit for each phase, so that a client that is slow or silent does not keep its place.
//!
//! hyper limits how long a connection may be idle together with the time for the head of a request
//! (`header_read_timeout`). Here, a head has to be complete soon after its first byte, and the first one soon after the
//! connection is accepted; and a client that does not read its response is dropped.
//!
//! Lines of a head end with CR and LF here. hyper also takes LF alone, where a proxy in front may see no end.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// The time limits of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// From the first byte of a request, or from the start of the connection, to the end of the request's head.
    pub head: Duration,
    /// How long a response may wait for the client to take [`MIN_TAKEN`] bytes more of it.
    pub write: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { head: Duration::from_secs(20), write: Duration::from_secs(30) }
    }
}

/// The bytes that a client has to take within [`Timeouts::write`]: a fraction of what the worst networks carry.
const MIN_TAKEN: usize = 8 * 1024;

/// The number of requests of a connection whose head has arrived and whose response is not complete.
#[derive(Clone, Default)]
pub struct OpenRequests(Arc<Counts>);

#[derive(Default)]
struct Counts {
    open: AtomicUsize,
    /// The requests that ever began.
    begun: AtomicUsize,
}

/// A request that counts as open until it is dropped.
pub struct OpenRequest(Arc<Counts>);

impl OpenRequests {
    /// Counts a request.
    pub fn begin(&self) -> OpenRequest {
        self.0.open.fetch_add(1, Ordering::Relaxed);
        self.0.begun.fetch_add(1, Ordering::Relaxed);
        OpenRequest(Arc::clone(&self.0))
    }

    fn any(&self) -> bool {
        self.0.open.load(Ordering::Relaxed) > 0
    }

    fn begun(&self) -> usize {
        self.0.begun.load(Ordering::Relaxed)
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A response body whose request is open until the body has been handed to the connection.
pub struct TrackedBody<B> {
    body: B,
    _request: OpenRequest,
}

impl<B> TrackedBody<B> {
    /// Keeps a request open as long as its response body.
    pub fn new(body: B, request: OpenRequest) -> Self {
        Self { body, _request: request }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for TrackedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<std::result::Result<Frame<Bytes>, B::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Looks at the lines of a request's head as they arrive.
#[derive(Default)]
struct HeadLines {
    /// The requests that had begun before.
    begun: usize,
    /// The bytes of the line that is not complete yet.
    length: usize,
    last: u8,
    /// Whether there was a line that is not empty.
    has_begun: bool,
    has_ended: bool,
}

impl HeadLines {
    /// Replaces each end of a line that is LF alone by a character that no head has, so that hyper refuses the request. What
    /// comes after the head is left as it is.
    fn check(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            if self.has_ended {
                return;
            }
            if *byte != b'\n' {
                self.length += 1;
            } else if self.last == b'\r' {
                let is_empty = self.length == 1;
                self.has_ended = is_empty && self.has_begun;
                self.has_begun |= !is_empty;
                self.length = 0;
            } else {
                *byte = 0;
            }
            self.last = *byte;
        }
    }
}

/// Reads of a head up to this many bytes need no allocation.
const SMALL_READ: usize = 8192;

/// A connection with time limits. Its timers exist only while they run, because thousands of connections wait for
/// events.
pub struct TimedIo<T> {
    io: T,
    timeouts: Timeouts,
    requests: OpenRequests,
    lines: HeadLines,
    head: Option<Pin<Box<Sleep>>>,
    write: Option<Pin<Box<Sleep>>>,
    /// The bytes that the client has taken since `write` began.
    taken: usize,
    has_timed_out: bool,
}

impl<T> TimedIo<T> {
    /// Wraps a connection that was just accepted. `requests` counts its requests.
    pub fn new(io: T, timeouts: Timeouts, requests: OpenRequests) -> Self {
        let head = Some(Box::pin(sleep(timeouts.head)));
        let lines = HeadLines::default();
        Self { io, timeouts, requests, lines, head, write: None, taken: 0, has_timed_out: false }
    }

    /// Unwraps the connection; `None` if the client was too slow and is not worth a goodbye.
    pub fn into_inner(self) -> Option<T> {
        if self.has_timed_out { None } else { Some(self.io) }
    }

    fn time_out(&mut self) -> Error {
        self.has_timed_out = true;
        ErrorKind::TimedOut.into()
    }

    /// Starts or continues the timer of a stalled write.
    fn poll_stalled<V>(&mut self, cx: &mut Context<'_>) -> Poll<Result<V>> {
        let timeout = self.timeouts.write;
        let timer = self.write.get_or_insert_with(|| Box::pin(sleep(timeout)));
        if timer.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Err(self.time_out()));
        }
        Poll::Pending
    }

    fn after_write(&mut self, written: Poll<Result<usize>>, cx: &mut Context<'_>) -> Poll<Result<usize>> {
        let Poll::Ready(written) = written else { return self.poll_stalled(cx) };
        if let Ok(bytes) = written
            && let Some(timer) = &mut self.write
        {
            self.taken += bytes;
            if self.taken >= MIN_TAKEN {
                self.taken = 0;
                timer.as_mut().reset(Instant::now() + self.timeouts.write);
            }
        }
        Poll::Ready(written)
    }
}

impl<T: Read + Unpin> TimedIo<T> {
    /// Reads what may be part of a head. After a response it may also be the rest of a body that nobody reads.
    fn poll_read_head(&mut self, cx: &mut Context<'_>, mut buffer: ReadBufCursor<'_>) -> Poll<Result<()>> {
        let (mut small, mut large) = ([0; SMALL_READ], Vec::new());
        let room = buffer.remaining();
        let bytes = if let Some(bytes) = small.get_mut(..room) {
            bytes
        } else {
            large.resize(room, 0);
            large.as_mut_slice()
        };
        let mut part = ReadBuf::new(bytes);
        ready!(Pin::new(&mut self.io).poll_read(cx, part.unfilled()))?;
        let length = part.filled().len();
        let begun = self.requests.begun();
        if begun != self.lines.begun {
            self.lines = HeadLines { begun, ..HeadLines::default() };
        }
        self.lines.check(&mut bytes[..length]);
        buffer.put_slice(&bytes[..length]);
        Poll::Ready(Ok(()))
    }
}

impl<T: Read + Unpin> Read for TimedIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<Result<()>> {
        if self.requests.any() {
            self.head = None;
            return Pin::new(&mut self.io).poll_read(cx, buffer);
        }
        let read = self.poll_read_head(cx, buffer);
        let timeout = self.timeouts.head;
        if read.is_ready() {
            self.head.get_or_insert_with(|| Box::pin(sleep(timeout)));
            return read;
        }
        match &mut self.head {
            Some(timer) => match timer.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(Err(self.time_out())),
                Poll::Pending => Poll::Pending,
            },
            None => Poll::Pending,
        }
    }
}

impl<T: Write + Unpin> Write for TimedIo<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, bytes);
        self.after_write(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, parts);
        self.after_write(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        match Pin::new(&mut self.io).poll_flush(cx) {
            Poll::Ready(flushed) => {
                self.write = None;
                self.taken = 0;
                Poll::Ready(flushed)
            }
            Poll::Pending => self.poll_stalled(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use hyper_util::rt::TokioIo;
    use std::future::poll_fn;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    type Io = TimedIo<TokioIo<DuplexStream>>;

    /// A connection with room for so many bytes in each direction, its other end, and its requests.
    fn connection(room: usize) -> (Io, DuplexStream, OpenRequests) {
        let (ours, theirs) = duplex(room);
        let requests = OpenRequests::default();
        (TimedIo::new(TokioIo::new(ours), Timeouts::default(), requests.clone()), theirs, requests)
    }

    #[test]
    fn lines_of_heads_end_with_cr_and_lf() {
        let cases: [(&[&str], &str); 5] = [
            (&["GET / HTTP/1.1\r\na: b\r\n\r\n"], "GET / HTTP/1.1\r\na: b\r\n\r\n"),
            (&["\r\nGET / HTTP/1.1\r", "\n\r", "\na\nb\n"], "\r\nGET / HTTP/1.1\r\n\r\na\nb\n"),
            (&["GET / HTTP/1.1\na: b\r\n\r\n"], "GET / HTTP/1.1\0a: b\r\n\r\n"),
            (&["GET / HTTP/1.1\r\na: b\nc: d\r\n\r\n"], "GET / HTTP/1.1\r\na: b\0c: d\r\n\r\n"),
            (&["GET / HTTP/1.1\r\n", "\n"], "GET / HTTP/1.1\r\n\0"),
        ];
        for (parts, expected) in cases {
            let mut lines = HeadLines::default();
            let mut passed = Vec::new();
            for part in parts {
                let mut bytes = part.as_bytes().to_vec();
                lines.check(&mut bytes);
                passed.extend(bytes);
            }
            assert_eq!(passed, expected.as_bytes(), "{parts:?}");
        }
    }

    async fn read(io: &mut Io) -> Result<Vec<u8>> {
        let mut bytes = [0; 100];
        let mut buffer = hyper::rt::ReadBuf::new(&mut bytes);
        poll_fn(|cx| Pin::new(&mut *io).poll_read(cx, buffer.unfilled())).await?;
        Ok(buffer.filled().to_vec())
    }

    async fn write(io: &mut Io, bytes: &[u8]) -> Result<usize> {
        poll_fn(|cx| Pin::new(&mut *io).poll_write(cx, bytes)).await
    }

    fn seconds(seconds: u64) -> impl Future<Output = ()> {
        tokio::time::advance(Duration::from_secs(seconds))
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_connection_ends_before_its_first_request() {
        let (mut io, _client, _requests) = connection(100);
        assert_eq!(read(&mut io).await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(io.into_inner().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_has_to_follow_its_first_byte_soon_however_it_drips() {
        let (mut io, mut client, requests) = connection(100);
        let first = requests.begin();
        client.write_all(b"a").await.unwrap();
        read(&mut io).await.unwrap();
        drop(first);
        // Idle for as long as hyper allows: the time begins with the first byte.
        seconds(60).await;
        client.write_all(b"GET").await.unwrap();
        assert_eq!(read(&mut io).await.unwrap(), b"GET");
        seconds(15).await;
        client.write_all(b" ").await.unwrap();
        assert_eq!(read(&mut io).await.unwrap(), b" ");
        assert_eq!(read(&mut io).await.unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_waits_has_all_the_time() {
        let (mut io, mut client, requests) = connection(100);
        client.write_all(b"GET /events").await.unwrap();
        read(&mut io).await.unwrap();
        let _waiting = requests.begin();
        let mut next = Box::pin(read(&mut io));
        assert!(next.as_mut().now_or_never().is_none());
        seconds(3600).await;
        assert!(next.as_mut().now_or_never().is_none());
        client.write_all(b"next").await.unwrap();
        assert_eq!(next.await.unwrap(), b"next");
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read_is_dropped() {
        let (mut io, _client, _requests) = connection(100);
        assert_eq!(write(&mut io, &[0; 150]).await.unwrap(), 100);
        assert_eq!(write(&mut io, &[0; 50]).await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert!(io.into_inner().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_a_few_bytes_now_and_then_is_dropped_too() {
        let (mut io, mut client, _requests) = connection(100);
        assert_eq!(write(&mut io, &[0; 100]).await.unwrap(), 100);
        let mut byte = [0];
        for _ in 0..5 {
            assert!(write(&mut io, &[0; 100]).now_or_never().is_none());
            seconds(5).await;
            client.read_exact(&mut byte).await.unwrap();
            assert_eq!(write(&mut io, &[0; 100]).await.unwrap(), 1);
        }
        assert!(write(&mut io, &[0; 100]).now_or_never().is_none());
        seconds(6).await;
        assert_eq!(write(&mut io, &[0; 100]).await.unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_slowly_gets_everything() {
        let (mut io, mut client, _requests) = connection(MIN_TAKEN);
        let mut piece = vec![0; MIN_TAKEN];
        assert_eq!(write(&mut io, &piece).await.unwrap(), MIN_TAKEN);
        for _ in 0..10 {
            assert!(write(&mut io, &[0; MIN_TAKEN]).now_or_never().is_none());
            seconds(25).await;
            client.read_exact(&mut piece).await.unwrap();
            assert_eq!(write(&mut io, &[0; MIN_TAKEN]).await.unwrap(), MIN_TAKEN);
        }
    }
}
