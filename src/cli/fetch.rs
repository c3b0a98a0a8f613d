//! Requests of commands to servers: one exchange over a connection of its own, with limits on time and on the answer.

use super::connect::{Stream, connect};
use serde_json::Value;
use std::io::{Error, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use teamchat::http_client::host_name;
use teamchat::server::ListenAddress;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::crypto::{
    WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    self, AlertDescription, ClientConfig, ClientConnection, DigitallySignedStruct, SignatureScheme,
    StreamOwned,
};
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
    #[error("the name {0} has no address")]
    Unknown(String),
    /// No connection, or one that ended early.
    #[error("{0}")]
    Connection(#[from] Error),
    /// The handshake failed, or the certificate was refused.
    #[error("{0}")]
    Tls(#[from] rustls::Error),
    /// The server refuses the handshake, as this one does while it has no certificate.
    #[error("it has no certificate yet; its log has the reason")]
    NoCertificate,
}

/// Sends a request without a body, and reads the first response. `tls` is for addresses with https.
pub fn fetch(
    method: &str,
    url: &Url,
    headers: &[(&str, &str)],
    tls: Option<&Arc<ClientConfig>>,
) -> Result<Answer, FetchError> {
    let host = url.host_str().unwrap_or_default();
    let unknown = || FetchError::Unknown(host.to_owned());
    let addresses = url.socket_addrs(|| None).map_err(|_| unknown())?;
    let mut stream = connect_to_first(&addresses, unknown())?;
    let path = &url[Position::BeforePath..Position::AfterQuery];
    let request = request(method, path, url.authority(), headers);
    if url.scheme() == "https"
        && let Some(tls) = tls
    {
        let name = host_name(url).ok_or_else(unknown)?;
        let mut stream = StreamOwned::new(ClientConnection::new(Arc::clone(tls), name)?, stream);
        let head_and_body = exchange(&mut stream, &request).map_err(unwrap_tls)?;
        let certificates = stream.conn.peer_certificates().unwrap_or_default();
        let certificates = certificates.iter().map(|certificate| certificate.clone().into_owned()).collect();
        return parse(&head_and_body, certificates);
    }
    parse(&exchange(&mut stream, &request)?, Vec::new())
}

/// Connects to the first address that accepts. Fails with the error of the last one, or with `failure` if there is none.
fn connect_to_first(
    addresses: &[SocketAddr],
    mut failure: FetchError,
) -> Result<Box<dyn Stream>, FetchError> {
    for address in addresses {
        match connect(&ListenAddress::Tcp(*address), PATIENCE) {
            Ok(stream) => return Ok(stream),
            Err(error) => failure = Error::new(error.kind(), format!("{address}: {error}")).into(),
        }
    }
    Err(failure)
}

/// Sends a `GET` request to a Unix socket.
#[cfg(unix)]
pub fn fetch_from_socket(socket: &ListenAddress, path: &str) -> Result<Answer, FetchError> {
    let mut stream = connect(socket, PATIENCE)?;
    parse(&exchange(&mut stream, &request("GET", path, "localhost", &[]))?, Vec::new())
}

fn request(method: &str, path: &str, host: &str, headers: &[(&str, &str)]) -> String {
    let mut request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nUser-Agent: teamchat\r\n");
    for (name, value) in [("Connection", "close")].iter().chain(headers) {
        request.extend([name, ": ", value, "\r\n"]);
    }
    request.push_str("\r\n");
    request
}

/// The configuration of a client that accepts all certificates. It is for requests that contain nothing secret and whose
/// answers are not trusted.
pub fn config_without_verification() -> Result<ClientConfig, rustls::Error> {
    let provider = default_provider();
    let verifier = NoVerification(provider.signature_verification_algorithms);
    let builder = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?;
    Ok(builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

/// Accepts all certificates.
#[derive(Debug)]
struct NoVerification(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for NoVerification {
    fn verify_server_cert(
        &self,
        _own: &CertificateDer<'_>,
        _others: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
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
            // Many servers end a connection without the `close_notify` of TLS.
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
        Some(rustls::Error::AlertReceived(AlertDescription::AccessDenied)) => FetchError::NoCertificate,
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
