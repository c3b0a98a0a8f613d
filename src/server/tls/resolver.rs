//! The certificate for each handshake.

use super::certificate::{Certificate, warning_time};
use crate::app::CertificateEnd;
use parking_lot::RwLock;
use std::collections::HashMap;
use std::fmt::{Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;

/// The protocol of an ACME server that checks a name by TLS (RFC 8737).
pub const ACME_TLS: &[u8] = b"acme-tls/1";

/// The certificate for new connections, and the answers to checks of names by an ACME server.
#[derive(Default)]
pub struct Certificates {
    current: RwLock<Option<Arc<CertifiedKey>>>,
    /// Until when it is valid.
    pub end: Arc<CertificateEnd>,
    /// Certificates for checks by TLS, by name.
    checks: RwLock<HashMap<String, Arc<CertifiedKey>>>,
    /// Texts for checks by HTTP, by token.
    tokens: RwLock<HashMap<String, String>>,
}

impl Certificates {
    /// Sets the certificate of new connections.
    pub fn set(&self, certificate: &Certificate) {
        *self.current.write() = Some(Arc::clone(&certificate.key));
        let warned_from = warning_time(certificate.not_before, certificate.not_after);
        self.end.warned_from.store(warned_from, Ordering::Relaxed);
        self.end.time.store(certificate.not_after, Ordering::Relaxed);
    }

    /// Adds the certificate for a check by TLS.
    pub fn add_check(&self, name: &str, certificate: CertifiedKey) {
        let mut checks = self.checks.write();
        checks.insert(name.to_owned(), Arc::new(certificate));
    }

    /// Adds the text for a check by HTTP.
    pub fn add_token(&self, token: &str, text: &str) {
        let mut tokens = self.tokens.write();
        tokens.insert(token.to_owned(), text.to_owned());
    }

    /// Removes the answers to checks.
    pub fn clear_checks(&self) {
        self.checks.write().clear();
        self.tokens.write().clear();
    }

    /// The text with which a check by HTTP is answered.
    pub fn text_of_token(&self, token: &str) -> Option<String> {
        self.tokens.read().get(token).cloned()
    }
}

impl Debug for Certificates {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("Certificates")
    }
}

impl ResolvesServerCert for Certificates {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        if hello.alpn().is_some_and(|mut protocols| protocols.any(|protocol| protocol == ACME_TLS)) {
            let checks = self.checks.read();
            return checks.get(&hello.server_name()?.to_ascii_lowercase()).cloned();
        }
        self.current.read().clone()
    }
}
