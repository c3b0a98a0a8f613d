//! Facts about a request that a handler may need beside its parameters.

use crate::types::Language;
use hyper::header::HeaderMap;
use std::net::IpAddr;

/// Facts about a request that a handler may need beside its parameters.
#[derive(Clone, Debug)]
pub struct RequestInfo {
    /// The name of the client: the parameter `client`, or the first word of `User-Agent`, or `Unspecified`.
    pub client: String,
    /// Scheme, host and port under which the client reached the server.
    pub origin: String,
    /// The client's address.
    pub peer: IpAddr,
    /// True if the connection comes from a trusted proxy.
    pub is_proxied: bool,
    /// The `Cookie` header, on paths outside of the interface: pages use it to recognize their own forms.
    pub cookies: Option<String>,
    /// The name of the browser and its system, on paths outside of the interface, where sessions begin.
    pub browser: Option<String>,
    /// The language that the browser prefers, on paths outside of the interface, if there are texts in it.
    pub language: Option<Language>,
    /// True if the client accepts HTML, by name or by a wildcard.
    pub accepts_html: bool,
    /// True if the client accepts bodies that are compressed with gzip.
    pub accepts_gzip: bool,
    /// True if the client accepts bodies that are compressed with Brotli, as browsers do over https.
    pub accepts_brotli: bool,
    /// Range and conditions of a request for a file, if it has any.
    pub conditions: Option<Box<Conditions>>,
    /// All headers, for routes that read the body themselves.
    pub headers: Option<Box<HeaderMap>>,
}

impl RequestInfo {
    /// The text of a header, for routes that read the body themselves.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.as_ref()?.get(name)?.to_str().ok()
    }
}

/// The headers of conditional and range requests (RFC 9110, sections 13 and 14).
#[derive(Clone, Debug, Default)]
pub struct Conditions {
    pub range: Option<String>,
    pub if_range: Option<String>,
    pub if_none_match: Option<String>,
}
