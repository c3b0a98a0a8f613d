//! The certificate of the server: its files, names and end, and whether clients trust it.

use super::findings::Findings;
use crate::cli::common::Failure;
use crate::cli::serve::Serve;
use std::sync::Arc;
use std::time::Duration;
use teamchat::http_client::{host_name, trusted_roots};
use teamchat::server::tls::{Certificate, Facts, TlsOptions, warning_time};
use teamchat::types::{Clock, timestamp};
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::ServerCertVerifier;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, UnixTime};
use tokio_rustls::rustls::{CertificateError, Error};
use url::Url;

/// Checks the certificate that the flags name.
pub(super) fn check(
    serve: &Serve,
    ca: Option<&str>,
    is_running: bool,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let now = Clock::System.seconds();
    let (read, remedy) = match serve.tls.options(&serve.file.db) {
        None => return Ok(()),
        Some(TlsOptions::Files { certificate, key }) => {
            let remedy = "repair or replace the files; the server reloads them automatically";
            (Certificate::read(&certificate, &key, now), remedy)
        }
        Some(TlsOptions::Acme(options)) => {
            let stored = options.stored();
            if !stored.exists() {
                let remedy = if is_running {
                    "read the log of the server: the ACME server must be able to reach port 443 or 80 of the host name"
                } else {
                    "start the server and read its log: the ACME server must be able to reach port 443 or 80 of the host name"
                };
                findings.warning("certificate", "the ACME server has issued no certificate yet", remedy);
                return Ok(());
            }
            let remedy = if is_running {
                "find the reason in the log of the server"
            } else {
                "start the server, and find the reason in its log"
            };
            (Certificate::read(&stored, &stored, now), remedy)
        }
    };
    let certificate = match read {
        Ok(certificate) => certificate,
        Err(error) => {
            findings.problem("certificate", error, remedy);
            return Ok(());
        }
    };
    let public = serve.public_url.as_deref().and_then(|url| Url::parse(url).ok());
    if let Some(public) = &public {
        let host = public.host_str().unwrap_or_default();
        if !certificate.is_for(host.trim_matches(['[', ']'])) {
            let what = format!(
                "the certificate is for {}, and --public-url has {host}",
                certificate.names.join(", ")
            );
            findings.problem("certificate", what, format!("get a certificate for {host}"));
        }
    }
    let own = certificate
        .names
        .first()
        .and_then(|name| Url::parse(&format!("https://{}", name.replace('*', "any"))).ok());
    if let Some(url) = own {
        check_chain(&certificate.key.cert, &url, ca, findings)?;
    }
    check_end("certificate", certificate.not_before, certificate.not_after, findings);
    Ok(())
}

/// Checks the chain as a client does that knows the authorities of public servers and those of `--ca`.
fn check_chain(
    chain: &[CertificateDer<'_>],
    url: &Url,
    ca: Option<&str>,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let (Some((own, others)), Some(name)) = (chain.split_first(), host_name(url)) else { return Ok(()) };
    let provider = Arc::new(ring::default_provider());
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::new(trusted_roots(ca)?), provider).build()?;
    let now = Duration::from_secs(Clock::System.seconds().unsigned_abs());
    if let Err(error) = verifier.verify_server_cert(own, others, &name, &[], UnixTime::since_unix_epoch(now))
    {
        let (what, remedy) = explain(&error);
        // Clients can be set to trust it.
        findings.warning("certificate", what, remedy);
    }
    Ok(())
}

/// Checks the end of a certificate that a server presented.
pub(super) fn check_presented(certificate: &CertificateDer<'_>, findings: &mut Findings) {
    if let Some(facts) = Facts::of(certificate) {
        check_end("public address", facts.not_before, facts.not_after, findings);
    }
}

fn check_end(check: &'static str, begin: i64, end: i64, findings: &mut Findings) {
    let what = format!("the certificate ends at {}", timestamp(end));
    if Clock::System.seconds() >= warning_time(begin, end) {
        findings.warning(
            check,
            what,
            "renew it; with --acme, the log of the server has the reason why it was not renewed",
        );
    } else {
        findings.ok(check, what);
    }
}

/// A refused certificate in words, and the remedy.
pub(super) fn explain(error: &Error) -> (String, &'static str) {
    let Error::InvalidCertificate(reason) = error else {
        return (format!("TLS fails: {error}"), "make sure that this address supports TLS 1.2 or 1.3");
    };
    match reason {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            ("the certificate has expired".to_owned(), "renew it, and reload the server or the proxy")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            ("the certificate is not valid yet".to_owned(), "set the clock of this machine")
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            ("the certificate is for another name".to_owned(), "get a certificate for the host of --public-url")
        }
        CertificateError::UnknownIssuer => (
            "clients do not trust the certificate: its CA is unknown, or intermediate certificates are missing".to_owned(),
            "put those into the file after the first one (fullchain.pem); an authority of your own has to be installed on \
             each device, and named here with --ca",
        ),
        other => (format!("clients refuse the certificate: {other}"), "get another certificate, for example with --acme"),
    }
}
