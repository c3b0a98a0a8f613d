//! The HTTP client of outgoing webhooks.

use crate::api::outgoing_webhooks::allowed_hosts::{Permission, permission};
use crate::api::outgoing_webhooks::payload::Payload;
use crate::types::version::VERSION;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpStream;
use url::{Position, Url};

/// The published time limit of a request.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// The largest response that is read, in bytes. Messages are much shorter.
const ANSWER_LIMIT: usize = 1 << 20;

/// The response of the other server.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: Bytes,
}

/// The reason for the lack of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The request took longer than [`TIMEOUT`].
    TimedOut,
    /// The connection failed, or the other server does not speak HTTP.
    NotConnected,
    /// The operator does not allow the host.
    NotAllowed,
    /// The URL is an `https` one.
    Encrypted,
    /// There is no URL: the bot has a new owner, who did not set one yet.
    NoUrl,
}

/// Posts to a URL on an allowed host. Redirects are not followed, since they can lead to other hosts.
pub async fn post(address: &str, payload: &Payload, allowed: &[String]) -> Result<Answer, Failure> {
    if address.is_empty() {
        return Err(Failure::NoUrl);
    }
    let url = Url::parse(address).map_err(|_| Failure::NotConnected)?;
    let permission = permission(&url, allowed);
    if permission == Permission::None {
        return Err(Failure::NotAllowed);
    }
    if url.scheme() != "http" {
        return Err(Failure::Encrypted);
    }
    let answered = tokio::time::timeout(TIMEOUT, async {
        let addresses = permission.filter(lookup(&url).await.map_err(not_connected)?.into_iter());
        if addresses.is_empty() {
            return Err(Failure::NotAllowed);
        }
        exchange(&url, &addresses, payload).await.map_err(not_connected)
    });
    answered.await.unwrap_or(Err(Failure::TimedOut))
}

fn not_connected(error: impl Into<Box<dyn Error + Send + Sync>>) -> Failure {
    tracing::debug!(error = error.into(), "an outgoing webhook could not be posted");
    Failure::NotConnected
}

/// The addresses of the host. The system's own ways to write an address (`127.1`) are read by [`Url`] already.
async fn lookup(url: &Url) -> std::io::Result<Vec<SocketAddr>> {
    let port = url.port_or_known_default().unwrap_or(80);
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    Ok(tokio::net::lookup_host((host, port)).await?.collect())
}

async fn exchange(
    url: &Url,
    addresses: &[SocketAddr],
    payload: &Payload,
) -> Result<Answer, Box<dyn Error + Send + Sync>> {
    let stream = TcpStream::connect(addresses).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::post(&url[Position::BeforePath..Position::AfterQuery])
        .header("Host", &url[Position::BeforeHost..Position::AfterPort])
        .header("User-Agent", format!("ZulipOutgoingWebhook/{VERSION}"))
        .header("Content-Type", payload.content_type)
        .header("Connection", "close")
        .body(Full::new(Bytes::from(payload.body.clone())))?;
    let exchange = async {
        let response = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let body = Limited::new(response.into_body(), ANSWER_LIMIT).collect().await?.to_bytes();
        Ok(Answer { status, body })
    };
    tokio::pin!(exchange);
    tokio::select! {
        answered = &mut exchange => answered,
        // The other side may close the connection right after the response, which is still read.
        closed = connection => { closed?; exchange.await }
    }
}
