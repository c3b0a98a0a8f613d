//! Connections of clients: accepting them within limits, speaking HTTP, and closing them so that the last response
//! arrives.

use super::connection_limits::{
    ConnectionLimits, HEAD_LIMIT, Heads, LINGER_STEP, NEW_LINGER, Place, TOO_MANY_CONNECTIONS,
    raise_descriptor_limit,
};
use super::http2::{self, Client};
use super::http2_frames::FrameLimit;
use super::listeners::{Accept, Listener, next_connection};
use super::redirect::Redirect;
use super::timed_io::{OpenRequests, TimedIo, Timeouts, TrackedBody};
use super::tls::{Tls, is_http2};
use crate::app::Options;
use crate::http::discard_rate::DiscardRate;
use crate::http::rounds::yield_now;
use crate::http::service::Service;
use crate::http::{Dropped, HEAD_TOO_LARGE, JsonErrorIo, Peer, write_error};
use crate::memory;
use futures_util::TryFutureExt;
use futures_util::future::{Either, ready};
use hyper::body::{Body, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_rustls::server::TlsStream;

/// Maximum idle time of a connection between requests. The limit for the head of a request is [`Timeouts::head`].
const IDLE_TIMEOUT: Duration = Duration::from_secs(75);

/// Maximum time, and number of bytes, for which a connection is read after its last response.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_DRAINED: usize = 64 * 1024 * 1024;

/// Browsers that have seen a server with TLS use nothing else for a year.
const STRICT_TRANSPORT_SECURITY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Time limit for the first byte on a socket for TLS.
const FIRST_BYTE_TIMEOUT: Duration = Duration::from_secs(20);

/// The first byte of a TLS connection: the type of records of the handshake. No request begins with it.
const TLS_HANDSHAKE: u8 = 0x16;

/// The time for a request on an idle connection when the server stops.
const IDLE_LINGER: Duration = Duration::from_millis(100);

/// The connections of a server.
pub struct Connections {
    service: Arc<Service>,
    limits: Arc<ConnectionLimits>,
    /// TLS, and the answers to requests without it.
    secure: Option<Secure>,
}

/// TLS on all TCP sockets.
#[derive(Clone)]
pub struct Secure {
    /// The certificate of the listeners.
    pub tls: Arc<Tls>,
    /// Answers requests over plain HTTP.
    pub redirect: Arc<Redirect>,
}

/// An accepted connection.
struct Accepted {
    service: Arc<Service>,
    limits: Arc<ConnectionLimits>,
    peer: Peer,
    place: Place,
    stopped: watch::Receiver<bool>,
}

impl Connections {
    /// No connections yet.
    pub fn new(service: Arc<Service>, secure: Option<Secure>, options: &Options) -> Self {
        let limits = ConnectionLimits::new(
            raise_descriptor_limit(),
            memory::limit(),
            &options.trusted_proxies,
            options.overrides.connections_per_address,
        );
        Self { service, limits: Arc::new(limits), secure }
    }

    /// The limits on the number of connections, which all listeners share.
    pub fn limits(&self) -> &Arc<ConnectionLimits> {
        &self.limits
    }

    /// Accepts and serves connections of a socket until the server stops, and waits for the last of them.
    pub async fn accept(self: Arc<Self>, listener: Listener, stopped: watch::Receiver<bool>) {
        match (listener, self.secure.clone()) {
            (Listener::Tcp(listener), None) => {
                self.accept_from(listener, stopped, |stream, accepted| serve(stream, accepted, None)).await;
            }
            (Listener::Tcp(listener), Some(secure)) => {
                let serve = |stream, accepted| serve_secure(stream, accepted, secure.clone());
                self.accept_from(listener, stopped, serve).await;
            }
            #[cfg(unix)]
            (Listener::Unix(listener), _) => {
                self.accept_from(listener, stopped, |stream, accepted| serve(stream, accepted, None)).await;
            }
        }
    }

    async fn accept_from<L: Accept<Stream: Stream>, F: Future<Output = ()> + Send + 'static>(
        &self,
        listener: L,
        mut stopped: watch::Receiver<bool>,
        serve: impl Fn(L::Stream, Accepted) -> F,
    ) {
        let mut open = JoinSet::new();
        loop {
            tokio::select! {
                (stream, address) = next_connection(&listener, "a connection") => {
                    match self.limits.take(address) {
                        Some(place) => {
                            let accepted = Accepted {
                                service: Arc::clone(&self.service),
                                limits: Arc::clone(&self.limits),
                                peer: Peer { address, is_secure: false },
                                place,
                                stopped: stopped.clone(),
                            };
                            open.spawn(serve(stream, accepted));
                        }
                        None => refuse(&stream, address),
                    }
                    // What is ready is polled before the next one: hundreds of new ones hold up no others.
                    yield_now().await;
                }
                Some(_) = open.join_next() => {}
                _ = stopped.changed() => break,
            }
        }
        drop(listener);
        while open.join_next().await.is_some() {}
    }
}

/// A connection of a client.
trait Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static {
    /// Sends small packets at once: responses are small, and waiting to fill a packet would only delay them.
    fn send_at_once(&self) {}

    /// Makes the end of the connection an error for the client.
    fn reset_at_end(&self) {}

    /// Writes what fits into the buffer of the system.
    fn write_now(&self, bytes: &[u8]);
}

impl Stream for TcpStream {
    fn send_at_once(&self) {
        let _slower = self.set_nodelay(true);
    }

    fn reset_at_end(&self) {
        let _closed = self.set_zero_linger();
    }

    fn write_now(&self, bytes: &[u8]) {
        let _unheard = self.try_write(bytes);
    }
}

impl Stream for TlsStream<TcpStream> {
    fn reset_at_end(&self) {
        self.get_ref().0.reset_at_end();
    }

    /// Nothing can be written beside TLS.
    fn write_now(&self, _bytes: &[u8]) {}
}

#[cfg(unix)]
impl Stream for tokio::net::UnixStream {
    fn write_now(&self, bytes: &[u8]) {
        let _unheard = self.try_write(bytes);
    }
}

/// Sends a client the error for too many connections. The few bytes fit into the buffer of a new connection.
fn refuse(stream: &impl Stream, peer: IpAddr) {
    tracing::debug!(address = %peer, "a connection was refused: too many are open");
    stream.write_now(&write_error(503, TOO_MANY_CONNECTIONS));
}

/// Serves a connection that begins with a TLS handshake, or with a request over plain HTTP. What follows is boxed: it is
/// larger than a connection without TLS, and all of them would have its size.
async fn serve_secure(stream: TcpStream, mut accepted: Accepted, secure: Secure) {
    stream.send_at_once();
    let mut first = [0];
    match tokio::time::timeout(FIRST_BYTE_TIMEOUT, stream.peek(&mut first)).await {
        Ok(Ok(1)) if first == [TLS_HANDSHAKE] => {}
        Ok(Ok(1)) => return Box::pin(serve(stream, accepted, Some(secure.redirect))).await,
        _ => return,
    }
    let Some(stream) = Box::pin(secure.tls.accept(stream)).await else { return };
    accepted.peer.is_secure = true;
    if is_http2(&stream) {
        Box::pin(serve_http2(stream, accepted)).await;
    } else {
        Box::pin(serve(stream, accepted, None)).await;
    }
}

async fn serve_http2(stream: TlsStream<TcpStream>, accepted: Accepted) {
    let Accepted { service, limits, peer, place, stopped } = accepted;
    // Heads have no lines here, and other time limits.
    let requests = OpenRequests::default();
    let always = requests.begin(None);
    let heads = [(); 2].map(|()| Heads::of(Arc::clone(&limits), peer.address));
    let io = TokioIo::new(FrameLimit::new(stream, heads));
    let io = TimedIo::new(io, Timeouts::default(), requests, None);
    let respond = move |request: Request<Incoming>| {
        Arc::clone(&service).respond(request, peer).map_ok(move |response| mark_secure(response, peer))
    };
    http2::serve(io, respond, Client { limits, address: peer.address }, stopped).await;
    drop((always, place));
}

/// Adds the header that keeps browsers at TLS.
fn mark_secure<B>(mut response: Response<B>, peer: Peer) -> Response<B> {
    if peer.is_secure {
        response.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, STRICT_TRANSPORT_SECURITY);
    }
    response
}

/// Ends the connection with the response of a server that stops. A client that did not know would send its next request on a
/// connection that is being closed.
fn mark_last<B>(mut response: Response<B>, is_stopping: bool) -> Response<B> {
    if is_stopping {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Serves HTTP/1.1. A redirect answers requests in place of the routes.
async fn serve<S: Stream>(stream: S, accepted: Accepted, redirect: Option<Arc<Redirect>>) {
    let Accepted { service, limits, peer, place, mut stopped } = accepted;
    stream.send_at_once();
    let discard_rate = service.discard_rate();
    let requests = OpenRequests::default();
    let heads = Heads::of(limits, peer.address);
    let io = TimedIo::new(TokioIo::new(stream), Timeouts::default(), requests.clone(), Some(heads));
    let counted = requests.clone();
    let is_stopping = stopped.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        let open = counted.begin(request.body().size_hint().exact());
        let is_stopping = is_stopping.clone();
        let responded = match redirect.as_ref().and_then(|redirect| redirect.answer(&request)) {
            Some(response) => Either::Left(ready(Ok(response))),
            None => Either::Right(Arc::clone(&service).respond(request, peer)),
        };
        responded.map_ok(move |response| {
            let response = mark_last(mark_secure(response, peer), *is_stopping.borrow());
            response.map(|body| TrackedBody::new(body, open))
        })
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_TIMEOUT)
        // A little more, so that an address that is too long is recognized as one.
        .max_buf_size(HEAD_LIMIT + 8 * 1024)
        .half_close(false)
        .serve_connection(JsonErrorIo::new(io), service);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        _ = stopped.changed() => {
            tokio::select! {
                ended = &mut connection => ended,
                () = linger(&requests) => {
                    Pin::new(&mut connection).graceful_shutdown();
                    (&mut connection).await
                }
            }
        }
    };
    let is_http2 = ended.as_ref().is_err_and(hyper::Error::is_parse_version_h2);
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
        if error.is_user() {
            // The response cannot be sent, or not to its end: the client learns it from the end of the connection.
            if error.source().is_some_and(<dyn std::error::Error>::is::<Dropped>)
                && let Some(io) = connection.into_parts().io.into_inner().into_inner()
            {
                io.into_inner().reset_at_end();
            }
            return;
        }
    }
    let io = connection.into_parts().io.into_inner();
    let last_answer = if is_http2 {
        write_error(505, "This server supports HTTP/1.1 here, and not HTTP/2")
    } else if io.has_refused_head() {
        write_error(431, HEAD_TOO_LARGE)
    } else {
        Vec::new()
    };
    let Some(io) = io.into_inner() else { return };
    // Boxed, since every connection allocates the whole future.
    let drained = Box::pin(drain(io.into_inner(), last_answer, &discard_rate));
    tokio::select! {
        _done = tokio::time::timeout(DRAIN_TIMEOUT, drained) => {}
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    drop(place);
}

/// Waits for a request that may be on its way when the server stops: after a restart on the same socket, clients should
/// not notice. hyper would close the connection at once.
async fn linger(requests: &OpenRequests) {
    let begun = requests.begun();
    let longest = if begun == 0 { NEW_LINGER } else { IDLE_LINGER };
    let end = Instant::now() + longest;
    while !requests.any() && requests.begun() == begun && Instant::now() < end {
        tokio::time::sleep(LINGER_STEP).await;
    }
}

/// Writes a last answer, and reads until the client closes the connection, too. A response may have been sent before the
/// whole request arrived (too large, no such path): closing while the client still sends would reset the connection, and
/// the response would be lost.
async fn drain(mut stream: impl Stream, last_answer: Vec<u8>, discard_rate: &DiscardRate) {
    let mut left = MAX_DRAINED;
    if stream.write_all(&last_answer).await.is_err() || stream.flush().await.is_err() {
        return;
    }
    drop(last_answer);
    let mut buffer = [0; 4 * 1024];
    while left > 0 {
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(read) => {
                left = left.saturating_sub(read);
                discard_rate.take(read).await;
            }
        }
    }
}
