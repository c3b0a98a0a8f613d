//! The HTTP client of outgoing webhooks.

use crate::api::outgoing_webhooks::payload::Payload;
use crate::types::version::VERSION;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper_util::rt::TokioIo;
use std::error::Error;
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
}

/// Posts to a URL on an allowed host. Redirects are not followed, since they can lead to other hosts.
pub async fn post(address: &str, payload: &Payload, allowed: &[String]) -> Result<Answer, Failure> {
    let url = Url::parse(address).map_err(|_| Failure::NotConnected)?;
    if !is_allowed(&url, allowed) {
        return Err(Failure::NotAllowed);
    }
    if url.scheme() != "http" {
        return Err(Failure::Encrypted);
    }
    let answered = tokio::time::timeout(TIMEOUT, exchange(&url, payload)).await;
    answered.map_err(|_| Failure::TimedOut)?.map_err(|error| {
        tracing::debug!(%error, "an outgoing webhook could not be posted");
        Failure::NotConnected
    })
}

/// Whether a host is allowed. Entries are like `example.com`, `example.com:8080` or `*`.
fn is_allowed(url: &Url, allowed: &[String]) -> bool {
    let Some(host) = url.host_str() else { return false };
    let with_port = format!("{host}:{}", url.port_or_known_default().unwrap_or_default());
    let matches = |entry: &String| {
        entry == "*" || entry.eq_ignore_ascii_case(host) || entry.eq_ignore_ascii_case(&with_port)
    };
    allowed.iter().any(matches)
}

async fn exchange(url: &Url, payload: &Payload) -> Result<Answer, Box<dyn Error + Send + Sync>> {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let stream = TcpStream::connect((host, url.port_or_known_default().unwrap_or(80))).await?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_allowed_by_name_and_port() {
        let cases = [
            ("http://example.com/hook", &["example.com"][..], true),
            ("http://Example.com:8080/", &["example.com"], true),
            ("http://example.com:8080/", &["EXAMPLE.com:8080"], true),
            ("http://example.com/", &["example.com:80"], true),
            ("http://example.com:8081/", &["example.com:8080"], false),
            ("http://sub.example.com/", &["example.com"], false),
            ("http://example.com.evil.example/", &["example.com"], false),
            ("http://example.com@evil.example/", &["example.com"], false),
            ("http://[::1]:80/", &["[::1]"], true),
            ("http://10.0.0.1/", &["*"], true),
            ("http://10.0.0.1/", &[], false),
        ];
        for (url, allowed, expected) in cases {
            let allowed: Vec<String> = allowed.iter().map(|entry| (*entry).to_owned()).collect();
            assert_eq!(is_allowed(&Url::parse(url).unwrap(), &allowed), expected, "{url} {allowed:?}");
        }
    }
}
