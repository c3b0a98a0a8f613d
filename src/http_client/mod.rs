//! Requests to other servers: only to hosts that the operator allows, without redirects, and with limits on time and on
//! the response.
//!
//! - `allowed_hosts`: the hosts that the operator allows;
//! - `tls`: connections with TLS, verified with the authorities of public servers and those of the operator.

mod allowed_hosts;
mod tls;

pub use self::allowed_hosts::{AllowedHost, Permission, permission};
pub use self::tls::{
    CertificateError, TlsClient, check_certificates, client_config, host_name, trusted_roots,
};
use crate::types::charset::{self, CharsetError};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::{HeaderMap, Method, Request, header};
use hyper_util::rt::TokioIo;
use std::borrow::Cow;
use std::error::Error;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::{Position, Url};

/// The most bytes of the head of a response.
const MAX_HEAD: usize = 32 << 10;

/// The time after which the next address of a host is tried beside those that have not answered yet (RFC 8305).
const NEXT_ADDRESS: Duration = Duration::from_millis(250);

/// A request to another server.
pub struct Outgoing<'a> {
    pub method: Method,
    /// The URL: `http`, or `https` with `tls`.
    pub url: &'a Url,
    /// Permitted addresses of its host.
    pub permission: Permission,
    /// Headers besides `Host`.
    pub headers: Vec<(&'static str, String)>,
    /// The body; empty for none.
    pub body: Bytes,
    /// Time limit of the whole exchange.
    pub timeout: Duration,
    /// The largest body of the response, in bytes; `None` if it is not read.
    pub answer_limit: Option<usize>,
    /// A file that gets the body of a successful response instead.
    pub file: Option<&'a File>,
    /// Makes the connections of `https`.
    pub tls: Option<&'a TlsClient>,
}

/// The response of the other server.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    pub headers: HeaderMap,
    /// The body; empty if it was not read, or was written to a file.
    pub body: Bytes,
}

impl Answer {
    /// The header `Content-Type`; `None` if it is absent or has other characters than ASCII.
    pub fn content_type(&self) -> Option<&str> {
        self.headers.get(header::CONTENT_TYPE)?.to_str().ok()
    }

    /// The body as text, in the charset of the `Content-Type`.
    pub fn text(&self) -> Result<Cow<'_, str>, CharsetError> {
        charset::decode(self.content_type(), &self.body)
    }

    /// The body as text for people: U+FFFD replaces what cannot be decoded.
    pub fn lossy_text(&self) -> Cow<'_, str> {
        charset::decode_lossy(self.content_type(), &self.body)
    }
}

/// The reason for the lack of a response.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The exchange took too long.
    #[error("there is no answer in time")]
    TimedOut,
    /// The connection failed, or the other server does not speak HTTP: the reason.
    #[error("{0}")]
    NotConnected(String),
    /// The host, or each of its addresses, is not permitted.
    #[error("the address is not allowed")]
    NotAllowed,
}

/// Sends a request. Redirects are not followed, since they can lead to other hosts.
pub async fn send(request: Outgoing<'_>) -> Result<Answer, Failure> {
    let exchanged = timeout(request.timeout, async {
        let found = lookup(request.url).await.map_err(not_connected)?;
        let addresses = request.permission.filter(found.into_iter());
        if addresses.is_empty() {
            return Err(Failure::NotAllowed);
        }
        exchange(&request, &addresses).await.map_err(not_connected)
    });
    exchanged.await.unwrap_or(Err(Failure::TimedOut))
}

fn not_connected(error: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
    let error: Box<dyn Error + Send + Sync> = error.into();
    let error = with_causes(&*error);
    tracing::debug!(error, "a request to another server failed");
    Failure::NotConnected(error)
}

/// The message of an error with those of its causes, which libraries leave out.
pub fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let words = cause.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        next = cause.source();
    }
    text
}

/// The addresses of the host. The system's own ways to write an address (`127.1`) are read by [`Url`] already.
async fn lookup(url: &Url) -> std::io::Result<Vec<SocketAddr>> {
    let port = url.port_or_known_default().unwrap_or(80);
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    Ok(tokio::net::lookup_host((host, port)).await?.collect())
}

/// Connects to the first address that accepts. An address that does not answer, such as one of IPv6 without a route to the
/// internet, holds up no other.
pub async fn connect(addresses: &[SocketAddr]) -> std::io::Result<TcpStream> {
    first_of(addresses.iter().copied().map(TcpStream::connect).collect()).await
}

/// The result of the first attempt that succeeds, or the last error. Each begins when one before it has failed, or some time after the
/// one before it.
async fn first_of<T, A: Future<Output = std::io::Result<T>>>(attempts: Vec<A>) -> std::io::Result<T> {
    let mut running = FuturesUnordered::new();
    let mut failed = std::io::Error::new(ErrorKind::NotFound, "the host has no address");
    for attempt in attempts {
        running.push(attempt);
        match timeout(NEXT_ADDRESS, running.next()).await {
            Ok(Some(Ok(done))) => return Ok(done),
            Ok(Some(Err(error))) => failed = error,
            Ok(None) | Err(_) => {}
        }
    }
    while let Some(ended) = running.next().await {
        match ended {
            Ok(done) => return Ok(done),
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

async fn exchange(
    request: &Outgoing<'_>,
    addresses: &[SocketAddr],
) -> Result<Answer, Box<dyn Error + Send + Sync>> {
    let stream = connect(addresses).await?;
    match (request.url.scheme(), request.tls) {
        ("http", _) => exchange_over(request, stream).await,
        ("https", Some(tls)) => exchange_over(request, tls.connect(request.url, stream).await?).await,
        _ => Err("the scheme is not supported".into()),
    }
}

async fn exchange_over(
    request: &Outgoing<'_>,
    stream: impl AsyncRead + AsyncWrite + Unpin,
) -> Result<Answer, Box<dyn Error + Send + Sync>> {
    // The body has a limit, but informational responses, and chunks of a byte, could come without end. As much again as the body
    // is enough for the lengths of chunks.
    let most = 2 * (MAX_HEAD + request.answer_limit.unwrap_or_default());
    let (read, write) = tokio::io::split(stream);
    let stream = tokio::io::join(read.take(most as u64), write);
    let (mut sender, connection) =
        http1::Builder::new().max_buf_size(MAX_HEAD).handshake(TokioIo::new(stream)).await?;
    let url = request.url;
    let mut head = Request::builder()
        .method(&request.method)
        .uri(&url[Position::BeforePath..Position::AfterQuery])
        .header("Host", &url[Position::BeforeHost..Position::AfterPort])
        .header("Connection", "close");
    for (name, value) in &request.headers {
        head = head.header(*name, value);
    }
    let message = head.body(Full::new(request.body.clone()))?;
    let exchange = async {
        let response = sender.send_request(message).await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = match request.answer_limit {
            Some(limit) => {
                let body = Limited::new(response.into_body(), limit);
                match request.file {
                    Some(file) if status == 200 => {
                        copy(body, file).await?;
                        Bytes::new()
                    }
                    _ => {
                        let mut bytes = Vec::new();
                        copy(body, &mut bytes).await?;
                        bytes.into()
                    }
                }
            }
            None => Bytes::new(),
        };
        Ok(Answer { status, headers, body })
    };
    tokio::pin!(exchange);
    tokio::select! {
        answered = &mut exchange => answered,
        // The other side may close the connection right after the response, which is still read.
        closed = connection => { closed?; exchange.await }
    }
}

/// Writes a body part by part. Parts are not kept: each takes more memory than a small chunk has bytes.
async fn copy(body: Limited<Incoming>, mut to: impl Write) -> Result<(), Box<dyn Error + Send + Sync>> {
    tokio::pin!(body);
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            to.write_all(&data)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::pin::Pin;
    use tokio::io::AsyncWriteExt;
    use tokio::time::Instant;

    /// Sends a request that another server answers with these bytes. Returns the status and the length of the body.
    async fn answer_of(response: &str) -> Option<(u16, usize)> {
        let url = Url::parse("http://hook.example/").unwrap();
        let request = Outgoing {
            method: Method::GET,
            url: &url,
            permission: Permission::Any,
            headers: Vec::new(),
            body: Bytes::new(),
            timeout: Duration::from_secs(1),
            answer_limit: Some(100_000),
            file: None,
            tls: None,
        };
        let (near, mut far) = tokio::io::duplex(MAX_HEAD);
        let serve = async {
            far.read_u8().await.unwrap();
            // The client may close the connection earlier.
            let _unread = far.write_all(response.as_bytes()).await;
        };
        let (answer, ()) = tokio::join!(exchange_over(&request, near), serve);
        answer.ok().map(|answer| (answer.status, answer.body.len()))
    }

    type Attempt = Pin<Box<dyn Future<Output = std::io::Result<u8>>>>;

    #[tokio::test(start_paused = true)]
    async fn an_address_that_does_not_answer_holds_up_no_other() {
        let silent = || -> Attempt { Box::pin(std::future::pending()) };
        let refused = || -> Attempt { Box::pin(async { Err(ErrorKind::ConnectionRefused.into()) }) };
        let open = |number: u8| -> Attempt { Box::pin(async move { Ok(number) }) };
        let slow = |number: u8| -> Attempt {
            Box::pin(async move {
                tokio::time::sleep(3 * NEXT_ADDRESS).await;
                Ok(number)
            })
        };
        // The clock of the test only runs while everything waits.
        for (attempts, expected, pauses) in [
            (vec![open(1), open(2)], Ok(1), 0),
            (vec![silent(), open(2)], Ok(2), 1),
            (vec![refused(), open(2)], Ok(2), 0),
            (vec![refused(), silent(), open(3)], Ok(3), 1),
            (vec![slow(1), refused(), silent()], Ok(1), 3),
            (vec![refused(), refused()], Err(ErrorKind::ConnectionRefused), 0),
            (vec![], Err(ErrorKind::NotFound), 0),
        ] {
            let begun = Instant::now();
            assert_eq!(first_of(attempts).await.map_err(|error| error.kind()), expected);
            // Timers are rounded.
            assert!(begun.elapsed().abs_diff(NEXT_ADDRESS * pauses) < NEXT_ADDRESS / 2, "{pauses} pauses");
        }
    }

    #[tokio::test]
    async fn responses_have_a_limit_also_beside_their_bodies() {
        let chunked = |size: usize, count: usize| {
            let chunks = format!("{size:x}\r\n{}\r\n", "a".repeat(size)).repeat(count);
            format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n")
        };
        let informed = |count: usize| "HTTP/1.1 100 Continue\r\n\r\n".repeat(count) + &chunked(100, 900);
        assert_eq!(answer_of(&chunked(10, 9_000)).await, Some((200, 90_000)));
        assert_eq!(answer_of(&chunked(1, 90_000)).await, None);
        assert_eq!(answer_of(&chunked(100, 1_001)).await, None);
        assert_eq!(answer_of(&informed(10)).await, Some((200, 90_000)));
        assert_eq!(answer_of(&informed(20_000)).await, None);
    }
}
