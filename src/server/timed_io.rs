//! A connection with a time limit for each phase, so that a client that is slow or silent does not keep its place.
//!
//! hyper limits how long a connection may be idle together with the time for the head of a request
//! (`header_read_timeout`). Here, a head has to be complete soon after its first byte, and the first one soon after the
//! connection is accepted; and a client that does not read its response is dropped.
//!
//! Lines of a head end with CR and LF here. hyper also takes LF alone, where a proxy in front may see no end. So that each
//! head is checked, bytes after a head are passed on once its request has begun, and the length of its body is known.

use super::connection_limits::Heads;
use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

/// The time limits of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// From the first byte of a request, or from the start of the connection, to the end of the request's head.
    pub head: Duration,
    /// Time limit for the client to accept [`MIN_TAKEN`] bytes of a response.
    pub write: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { head: Duration::from_secs(20), write: Duration::from_secs(30) }
    }
}

/// The bytes that a client has to accept within [`Timeouts::write`]: a fraction of the speed of the slowest networks.
const MIN_TAKEN: usize = 8 * 1024;

/// The number of requests of a connection whose head has arrived and whose response is not complete.
#[derive(Clone, Default)]
pub struct OpenRequests(Arc<Counts>);

#[derive(Default)]
struct Counts {
    open: AtomicUsize,
    /// The requests that ever began.
    begun: AtomicUsize,
    /// The length of the body of the last one, in bytes.
    body: AtomicU64,
}

/// The length of a body that arrives in chunks.
const UNKNOWN_LENGTH: u64 = u64::MAX;

/// A request that counts as open until it is dropped.
pub struct OpenRequest(Arc<Counts>);

impl OpenRequests {
    /// Counts a request. `body` is the length of its body in bytes; `None` if it arrives in chunks. A head that arrives
    /// together with chunks is not checked.
    pub fn begin(&self, body: Option<u64>) -> OpenRequest {
        self.0.body.store(body.unwrap_or(UNKNOWN_LENGTH), Ordering::Relaxed);
        self.0.open.fetch_add(1, Ordering::Relaxed);
        self.0.begun.fetch_add(1, Ordering::Relaxed);
        OpenRequest(Arc::clone(&self.0))
    }

    /// True if a request is open.
    pub fn any(&self) -> bool {
        self.0.open.load(Ordering::Relaxed) > 0
    }

    /// The number of requests that ever began.
    pub fn begun(&self) -> usize {
        self.0.begun.load(Ordering::Relaxed)
    }

    fn body(&self) -> u64 {
        self.0.body.load(Ordering::Relaxed)
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
    /// The bytes of the head so far.
    of_head: usize,
    last: u8,
    /// True after a line that is not empty.
    has_begun: bool,
    has_ended: bool,
}

impl HeadLines {
    /// Replaces each line end that is a bare LF by a character that heads cannot contain, so that hyper refuses the
    /// request. Returns how many of the bytes belong to the head.
    fn check(&mut self, bytes: &mut [u8]) -> usize {
        // The preface of HTTP/2 is refused as a whole.
        let is_preface = !self.has_begun && self.length == 0 && bytes.starts_with(b"PRI ");
        if self.has_ended || is_preface {
            return bytes.len();
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
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
            if self.has_ended {
                return index + 1;
            }
        }
        bytes.len()
    }
}

/// The most bytes of a read: one less than hyper's buffer has room for. hyper doubles its buffer with each read that
/// fills it, and keeps it as long as the connection.
const MAX_READ: usize = 8 * 1024 - 1;

/// A connection with time limits. Its timers exist only while they run, because thousands of connections wait for
/// events.
pub struct TimedIo<T> {
    io: T,
    timeouts: Timeouts,
    requests: OpenRequests,
    lines: HeadLines,
    /// The bytes of the request's body that have not been read.
    body: u64,
    /// Bytes that were read with the head or the body before them.
    held: Vec<u8>,
    /// The memory for heads; `None` if something else counts it.
    heads: Option<Heads>,
    head: Option<Pin<Box<Sleep>>>,
    write: Option<Pin<Box<Sleep>>>,
    /// The bytes that the client has taken since `write` began.
    taken: usize,
    has_timed_out: bool,
    has_refused_head: bool,
}

impl<T> TimedIo<T> {
    /// Wraps a connection that was just accepted. `requests` counts its requests.
    pub fn new(io: T, timeouts: Timeouts, requests: OpenRequests, heads: Option<Heads>) -> Self {
        let head = Some(Box::pin(sleep(timeouts.head)));
        let lines = HeadLines::default();
        Self {
            io,
            timeouts,
            requests,
            lines,
            body: 0,
            held: Vec::new(),
            heads,
            head,
            write: None,
            taken: 0,
            has_timed_out: false,
            has_refused_head: false,
        }
    }

    /// Unwraps the connection; `None` if the client was too slow, so that the connection is cut without a closing message.
    pub fn into_inner(self) -> Option<T> {
        if self.has_timed_out { None } else { Some(self.io) }
    }

    /// True if there was no memory for a head.
    pub fn has_refused_head(&self) -> bool {
        self.has_refused_head
    }

    /// Counts the bytes of a head. hyper keeps a buffer that has become large, so that the connection keeps its memory.
    fn count_head(&mut self, bytes: usize) -> Result<()> {
        self.lines.of_head += bytes;
        if self.heads.as_mut().is_none_or(|heads| heads.grow_to(self.lines.of_head)) {
            return Ok(());
        }
        self.has_refused_head = true;
        Err(ErrorKind::OutOfMemory.into())
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
    /// Reads up to the end of a head or of a body.
    fn poll_read_part(&mut self, cx: &mut Context<'_>, mut buffer: ReadBufCursor<'_>) -> Poll<Result<()>> {
        let begun = self.requests.begun();
        if begun != self.lines.begun {
            self.lines = HeadLines { begun, ..HeadLines::default() };
            self.body = self.requests.body();
        }
        if self.body == UNKNOWN_LENGTH && !self.requests.any() {
            self.body = 0;
        }
        let mut bytes = [0; MAX_READ];
        let room = buffer.remaining().min(MAX_READ);
        let bytes = &mut bytes[..room];
        let length = if self.held.is_empty() {
            let mut read = ReadBuf::new(bytes);
            ready!(Pin::new(&mut self.io).poll_read(cx, read.unfilled()))?;
            read.filled().len()
        } else {
            let length = room.min(self.held.len());
            bytes[..length].copy_from_slice(&self.held[..length]);
            self.held.drain(..length);
            length
        };
        let read = &mut bytes[..length];
        let passed = if self.body == 0 {
            let passed = self.lines.check(read);
            self.count_head(passed)?;
            passed
        } else {
            length.min(usize::try_from(self.body).unwrap_or(usize::MAX))
        };
        if self.body != UNKNOWN_LENGTH {
            self.body = self.body.saturating_sub(passed as u64);
        }
        let rest = &read[passed..];
        self.held.splice(..0, rest.iter().copied());
        if self.held.is_empty() {
            self.held = Vec::new();
        }
        buffer.put_slice(&read[..passed]);
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
            return self.poll_read_part(cx, buffer);
        }
        let read = self.poll_read_part(cx, buffer);
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
    use super::super::connection_limits::{ConnectionLimits, FREE_HEAD, HEAD_LIMIT};
    use super::*;
    use futures_util::FutureExt;
    use hyper_util::rt::TokioIo;
    use std::future::poll_fn;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    type Io = TimedIo<TokioIo<DuplexStream>>;

    /// A connection with a buffer of this size in each direction, its other end, and its requests.
    fn connection(room: usize) -> (Io, DuplexStream, OpenRequests) {
        let (ours, theirs) = duplex(room);
        let requests = OpenRequests::default();
        (TimedIo::new(TokioIo::new(ours), Timeouts::default(), requests.clone(), None), theirs, requests)
    }

    #[test]
    fn lines_of_heads_end_with_cr_and_lf() {
        let cases: [(&[&str], &str); 5] = [
            (&["GET / HTTP/1.1\r\na: b\r\n\r\n"], "GET / HTTP/1.1\r\na: b\r\n\r\n"),
            (&["\r\nGET / HTTP/1.1\r", "\n\r", "\na\nb\n"], "\r\nGET / HTTP/1.1\r\n\r\n"),
            (&["GET / HTTP/1.1\na: b\r\n\r\n"], "GET / HTTP/1.1\0a: b\r\n\r\n"),
            (&["GET / HTTP/1.1\r\na: b\nc: d\r\n\r\n"], "GET / HTTP/1.1\r\na: b\0c: d\r\n\r\n"),
            (&["GET / HTTP/1.1\r\n", "\n"], "GET / HTTP/1.1\r\n\0"),
        ];
        for (parts, expected) in cases {
            let mut lines = HeadLines::default();
            let mut passed = Vec::new();
            for part in parts {
                let mut bytes = part.as_bytes().to_vec();
                let length = lines.check(&mut bytes);
                passed.extend_from_slice(&bytes[..length]);
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

    /// Heads that arrive with a request before them are checked, too, and bodies are not.
    #[tokio::test(start_paused = true)]
    async fn heads_behind_others_are_checked() {
        let (mut io, mut client, requests) = connection(200);
        client
            .write_all(b"POST / HTTP/1.1\r\n\r\na\nGET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\na: b\r\n\r\n")
            .await
            .unwrap();
        assert_eq!(read(&mut io).await.unwrap(), b"POST / HTTP/1.1\r\n\r\n");
        let first = requests.begin(Some(2));
        assert_eq!(read(&mut io).await.unwrap(), b"a\n");
        assert_eq!(read(&mut io).await.unwrap(), b"GET / HTTP/1.1\r\n\r\n");
        drop(first);
        let second = requests.begin(Some(0));
        assert_eq!(read(&mut io).await.unwrap(), b"GET / HTTP/1.1\0a: b\r\n\r\n");
        drop(second);
        let chunked = requests.begin(None);
        client.write_all(b"1\na").await.unwrap();
        assert_eq!(read(&mut io).await.unwrap(), b"1\na");
        drop(chunked);
        client.write_all(b"GET / HTTP/1.1\n").await.unwrap();
        assert_eq!(read(&mut io).await.unwrap(), b"GET / HTTP/1.1\0");
    }

    /// hyper gives more room when reads fill its buffer of 8 KiB, also of a body that is long.
    #[tokio::test]
    async fn reads_do_not_make_the_buffer_larger() {
        let (mut io, mut client, requests) = connection(1 << 20);
        client.write_all(&vec![b'a'; 100_000]).await.unwrap();
        for body in [None, Some(90_000)] {
            let _request = body.map(|length| requests.begin(Some(length)));
            let mut bytes = vec![0; 1 << 16];
            let mut buffer = hyper::rt::ReadBuf::new(&mut bytes);
            poll_fn(|cx| Pin::new(&mut io).poll_read(cx, buffer.unfilled())).await.unwrap();
            assert_eq!(buffer.filled().len(), 8191, "{body:?}");
        }
    }

    #[tokio::test]
    async fn a_head_without_memory_is_refused() {
        let limits = Arc::new(ConnectionLimits::new(1000, None, &[], Some(100)));
        let heads = || Heads::of(Arc::clone(&limits), [192, 0, 2, 1].into());
        let (ours, mut client) = duplex(1 << 20);
        let requests = OpenRequests::default();
        let mut io = TimedIo::new(TokioIo::new(ours), Timeouts::default(), requests.clone(), Some(heads()));
        let others = std::iter::repeat_with(heads);
        let others = others.map_while(|mut heads| heads.grow_to(HEAD_LIMIT).then_some(heads));
        let others: Vec<Heads> = others.collect();
        assert_eq!(others.len(), 32, "the part of an address");
        let small = format!("GET / HTTP/1.1\r\na: {}\r\n\r\n", "b".repeat(FREE_HEAD - 30));
        let large = format!("GET / HTTP/1.1\r\na: {}", "b".repeat(FREE_HEAD));
        client.write_all(small.as_bytes()).await.unwrap();
        let mut length = 0;
        while length < small.len() {
            length += read(&mut io).await.unwrap().len();
        }
        let _request = requests.begin(Some(0));
        client.write_all(large.as_bytes()).await.unwrap();
        let error = loop {
            if let Err(error) = read(&mut io).await {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::OutOfMemory);
        assert!(io.has_refused_head());
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
        let first = requests.begin(Some(0));
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
        let _waiting = requests.begin(Some(0));
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
