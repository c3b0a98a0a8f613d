//! Connections of clients: accepting them within limits, speaking HTTP, and closing them so that the last response
//! arrives.

use super::connection_limits::{ConnectionLimits, Place, raise_descriptor_limit};
use super::timed_io::{OpenRequests, TimedIo, Timeouts, TrackedBody};
use crate::app::Options;
use crate::http::service::Service;
use crate::http::{Dropped, JsonErrorIo, write_error};
use futures_util::TryFutureExt;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// How long a connection may be idle between requests. The time for the head of a request is [`Timeouts::head`].
const IDLE_TIMEOUT: Duration = Duration::from_secs(75);

/// The largest head of a request in bytes, far more than published clients send.
const HEAD_LIMIT: usize = 64 * 1024;

/// How long, and for how many bytes, a connection is read after its last response.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_DRAINED: usize = 64 * 1024 * 1024;

/// The connections of a server.
pub struct Connections {
    service: Arc<Service>,
    limits: Arc<ConnectionLimits>,
}

impl Connections {
    /// No connections yet.
    pub fn new(service: Arc<Service>, options: &Options) -> Self {
        let limits = ConnectionLimits::new(
            raise_descriptor_limit(),
            &options.trusted_proxies,
            options.connections_per_address,
        );
        Self { service, limits: Arc::new(limits) }
    }

    /// Accepts and serves connections until the server stops, and waits for the last of them.
    pub async fn accept(self, listener: TcpListener, mut stopped: watch::Receiver<bool>) {
        let mut open = JoinSet::new();
        loop {
            tokio::select! {
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => match self.limits.take(peer.ip()) {
                        Some(place) => {
                            let service = Arc::clone(&self.service);
                            open.spawn(serve(stream, peer, service, place, stopped.clone()));
                        }
                        None => refuse(&stream, peer),
                    },
                    Err(error) => {
                        // Most likely there are no file descriptors left, until connections end.
                        tracing::warn!(%error, "a connection could not be accepted");
                        tokio::time::sleep(Duration::from_millis(100)).await;
                    }
                },
                Some(_) = open.join_next() => {}
                _ = stopped.changed() => break,
            }
        }
        drop(listener);
        while open.join_next().await.is_some() {}
    }
}

/// Tells a client that there are too many connections. The few bytes fit into the buffer of a new connection.
fn refuse(stream: &TcpStream, peer: SocketAddr) {
    tracing::debug!(address = %peer.ip(), "a connection was refused: too many are open");
    let response = write_error(503, "There are too many connections. Please try again in a moment.");
    let _unheard = stream.try_write(&response);
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    service: Arc<Service>,
    place: Place,
    mut stopped: watch::Receiver<bool>,
) {
    // Responses are small and written at once; waiting to fill a packet would only delay them.
    let _slower = stream.set_nodelay(true);
    let requests = OpenRequests::default();
    let io = TimedIo::new(TokioIo::new(stream), Timeouts::default(), requests.clone());
    let service = service_fn(move |request: Request<Incoming>| {
        let open = requests.begin();
        let responded = Arc::clone(&service).respond(request, peer.ip());
        responded.map_ok(|response| response.map(|body| TrackedBody::new(body, open)))
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_TIMEOUT)
        .max_buf_size(HEAD_LIMIT)
        .half_close(false)
        .serve_connection(JsonErrorIo::new(io), service);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        _ = stopped.changed() => {
            Pin::new(&mut connection).graceful_shutdown();
            (&mut connection).await
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
                let _closed = io.into_inner().set_zero_linger();
            }
            return;
        }
    }
    let Some(io) = connection.into_parts().io.into_inner().into_inner() else { return };
    let stream = io.into_inner();
    if is_http2 {
        let _unheard = stream.try_write(&write_error(505, "This server speaks HTTP/1.1, and not HTTP/2"));
    }
    tokio::select! {
        _done = tokio::time::timeout(DRAIN_TIMEOUT, drain(&stream)) => {}
        _ = stopped.wait_for(|stopped| *stopped) => {}
    }
    drop(place);
}

/// Reads until the client closes the connection, too. A response may have been sent before the whole request arrived (too
/// large, no such path): closing while the client still sends would reset the connection, and the response would be lost.
async fn drain(stream: &TcpStream) {
    let mut left = MAX_DRAINED;
    // On the heap, since every connection allocates the whole future.
    let mut buffer = vec![0; 16 * 1024];
    while left > 0 && stream.readable().await.is_ok() {
        match stream.try_read(&mut buffer) {
            Ok(0) => return,
            Ok(read) => left = left.saturating_sub(read),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
    }
}
