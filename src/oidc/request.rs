//! Requests to providers.

use crate::http_client::{Outgoing, Permission, TlsClient, send};
use crate::types::Clock;
use bytes::Bytes;
use hyper::Method;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::time::Duration;
use url::Url;

/// Time limit of each request to a provider, unless the options have another.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The largest answer of a provider that is read, in bytes.
const ANSWER_LIMIT: usize = 512 << 10;

/// The most characters of an error of a provider, and of its description, that the log gets.
const MAX_ERROR: usize = 300;

/// Reasons for which a login at a provider fails.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The provider does not answer, or not as it should.
    #[error("the provider cannot be used: {0}")]
    Unusable(String),
    /// The answers of the provider do not prove the identity of a person.
    #[error("{0}")]
    Refused(&'static str),
}

/// The environment of requests to providers.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// Makes TLS connections.
    pub tls: &'a TlsClient,
    /// Time limit of each request; `None` means 10 seconds.
    pub timeout: Option<Duration>,
    /// The current time.
    pub clock: &'a Clock,
}

/// An error in the words of a provider (RFC 6749, section 5.2).
#[derive(Deserialize)]
pub struct ProviderError {
    /// Its code.
    pub error: String,
    /// Its description.
    pub error_description: Option<String>,
}

impl ProviderError {
    /// The words in quotation marks, for the log.
    pub fn words(&self) -> String {
        let quoted = |text: &str| format!("{:?}", text.chars().take(MAX_ERROR).collect::<String>());
        let description = self.error_description.as_deref().map(quoted);
        let description = description.map(|text| format!(": {text}")).unwrap_or_default();
        format!("{}{description}", quoted(&self.error))
    }
}

/// Sends a request and reads the answer, JSON with status 200. Redirects are not followed.
pub(super) async fn fetch<T: DeserializeOwned>(
    environment: Environment<'_>,
    method: Method,
    url: &Url,
    mut headers: Vec<(&'static str, String)>,
    body: String,
) -> Result<T, Failure> {
    headers.push(("Accept", "application/json".to_owned()));
    let request = Outgoing {
        method,
        url,
        // The operator names the provider.
        permission: Permission::Any,
        headers,
        body: Bytes::from(body),
        timeout: environment.timeout.unwrap_or(TIMEOUT),
        answer_limit: Some(ANSWER_LIMIT),
        file: None,
        tls: Some(environment.tls),
    };
    let answer = match send(request).await {
        Ok(answer) => answer,
        Err(failure) => return Err(Failure::Unusable(format!("{url}: {failure}"))),
    };
    if answer.status != 200 {
        let error = serde_json::from_slice(&answer.body).map(|error: ProviderError| error.words());
        let error = error.map(|words| format!(" and the error {words}")).unwrap_or_default();
        return Err(Failure::Unusable(format!("{url} answers with status {}{error}", answer.status)));
    }
    serde_json::from_slice(&answer.body).map_err(|error| Failure::Unusable(format!("{url}: {error}")))
}
