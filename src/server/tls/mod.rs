//! TLS: the handshake, and the certificate that is in effect.
//!
//! The certificate comes from two files, which are read again when they change, or from an ACME server. A new one is for
//! new connections; those that are open go on.

mod acme;
mod certificate;
mod files;
mod resolver;

pub use self::acme::{AcmeOptions, check_domain};
pub use self::certificate::{Certificate, CertificateError, Facts, warning_time};
pub use self::resolver::Certificates;

use crate::types::Clock;
use acme::{Acme, FolderError};
use files::Files;
use resolver::ACME_TLS;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Notify, watch};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::server::TlsStream;

/// Time limit for a handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(15);

/// The protocols that clients may choose, the best first.
const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";

/// Source of the certificate.
#[derive(Clone, Debug)]
pub enum TlsOptions {
    /// Two files in PEM: the certificate with those above it, and the key.
    Files { certificate: PathBuf, key: PathBuf },
    /// An ACME server.
    Acme(AcmeOptions),
}

/// Why a server cannot speak TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificate of the files.
    #[error(transparent)]
    Certificate(#[from] CertificateError),
    /// The state of ACME.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// rustls refuses its own defaults.
    #[error("TLS cannot be set up: {0}")]
    Setup(#[from] tokio_rustls::rustls::Error),
}

/// TLS of a server.
pub struct Tls {
    acceptor: TlsAcceptor,
    /// The certificate, and the answers to checks of names.
    pub certificates: Arc<Certificates>,
    source: Source,
    clock: Clock,
    /// Requests to read the files again, or to ask the ACME server again.
    pub reload: Notify,
}

enum Source {
    Files(Files),
    Acme(Acme),
}

impl Tls {
    /// Reads the certificate, if there is one yet.
    pub fn new(options: &TlsOptions, clock: Clock) -> Result<Self, TlsError> {
        let certificates = Arc::new(Certificates::default());
        let now = clock.seconds();
        let (source, is_acme) = match options {
            TlsOptions::Files { certificate, key } => {
                (Source::Files(Files::read(certificate, key, now, &certificates)?), false)
            }
            TlsOptions::Acme(options) => (Source::Acme(Acme::open(options, now, &certificates)?), true),
        };
        let provider = Arc::new(ring::default_provider());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&certificates) as _);
        config.alpn_protocols = vec![HTTP2.to_vec(), HTTP1.to_vec()];
        if is_acme {
            config.alpn_protocols.push(ACME_TLS.to_vec());
        }
        // Clients that come back need no second handshake.
        config.ticketer = ring::Ticketer::new()?;
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Ok(Self { acceptor, certificates, source, clock, reload: Notify::new() })
    }

    /// True if the certificate is for a host.
    pub fn is_for(&self, host: &str) -> bool {
        match &self.source {
            Source::Files(files) => files.is_for(host),
            Source::Acme(acme) => acme.is_for(host),
        }
    }

    /// Does the handshake with a client; `None` if it fails, or if it was the check of a name.
    pub async fn accept<S: AsyncRead + AsyncWrite + Unpin>(&self, stream: S) -> Option<TlsStream<S>> {
        let accepted = tokio::time::timeout(HANDSHAKE_TIMEOUT, self.acceptor.accept(stream)).await;
        match accepted {
            Ok(Ok(stream)) if stream.get_ref().1.alpn_protocol() == Some(ACME_TLS) => None,
            Ok(Ok(stream)) => Some(stream),
            Ok(Err(error)) => {
                tracing::debug!(%error, "a TLS handshake failed");
                None
            }
            Err(_) => {
                tracing::debug!("a TLS handshake took too long");
                None
            }
        }
    }

    /// Keeps the certificate current until the server stops.
    pub async fn run(self: Arc<Self>, mut stopped: watch::Receiver<bool>) {
        let work = async {
            match &self.source {
                Source::Files(files) => files.watch(&self.certificates, &self.clock, &self.reload).await,
                Source::Acme(acme) => acme.run(&self.certificates, &self.clock, &self.reload).await,
            }
        };
        tokio::select! {
            () = work => {}
            _ = stopped.changed() => {}
        }
    }
}

/// True if a client has chosen HTTP/2.
pub fn is_http2<S>(stream: &TlsStream<S>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(HTTP2)
}
