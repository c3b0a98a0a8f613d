//! HTTP/2 on a connection, within the limits that connections have.
//!
//! A client can open many requests at once, and cancel them for free. So each request beyond the first takes the place of
//! a connection, long heads share the memory of those of HTTP/1.1, a client that does not read a response loses it, and one
//! that cancels many requests loses its connection.
//! The h2 crate limits headers, CONTINUATION frames, and its own replies to control frames.

use super::connection_limits::{
    ConnectionLimits, HEAD_LIMIT, Heads, LINGER_STEP, NEW_LINGER, Place, TOO_MANY_CONNECTIONS,
};
use crate::http::{ApiError, HEAD_TOO_LARGE, ResponseBody, error_response};
use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::rt::{Executor, Read, Write};
use hyper::server::conn::http2::Builder;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioTimer;
use parking_lot::Mutex;
use std::error::Error;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

/// The most requests of a connection at a time.
const MAX_STREAMS: u32 = 100;

/// The most bytes of headers that are decoded. Up to here a refusal has a body in JSON.
const DECODED_HEADERS: u32 = 2 * HEAD_LIMIT as u32;

/// The most headers of a request, as over HTTP/1.1, and the memory that each takes beside its text.
const MAX_HEADERS: usize = 100;
const HEADER_OVERHEAD: usize = 100;

/// The bytes of request bodies that a client may send before they are read, on a stream and on a connection.
const WINDOW: u32 = 128 * 1024;

/// The bytes of a response that wait for the client.
const SEND_BUFFER: usize = 64 * 1024;

/// Responses are given to the connection in pieces of this size, so that one that is not read is not taken either.
const PIECE: usize = 16 * 1024;

/// Time limit for the first request.
const FIRST_REQUEST: Duration = Duration::from_secs(20);

/// Maximum time without a request.
const IDLE: Duration = Duration::from_secs(75);

/// A client that does not take a piece of a response within this time, twice, loses it: one below 546 bytes a second may.
const STALLED: Duration = Duration::from_secs(30);

/// Interval of pings, and the time limit for their answers. A client in the middle of a head cannot answer.
const PING_INTERVAL: Duration = Duration::from_secs(45);
const PING_TIMEOUT: Duration = Duration::from_secs(20);

/// The most requests that a client may cancel in a minute.
const MAX_CANCELLED: usize = 200;
const CANCELLED_WINDOW: Duration = Duration::from_secs(60);

/// Time for a client to confirm the end of a connection without requests.
const CLOSING: Duration = Duration::from_secs(1);

/// The client of a connection, within the limits of connections.
pub struct Client {
    /// The limits of connections, for which each further concurrent request counts as one.
    pub limits: Arc<ConnectionLimits>,
    pub address: IpAddr,
}

impl Client {
    /// Reserves memory for the head of a request, until the head is no longer needed.
    fn keep_head(&self, headers: &HeaderMap) -> Result<Heads, ApiError> {
        let mut heads = Heads::of(Arc::clone(&self.limits), self.address);
        let size = size_of(headers) + headers.len() * HEADER_OVERHEAD;
        let has_room = headers.len() <= MAX_HEADERS && heads.grow_to(size);
        if has_room { Ok(heads) } else { Err(head_too_large()) }
    }
}

/// Serves a connection until it ends or the server stops. Each request beyond the first takes the place of a connection.
pub async fn serve<Io, F, R, E>(io: Io, respond: F, client: Client, mut stopped: watch::Receiver<bool>)
where
    Io: Read + Write + Unpin,
    F: Fn(Request<Incoming>) -> R + Send + 'static,
    R: Future<Output = Result<Response<ResponseBody>, E>> + Send + 'static,
    E: Error + Send + Sync + 'static,
{
    let streams = Arc::new(Streams::new());
    let of_service = Arc::clone(&streams);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let stream = of_service.begin();
        let place =
            if of_service.open() > 1 { client.limits.take(client.address).map(Some) } else { Some(None) };
        let kept = match place {
            None => Err(ApiError::new(503, "SERVICE_UNAVAILABLE", TOO_MANY_CONNECTIONS)),
            Some(_) => normalize(&mut request).and_then(|()| client.keep_head(request.headers())),
        };
        let responded = kept.map(|heads| (respond(request), heads));
        async move {
            let response = match responded {
                Ok((responded, _heads)) => responded.await?,
                Err(refusal) => error_response(&refusal),
            };
            Ok::<_, E>(response.map(|body| PacedBody::new(body, stream, place.flatten())))
        }
    });
    // Dropped with the connection, which ends them.
    let tasks = Arc::new(Mutex::new(JoinSet::new()));
    let connection = Builder::new(Spawner { tasks: Arc::downgrade(&tasks), streams: Arc::clone(&streams) })
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_header_list_size(DECODED_HEADERS)
        .header_table_size(0)
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW)
        .max_send_buf_size(SEND_BUFFER)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_TIMEOUT)
        .serve_connection(io, service);
    let mut connection = pin!(connection);
    let is_past = |end: Instant| end <= Instant::now();
    let mut closing = false;
    let mut linger_until = None;
    let mut check = pin!(sleep(FIRST_REQUEST));
    loop {
        tokio::select! {
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                }
                return;
            }
            () = streams.flooded.notified() => {
                tracing::debug!("a connection was cut: its client cancels too many requests");
                return;
            }
            _ = stopped.changed(), if !closing && linger_until.is_none() => {
                linger_until = Some(Instant::now() + NEW_LINGER);
                check.set(sleep(Duration::ZERO));
            }
            () = &mut check => match streams.idle_until() {
                // A first request may be on its way.
                _ if !closing && linger_until.is_some_and(|end| !is_past(end) && !streams.any_begun()) => {
                    check.set(sleep(LINGER_STEP));
                }
                Some(_) if closing => return,
                idle_until if !closing && (linger_until.is_some() || idle_until.is_some_and(is_past)) => {
                    closing = true;
                    connection.as_mut().graceful_shutdown();
                    check.set(sleep(CLOSING));
                }
                Some(end) => check.set(sleep_until(end)),
                None => check.set(sleep(if closing { CLOSING } else { IDLE })),
            },
        }
    }
}

/// Makes a request look as over HTTP/1.1: one `Host`, one `Cookie`, and headers that are not too large.
fn normalize(request: &mut Request<Incoming>) -> Result<(), ApiError> {
    let authority = request.uri().authority().map(|authority| HeaderValue::from_str(authority.as_str()));
    let headers = request.headers_mut();
    if size_of(headers) > HEAD_LIMIT {
        return Err(head_too_large());
    }
    if let Some(Ok(authority)) = authority
        && headers.get(header::HOST) != Some(&authority)
    {
        // Two different ones are refused, as over HTTP/1.1.
        headers.append(header::HOST, authority);
    }
    join_cookies(headers);
    Ok(())
}

/// The bytes of headers, as over HTTP/1.1.
fn size_of(headers: &HeaderMap) -> usize {
    headers.iter().map(|(name, value)| name.as_str().len() + value.len() + 4).sum()
}

fn head_too_large() -> ApiError {
    ApiError::new(431, "BAD_REQUEST", HEAD_TOO_LARGE)
}

/// Joins the cookies that a client has sent in several headers.
fn join_cookies(headers: &mut HeaderMap) {
    let mut values = headers.get_all(header::COOKIE).iter();
    if let (Some(first), Some(second)) = (values.next(), values.next()) {
        let all: Vec<&[u8]> = [first, second].into_iter().chain(values).map(HeaderValue::as_bytes).collect();
        if let Ok(joined) = HeaderValue::from_bytes(&all.join(&b"; "[..])) {
            headers.insert(header::COOKIE, joined);
        }
    }
}

/// The requests of a connection.
struct Streams {
    /// The request whose task hyper starts next.
    starting: Mutex<Option<Arc<Progress>>>,
    counts: Mutex<Counts>,
    flooded: Notify,
}

struct Counts {
    open: usize,
    any_begun: bool,
    /// When the connection is too long without a request, if none begins.
    idle_until: Instant,
    cancelled: usize,
    cancelled_since: Instant,
}

/// The progress of a response.
#[derive(Default)]
struct Progress {
    is_sending: AtomicBool,
    is_complete: AtomicBool,
    pieces: AtomicUsize,
}

/// A request that is open until this is dropped.
struct Stream {
    streams: Arc<Streams>,
    progress: Arc<Progress>,
}

impl Streams {
    fn new() -> Self {
        let now = Instant::now();
        let counts = Counts {
            open: 0,
            any_begun: false,
            idle_until: now + FIRST_REQUEST,
            cancelled: 0,
            cancelled_since: now,
        };
        Self { starting: Mutex::default(), counts: Mutex::new(counts), flooded: Notify::new() }
    }

    fn begin(self: &Arc<Self>) -> Stream {
        let progress = Arc::new(Progress::default());
        {
            let mut counts = self.counts.lock();
            counts.open += 1;
            counts.any_begun = true;
        }
        *self.starting.lock() = Some(Arc::clone(&progress));
        Stream { streams: Arc::clone(self), progress }
    }

    fn open(&self) -> usize {
        self.counts.lock().open
    }

    fn any_begun(&self) -> bool {
        self.counts.lock().any_begun
    }

    /// When the connection has to end; `None` while requests are open.
    fn idle_until(&self) -> Option<Instant> {
        let counts = self.counts.lock();
        (counts.open == 0).then_some(counts.idle_until)
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let now = Instant::now();
        let mut counts = self.streams.counts.lock();
        counts.open -= 1;
        counts.idle_until = now + IDLE;
        if self.progress.is_complete.load(Ordering::Relaxed) {
            return;
        }
        if now.duration_since(counts.cancelled_since) > CANCELLED_WINDOW {
            counts.cancelled = 0;
            counts.cancelled_since = now;
        }
        counts.cancelled += 1;
        if counts.cancelled > MAX_CANCELLED {
            self.streams.flooded.notify_one();
        }
    }
}

impl Progress {
    /// Waits until the client has stopped to take its response.
    async fn stalled(&self) {
        let mut seen = None;
        loop {
            sleep(STALLED).await;
            let now = self.is_sending.load(Ordering::Relaxed).then(|| self.pieces.load(Ordering::Relaxed));
            if now.is_some() && now == seen {
                return;
            }
            seen = now;
        }
    }
}

/// Runs the requests of a connection as tasks, which end with it.
#[derive(Clone)]
struct Spawner {
    tasks: Weak<Mutex<JoinSet<()>>>,
    streams: Arc<Streams>,
}

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for Spawner {
    fn execute(&self, stream: F) {
        let Some(tasks) = self.tasks.upgrade() else { return };
        let progress = self.streams.starting.lock().take().unwrap_or_default();
        let mut tasks = tasks.lock();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            tokio::select! {
                () = stream => {}
                () = progress.stalled() => tracing::debug!("a response was dropped: its client does not read it"),
            }
        });
    }
}

/// A response body in small pieces, each of which is taken when the client has room for it.
struct PacedBody {
    body: ResponseBody,
    rest: Bytes,
    stream: Stream,
    _place: Option<Place>,
}

impl PacedBody {
    fn new(body: ResponseBody, stream: Stream, place: Option<Place>) -> Self {
        stream.progress.is_sending.store(true, Ordering::Relaxed);
        Self { body, rest: Bytes::new(), stream, _place: place }
    }

    fn complete(&self) {
        self.stream.progress.is_complete.store(true, Ordering::Relaxed);
    }
}

impl Body for PacedBody {
    type Data = Bytes;
    type Error = ApiError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ApiError>>> {
        if self.rest.is_empty() {
            let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(other))) => return Poll::Ready(Some(Ok(other))),
                Some(Err(error)) => {
                    // The server's fault.
                    self.complete();
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    self.complete();
                    return Poll::Ready(None);
                }
            }
        }
        self.stream.progress.pieces.fetch_add(1, Ordering::Relaxed);
        let length = self.rest.len().min(PIECE);
        let piece = self.rest.split_to(length);
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        let is_end = self.rest.is_empty() && self.body.is_end_stream();
        if is_end {
            self.complete();
        }
        is_end
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        self.body.size_hint().exact().map_or_else(SizeHint::default, |size| SizeHint::with_exact(size + rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper_util::rt::TokioIo;
    use std::convert::Infallible;
    use tokio::io::duplex;

    /// A connection to a server, with the tasks of both ends.
    struct Connection {
        client: h2::client::SendRequest<Bytes>,
        stop: watch::Sender<bool>,
        tasks: JoinSet<()>,
        _driver: JoinSet<()>,
    }

    /// `/large` is a response of a mebibyte, `/wait` never ends, and others are empty.
    async fn respond(path: String) -> Result<Response<ResponseBody>, Infallible> {
        let body = match path.as_str() {
            "/large" => Bytes::from(vec![b'x'; 1 << 20]),
            "/wait" => std::future::pending().await,
            _ => Bytes::new(),
        };
        Ok(Response::new(ResponseBody::Full(body)))
    }

    async fn connect(has_places: bool) -> Connection {
        let (ours, theirs) = duplex(1 << 16);
        let (stop, stopped) = watch::channel(false);
        let limits = Arc::new(ConnectionLimits::new(1000, None, &[], Some(if has_places { 100 } else { 0 })));
        let address = [192, 0, 2, 1].into();
        let mut tasks = JoinSet::new();
        let by_path = |request: Request<Incoming>| respond(request.uri().path().to_owned());
        tasks.spawn(serve(TokioIo::new(ours), by_path, Client { limits, address }, stopped));
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(1000).initial_connection_window_size(1 << 20);
        let (client, connection) = builder.handshake(theirs).await.unwrap();
        let mut driver = JoinSet::new();
        driver.spawn(async { drop(connection.await) });
        Connection { client: client.ready().await.unwrap(), stop, tasks, _driver: driver }
    }

    impl Connection {
        fn ask(&mut self, path: &str) -> h2::client::ResponseFuture {
            let request = Request::get(format!("http://chat.example.com{path}")).body(()).unwrap();
            self.client.send_request(request, true).unwrap().0
        }

        async fn end(mut self) {
            self.tasks.join_next().await.unwrap().unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_that_is_not_read_is_dropped() {
        let mut connection = connect(true).await;
        let response = connection.ask("/large").await.unwrap();
        let mut body = response.into_body();
        assert_eq!(body.data().await.unwrap().unwrap().len(), 1000);
        // No more room is given. Other requests go on.
        tokio::time::sleep(STALLED * 3).await;
        let error = body.data().await.unwrap().unwrap_err();
        assert_eq!(error.reason(), Some(h2::Reason::CANCEL));
        assert_eq!(connection.ask("/").await.unwrap().status(), 200);
    }

    /// At 10 kB/s, for 105 seconds. The time goes by what is read: a window of 1,000 bytes falls into ever smaller frames.
    #[tokio::test(start_paused = true)]
    async fn a_response_that_is_read_slowly_arrives() {
        let mut connection = connect(true).await;
        let mut body = connection.ask("/large").await.unwrap().into_body();
        let begin = Instant::now();
        let mut length = 0;
        while let Some(data) = body.data().await {
            let read = data.unwrap().len();
            length += read;
            tokio::time::sleep_until(begin + Duration::from_micros(100) * length as u32).await;
            body.flow_control().release_capacity(read).unwrap();
        }
        assert_eq!(length, 1 << 20);
        assert!(begin.elapsed() > STALLED * 3, "{:?}", begin.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn requests_beyond_the_first_need_a_place() {
        let mut connection = connect(false).await;
        let waiting = connection.ask("/wait");
        let response = connection.ask("/").await.unwrap();
        assert_eq!(response.status(), 503);
        drop(waiting);
        // A connection has one place of its own.
        while connection.ask("/").await.unwrap().status() != 200 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_without_requests_ends() {
        let begin = Instant::now();
        connect(true).await.end().await;
        assert!(begin.elapsed() >= FIRST_REQUEST && begin.elapsed() < FIRST_REQUEST + IDLE);
        let mut connection = connect(true).await;
        let begin = Instant::now();
        assert_eq!(connection.ask("/").await.unwrap().status(), 200);
        connection.end().await;
        assert!(begin.elapsed() >= IDLE && begin.elapsed() < IDLE * 3, "{:?}", begin.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_waiting_request_keeps_its_connection() {
        let mut connection = connect(true).await;
        let mut waiting = connection.ask("/wait");
        let waited = tokio::time::timeout(IDLE * 10, &mut waiting).await;
        assert!(waited.is_err(), "it still waits");
        assert_eq!(connection.ask("/").await.unwrap().status(), 200);
    }

    #[tokio::test(start_paused = true)]
    async fn a_stop_lets_a_first_request_pass() {
        let mut connection = connect(true).await;
        connection.stop.send_replace(true);
        tokio::time::sleep(NEW_LINGER / 2).await;
        assert_eq!(connection.ask("/").await.unwrap().status(), 200);
        connection.end().await;
    }

    #[tokio::test(start_paused = true)]
    async fn many_cancelled_requests_end_the_connection() {
        let mut connection = connect(true).await;
        let begin = Instant::now();
        for _ in 0..=MAX_CANCELLED {
            let Ok(client) = connection.client.clone().ready().await else { break };
            connection.client = client;
            let request = Request::get("http://chat.example.com/wait").body(()).unwrap();
            let Ok((response, mut stream)) = connection.client.send_request(request, true) else { break };
            // It has begun when another one is answered.
            let _ended = connection.ask("/").await;
            stream.send_reset(h2::Reason::CANCEL);
            drop(response);
        }
        connection.end().await;
        assert!(begin.elapsed() < FIRST_REQUEST, "{:?}", begin.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn heads_of_waiting_requests_share_a_budget() {
        let mut connection = connect(true).await;
        let value = "a".repeat(60_000);
        let ask = |connection: &mut Connection, path: &str| {
            let uri = format!("http://chat.example.com{path}");
            let request = Request::get(uri).header("x-large", &value).body(()).unwrap();
            connection.client.send_request(request, true).unwrap().0
        };
        let mut waiting = Vec::new();
        for _ in 0..33 {
            connection.client = connection.client.clone().ready().await.unwrap();
            waiting.push(ask(&mut connection, "/wait"));
        }
        connection.client = connection.client.clone().ready().await.unwrap();
        assert_eq!(ask(&mut connection, "/").await.unwrap().status(), 200);
        waiting.push(ask(&mut connection, "/wait"));
        connection.client = connection.client.clone().ready().await.unwrap();
        assert_eq!(ask(&mut connection, "/").await.unwrap().status(), 431, "the part of an address is full");
        assert_eq!(connection.ask("/").await.unwrap().status(), 200);
        drop(waiting.pop());
        while ask(&mut connection, "/").await.unwrap().status() != 200 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_has_a_hundred_headers_at_most() {
        let mut connection = connect(true).await;
        for (number, status) in [(90, 200), (101, 431)] {
            let mut request = Request::get("http://chat.example.com/");
            for index in 0..number {
                request = request.header(format!("x-{index}"), "a");
            }
            let request = request.body(()).unwrap();
            let response = connection.client.send_request(request, true).unwrap().0;
            assert_eq!(response.await.unwrap().status(), status, "{number}");
        }
    }

    #[test]
    fn cookies_are_joined() {
        let mut headers = HeaderMap::new();
        for cookie in ["a=1", "b=2; c=3", "d=4"] {
            headers.append(header::COOKIE, HeaderValue::from_static(cookie));
        }
        join_cookies(&mut headers);
        let all: Vec<_> = headers.get_all(header::COOKIE).iter().collect();
        assert_eq!(all, ["a=1; b=2; c=3; d=4"]);
    }
}
