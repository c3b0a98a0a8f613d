//! Requests of commands to servers: one exchange over a connection of its own, with limits on time and on the answer.

use serde_json::Value;
use std::io::{Error, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use teamchat::http_client::host_name;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::{self, ClientConfig, ClientConnection, StreamOwned};
use url::{Position, Url};

/// Timeout of each step.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest answer that is read, in bytes.
const MAX_ANSWER: usize = 64 << 10;

/// A response.
pub struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    body: String,
    /// The certificates that the server presented, its own first; none without TLS.
    pub certificates: Vec<CertificateDer<'static>>,
}

impl Answer {
    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON, in whatever pieces a proxy sent it; null if it is not JSON.
    pub fn json(&self) -> Value {
        let object = self.body.find('{').zip(self.body.rfind('}'));
        let object = object.and_then(|(start, end)| self.body.get(start..=end));
        object.and_then(|object| serde_json::from_str(object).ok()).unwrap_or_default()
    }
}

/// The reason for the lack of a response.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The name has no address.
    #[error("there is no address of {0}")]
    Unknown(String),
    /// No connection, or one that ended early.
    #[error("{0}")]
    Connection(#[from] Error),
    /// The handshake failed, or the certificate was refused.
    #[error("{0}")]
    Tls(#[from] rustls::Error),
}

/// Sends a request without a body, and reads the first response. `tls` is for addresses with https.
pub fn fetch(
    method: &str,
    url: &Url,
    headers: &[(&str, &str)],
    tls: Option<&Arc<ClientConfig>>,
) -> Result<Answer, FetchError> {
    let host = url.host_str().unwrap_or_default();
    let addresses = url.socket_addrs(|| None).map_err(|_| FetchError::Unknown(host.to_owned()))?;
    let mut failure = FetchError::Unknown(host.to_owned());
    let mut connected = None;
    for address in addresses {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(stream) => {
                connected = Some(stream);
                break;
            }
            Err(error) => failure = Error::new(error.kind(), format!("{address}: {error}")).into(),
        }
    }
    let stream = connected.ok_or(failure)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let path = &url[Position::BeforePath..Position::AfterQuery];
    let mut request =
        format!("{method} {path} HTTP/1.1\r\nHost: {}\r\nUser-Agent: teamchat\r\n", url.authority());
    for (name, value) in [("Connection", "close")].iter().chain(headers) {
        request.extend([name, ": ", value, "\r\n"]);
    }
    request.push_str("\r\n");
    if url.scheme() == "https"
        && let Some(tls) = tls
    {
        let name = host_name(url).ok_or_else(|| FetchError::Unknown(host.to_owned()))?;
        let mut stream = StreamOwned::new(ClientConnection::new(Arc::clone(tls), name)?, stream);
        let head_and_body = exchange(&mut stream, &request).map_err(unwrap_tls)?;
        let certificates = stream.conn.peer_certificates().unwrap_or_default();
        let certificates = certificates.iter().map(|certificate| certificate.clone().into_owned()).collect();
        return parse(&head_and_body, certificates);
    }
    let mut stream = stream;
    parse(&exchange(&mut stream, &request)?, Vec::new())
}

fn exchange(stream: &mut (impl Read + Write), request: &str) -> std::io::Result<String> {
    stream.write_all(request.as_bytes())?;
    stream.flush()?;
    let mut answer = Vec::new();
    let mut piece = [0; 4096];
    while answer.len() < MAX_ANSWER {
        match stream.read(&mut piece) {
            Ok(0) => break,
            Ok(read) => answer.extend_from_slice(&piece[..read]),
            // Many servers end a connection without the farewell of TLS.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof && !answer.is_empty() => break,
            Err(error) => return Err(error),
        }
        // 100 Continue: the server waits for a body.
        if answer.starts_with(b"HTTP/1.1 1") && answer.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// The error of TLS that the system's error is about.
fn unwrap_tls(error: Error) -> FetchError {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(error) => error.clone().into(),
        None => error.into(),
    }
}

fn parse(answer: &str, certificates: Vec<CertificateDer<'static>>) -> Result<Answer, FetchError> {
    let is_not_http = || Error::new(ErrorKind::InvalidData, "the answer is not HTTP");
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(is_not_http)?;
    let mut lines = head.lines();
    let first = lines.next().filter(|line| line.starts_with("HTTP/")).ok_or_else(is_not_http)?;
    let status = first.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(is_not_http)?;
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect();
    Ok(Answer { status, headers, body: body.to_owned(), certificates })
}
