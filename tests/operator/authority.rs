//! A certificate authority of a test, and clients that trust it.

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderValue};
use hyper::{Request, Uri, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use serde_json::Value;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// The name of the server in certificates.
pub const NAME: &str = "chat.example.com";

pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Signs certificates.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, in files.
pub struct Files {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl Files {
    /// The flags that name them.
    pub fn flags(&self) -> [&str; 4] {
        ["--tls-cert", self.certificate.to_str().unwrap(), "--tls-key", self.key.to_str().unwrap()]
    }
}

impl Authority {
    pub fn new() -> Self {
        install_provider();
        let mut params = CertificateParams::new(Vec::<String>::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self { issuer: CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap() }
    }

    /// Its own certificate, in PEM.
    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// Writes a certificate for names. It is valid for `days` from yesterday on.
    pub fn issue(&self, folder: &Path, names: &[&str], days: u32) -> Files {
        self.issue_from(folder, names, SystemTime::now() - DAY, days)
    }

    /// Likewise from a time on.
    pub fn issue_from(&self, folder: &Path, names: &[&str], begin: SystemTime, days: u32) -> Files {
        let key = KeyPair::generate().unwrap();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = date_time_ymd(1970, 1, 1) + begin.duration_since(UNIX_EPOCH).unwrap();
        params.not_after = params.not_before + DAY * days;
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let files = Files { certificate: folder.join("cert.pem"), key: folder.join("key.pem") };
        std::fs::write(&files.certificate, certificate.pem() + &self.pem()).unwrap();
        std::fs::write(&files.key, key.serialize_pem()).unwrap();
        files
    }

    /// Trust in it.
    pub fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.issuer.der().clone()).unwrap();
        roots
    }

    /// Sends a request with TLS, over a connection of its own.
    pub async fn send(&self, address: SocketAddr, version: Version, request: Request<Full<Bytes>>) -> Answer {
        let protocol: &[u8] = if version == Version::HTTP_2 { b"h2" } else { b"http/1.1" };
        exchange(self.connect(address, &[protocol]).await, version, request).await
    }

    /// A connection that offers these protocols.
    pub async fn connect(&self, address: SocketAddr, protocols: &[&[u8]]) -> TlsStream<TcpStream> {
        connect(self.roots(), address, NAME, protocols).await.unwrap()
    }

    /// The certificate that a new connection gets.
    pub async fn seen(&self, address: SocketAddr) -> CertificateDer<'static> {
        let stream = self.connect(address, &[]).await;
        stream.get_ref().1.peer_certificates().unwrap()[0].clone().into_owned()
    }
}

/// A response.
pub struct Answer {
    pub status: u16,
    pub version: Version,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Answer {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{}: {:?}", self.status, self.body))
    }
}

/// A request with a form.
pub fn request(method: &str, url: &str, form: &[(&str, &str)]) -> Request<Full<Bytes>> {
    let mut body = form_urlencoded::Serializer::new(String::new());
    body.extend_pairs(form);
    let builder = Request::builder().method(method).uri(url);
    let builder = builder.header("content-type", "application/x-www-form-urlencoded");
    builder.body(Full::new(Bytes::from(body.finish()))).unwrap()
}

/// Adds a header to a request.
pub fn with(mut request: Request<Full<Bytes>>, name: &'static str, value: &str) -> Request<Full<Bytes>> {
    request.headers_mut().append(name, HeaderValue::from_str(value).unwrap());
    request
}

/// Sends a request without TLS.
pub async fn send_plain(address: SocketAddr, request: Request<Full<Bytes>>) -> Answer {
    exchange(TcpStream::connect(address).await.unwrap(), Version::HTTP_11, request).await
}

/// Sends a request over a connection.
pub async fn exchange(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    version: Version,
    mut request: Request<Full<Bytes>>,
) -> Answer {
    let io = TokioIo::new(stream);
    let response = if version == Version::HTTP_2 {
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request).await
    } else {
        let uri = request.uri().clone();
        let host = HeaderValue::from_str(uri.authority().unwrap().as_str()).unwrap();
        request.headers_mut().insert("host", host);
        *request.uri_mut() = uri.path_and_query().unwrap().as_str().parse::<Uri>().unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(io).await.unwrap();
        tokio::spawn(connection);
        sender.send_request(request).await
    };
    let (head, body) = response.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer { status: head.status.as_u16(), version: head.version, headers: head.headers, body }
}

/// Polls a queue until it has a message, and returns the content. `ask` sends a request for a path. On a machine that is slow,
/// heartbeats come before the message.
pub async fn poll_for_message<F: Future<Output = Value>>(queue: Value, ask: impl Fn(String) -> F) -> Value {
    let id = queue["queue_id"].as_str().unwrap();
    let mut last = queue["last_event_id"].clone();
    loop {
        let answer = ask(format!("/events?queue_id={id}&last_event_id={last}")).await;
        let event = answer["events"].as_array().unwrap().last().unwrap();
        if event["type"] == "message" {
            return event["message"]["content"].clone();
        }
        last = event["id"].clone();
    }
}

/// A connection with TLS.
pub async fn connect(
    roots: RootCertStore,
    address: SocketAddr,
    name: &str,
    protocols: &[&[u8]],
) -> std::io::Result<TlsStream<TcpStream>> {
    secure(roots, TcpStream::connect(address).await?, name, protocols).await
}

/// TLS on a connection.
pub async fn secure(
    roots: RootCertStore,
    stream: TcpStream,
    name: &str,
    protocols: &[&[u8]],
) -> std::io::Result<TlsStream<TcpStream>> {
    install_provider();
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await
}

fn install_provider() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| ring::default_provider().install_default().unwrap());
}

/// The address in a URL of a server.
pub fn address_of(origin: &str) -> SocketAddr {
    origin.rsplit_once('/').unwrap().1.parse().unwrap()
}
