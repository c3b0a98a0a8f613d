//! A connection with a time limit for each phase, so that a client that is slow or silent does not keep its place.
//!
//! hyper limits how long a connection may be idle together with the time for the head of a request
//! (`header_read_timeout`). Here, a head has to be complete soon after its first byte, and the first one soon after the
//! connection is accepted; and a client that does not read its response is dropped.

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::rt::{Read, ReadBufCursor, Write};
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
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
pub struct OpenRequests(Arc<AtomicUsize>);

/// A request that counts as open until it is dropped.
pub struct OpenRequest(Arc<AtomicUsize>);

impl OpenRequests {
    /// Counts a request.
    pub fn begin(&self) -> OpenRequest {
        self.0.fetch_add(1, Ordering::Relaxed);
        OpenRequest(Arc::clone(&self.0))
    }

    fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
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

/// A connection with time limits. Its timers exist only while they run, because thousands of connections wait for
/// events.
pub struct TimedIo<T> {
    io: T,
    timeouts: Timeouts,
    requests: OpenRequests,
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
        Self { io, timeouts, requests, head, write: None, taken: 0, has_timed_out: false }
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

impl<T: Read + Unpin> Read for TimedIo<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<Result<()>> {
        let read = Pin::new(&mut self.io).poll_read(cx, buffer);
        if self.requests.any() {
            self.head = None;
            return read;
        }
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
