//! The HTTP client of outgoing webhooks.

use crate::api::outgoing_webhooks::payload::Payload;
use crate::app::Options;
use crate::http_client;
use crate::http_client::{Answer, Outgoing, Permission, permission};
use crate::types::version::VERSION;
use bytes::Bytes;
use hyper::Method;
use std::time::Duration;
use url::Url;

/// The published time limit of a request.
pub const TIMEOUT: Duration = Duration::from_secs(10);

/// The largest response that is read, in bytes. Messages are much shorter.
const ANSWER_LIMIT: usize = 1 << 20;

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

impl From<http_client::Failure> for Failure {
    fn from(failure: http_client::Failure) -> Self {
        match failure {
            http_client::Failure::TimedOut => Self::TimedOut,
            http_client::Failure::NotConnected(_) => Self::NotConnected,
            http_client::Failure::NotAllowed => Self::NotAllowed,
        }
    }
}

/// Posts to a URL on an allowed host.
pub async fn post(address: &str, payload: &Payload, options: &Options) -> Result<Answer, Failure> {
    if address.is_empty() {
        return Err(Failure::NoUrl);
    }
    let url = Url::parse(address).map_err(|_| Failure::NotConnected)?;
    let permission = permission(&url, &options.webhook_hosts);
    if permission == Permission::None {
        return Err(Failure::NotAllowed);
    }
    if url.scheme() != "http" {
        return Err(Failure::Encrypted);
    }
    let headers = vec![
        ("User-Agent", format!("ZulipOutgoingWebhook/{VERSION}")),
        ("Content-Type", payload.content_type.to_owned()),
    ];
    let body = Bytes::from(payload.body.clone());
    let request = Outgoing {
        method: Method::POST,
        url: &url,
        permission,
        headers,
        body,
        timeout: options.overrides.outgoing_timeout.unwrap_or(TIMEOUT),
        answer_limit: Some(ANSWER_LIMIT),
        file: None,
        tls: None,
    };
    Ok(http_client::send(request).await?)
}
