//! Plain HTTP on a socket that also speaks TLS: redirects to https, the health of the server for monitors on the machine,
//! and checks of names by an ACME server.

use super::tls::Certificates;
use crate::http::ResponseBody;
use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::sync::Arc;
use url::Url;

/// The path of checks by an ACME server (RFC 8555, section 8.3).
const CHECKS: &str = "/.well-known/acme-challenge/";

/// The port of https that URLs leave out.
const HTTPS: u16 = 443;

/// Answers requests over plain HTTP.
pub struct Redirect {
    /// Scheme, host and port that all requests are sent to; otherwise the host of the request.
    public_url: Option<String>,
    /// The port of TLS.
    port: u16,
    certificates: Arc<Certificates>,
}

impl Redirect {
    /// Redirects to a public URL, or else to the host of the request with this port.
    pub fn new(public_url: Option<&str>, port: u16, certificates: Arc<Certificates>) -> Self {
        let public_url = public_url.filter(|url| url.starts_with("https://")).map(str::to_owned);
        Self { public_url, port, certificates }
    }

    /// The answer to a request; `None` if it is for the routes.
    pub fn answer(&self, request: &Request<Incoming>) -> Option<Response<ResponseBody>> {
        let path = request.uri().path();
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        if path == "/health" && is_read {
            return None;
        }
        if let Some(token) = path.strip_prefix(CHECKS).filter(|_| is_read)
            && let Some(text) = self.certificates.text_of_token(token)
        {
            let mut response = Response::new(ResponseBody::Full(Bytes::from(text)));
            response
                .headers_mut()
                .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
            return Some(response);
        }
        let host = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let origin = self.origin(host);
        let target = request.uri().path_and_query().map_or("/", |path| path.as_str());
        let target = HeaderValue::from_str(&format!("{origin}{target}"));
        let mut response = Response::new(ResponseBody::Full(Bytes::new()));
        // 308 keeps the method and the body.
        *response.status_mut() =
            if is_read { StatusCode::MOVED_PERMANENTLY } else { StatusCode::PERMANENT_REDIRECT };
        if let Ok(target) = target {
            response.headers_mut().insert(header::LOCATION, target);
        }
        // The body of the request is not read.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        Some(response)
    }

    fn origin(&self, host: Option<&str>) -> String {
        if let Some(url) = &self.public_url {
            return url.clone();
        }
        let url = host.and_then(|host| Url::parse(&format!("http://{host}/")).ok());
        let host = url.as_ref().and_then(Url::host_str).unwrap_or("localhost");
        let port = if self.port == HTTPS { String::new() } else { format!(":{}", self.port) };
        format!("https://{host}{port}")
    }
}
