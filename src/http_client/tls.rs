//! TLS connections to other servers.

use std::error::Error;
use std::sync::{Arc, OnceLock};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore};
use url::{Host, Url};

/// Makes TLS connections. Its state is created with the first one, and lets later connections to the same server resume
/// its session.
#[derive(Default)]
pub struct TlsClient {
    /// Certificates of further authorities, in PEM.
    authorities: Option<String>,
    connector: OnceLock<TlsConnector>,
}

/// The text has no certificates of authorities.
#[derive(Debug, thiserror::Error)]
#[error("there is no certificate of an authority in it, in PEM")]
pub struct CertificateError;

/// Checks that a text has certificates of authorities in PEM, and no others.
pub fn check_certificates(pem: &str) -> Result<(), CertificateError> {
    match add_to(&mut RootCertStore::empty(), pem) {
        Ok(1..) => Ok(()),
        _ => Err(CertificateError),
    }
}

/// Adds the certificates of a text, and returns their number.
fn add_to(roots: &mut RootCertStore, pem: &str) -> Result<usize, Box<dyn Error + Send + Sync>> {
    let mut count = 0;
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        roots.add(certificate?)?;
        count += 1;
    }
    Ok(count)
}

/// The authorities of public servers, and those whose certificates are given in PEM.
pub fn trusted_roots(authorities: Option<&str>) -> Result<RootCertStore, Box<dyn Error + Send + Sync>> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    if let Some(authorities) = authorities {
        add_to(&mut roots, authorities)?;
    }
    Ok(roots)
}

/// The host of a URL, as a certificate names it; `None` if it cannot.
pub fn host_name(url: &Url) -> Option<ServerName<'static>> {
    Some(match url.host()? {
        Host::Domain(name) => ServerName::try_from(name.to_owned()).ok()?,
        Host::Ipv4(address) => ServerName::from(std::net::IpAddr::from(address)),
        Host::Ipv6(address) => ServerName::from(std::net::IpAddr::from(address)),
    })
}

/// The configuration of a client that trusts these authorities.
pub fn client_config(roots: RootCertStore) -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13, &rustls::version::TLS12])?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

impl TlsClient {
    /// A client that trusts the authorities of public servers, and those whose certificates are given.
    pub fn trusting(authorities: Option<String>) -> Self {
        Self { authorities, connector: OnceLock::new() }
    }

    /// Secures a connection to the host of a URL.
    pub(super) async fn connect(
        &self,
        url: &Url,
        stream: TcpStream,
    ) -> Result<TlsStream<TcpStream>, Box<dyn Error + Send + Sync>> {
        let name = host_name(url).ok_or("the URL has no host")?;
        let connector = match self.connector.get() {
            Some(connector) => connector,
            None => {
                let made = self.make_connector()?;
                self.connector.get_or_init(|| made)
            }
        };
        Ok(connector.connect(name, stream).await?)
    }

    fn make_connector(&self) -> Result<TlsConnector, Box<dyn Error + Send + Sync>> {
        let config = client_config(trusted_roots(self.authorities.as_deref())?)?;
        Ok(TlsConnector::from(Arc::new(config)))
    }
}
