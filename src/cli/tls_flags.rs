//! Flags of `serve` for TLS.

use super::serve_options::{parse_authorities_file, parse_email, parse_https_url};
use clap::Args;
use std::path::{Path, PathBuf};
use teamchat::server::tls::{AcmeOptions, TlsOptions, check_domain};

/// The directory of Let's Encrypt.
const LETS_ENCRYPT: &str = "https://acme-v02.api.letsencrypt.org/directory";

/// TLS without a reverse proxy; docs/tls.md shows its use.
#[derive(Args)]
#[command(next_help_heading = "TLS, without a reverse proxy")]
pub struct TlsFlags {
    /// A file with the certificate chain, in PEM. All TCP addresses then use TLS, and redirect requests without TLS. The file
    /// is read again when it changes, and on SIGHUP.
    #[arg(
        long,
        env = "TEAMCHAT_TLS_CERT",
        value_name = "FILE",
        requires = "tls_key",
        conflicts_with = "acme"
    )]
    pub tls_cert: Option<PathBuf>,
    /// A file with the private key of the certificate, in PEM, without a password.
    #[arg(long, env = "TEAMCHAT_TLS_KEY", value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Get a certificate for this name from an ACME server such as Let's Encrypt, and renew it. Several names are separated by
    /// commas, or the flag is repeated. The ACME server must reach this server at port 443 or 80 of the name. By using this
    /// flag you accept the terms of the ACME server.
    #[arg(long, env = "TEAMCHAT_ACME", value_name = "DOMAIN", value_delimiter = ',', value_parser = check_domain)]
    pub acme: Vec<String>,
    /// The email address to which the ACME server sends warnings.
    #[arg(long, env = "TEAMCHAT_ACME_EMAIL", value_name = "EMAIL", requires = "acme", value_parser = parse_email)]
    pub acme_email: Option<String>,
    /// The URL of the directory of the ACME server.
    #[arg(long, env = "TEAMCHAT_ACME_DIRECTORY", value_name = "URL", default_value = LETS_ENCRYPT, requires = "acme", value_parser = parse_https_url)]
    pub acme_directory: String,
    /// A file with CA certificates, in PEM, if the certificate of the ACME server itself is not publicly trusted.
    #[arg(long, env = "TEAMCHAT_ACME_CA", value_name = "FILE", requires = "acme", value_parser = parse_authorities_file)]
    pub acme_ca: Option<PathBuf>,
}

impl TlsFlags {
    /// The source of the certificate, for a server on a database; `None` without TLS.
    pub fn options(&self, database: &Path) -> Option<TlsOptions> {
        if let (Some(certificate), Some(key)) = (self.tls_cert.clone(), self.tls_key.clone()) {
            return Some(TlsOptions::Files { certificate, key });
        }
        if self.acme.is_empty() {
            return None;
        }
        let mut folder = database.as_os_str().to_owned();
        folder.push(".acme");
        Some(TlsOptions::Acme(AcmeOptions {
            domains: self.acme.clone(),
            email: self.acme_email.clone(),
            directory: self.acme_directory.clone(),
            ca: self.acme_ca.clone(),
            folder: folder.into(),
        }))
    }
}
