//! Certificates with their keys, as PEM files hold them.

use crate::types::{SECONDS_PER_DAY, format_days, timestamp};
use jiff::Timestamp;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{Error, InconsistentKeys};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

/// Days before the end of a certificate from which on warnings name it.
const WARNING_DAYS: i64 = 14;

/// The part of the life of a certificate that is left then, if this is less time. A renewal is due before.
const WARNED_PART: i64 = 4;

/// Returns the time from which on warnings name a certificate, in UNIX seconds. Some authorities issue certificates for a day.
pub fn warning_time(not_before: i64, not_after: i64) -> i64 {
    not_after - (WARNING_DAYS * SECONDS_PER_DAY).min((not_after - not_before) / WARNED_PART)
}

/// A certificate that can be used.
pub struct Certificate {
    /// The certificate, those above it, and the key.
    pub key: Arc<CertifiedKey>,
    /// From when on it is valid, in UNIX seconds.
    pub not_before: i64,
    /// Until when it is valid, in UNIX seconds.
    pub not_after: i64,
    /// The names and addresses that it is for, in lower case.
    pub names: Vec<String>,
}

/// Why a certificate cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file has no certificate.
    #[error("{0} has no certificate: it should be PEM, with the lines BEGIN CERTIFICATE and END CERTIFICATE")]
    NoCertificate(PathBuf),
    #[error("the certificate in {0} is damaged")]
    Damaged(PathBuf),
    /// A file has no key.
    #[error("{0} has no private key: it should be PEM, with the lines BEGIN PRIVATE KEY and END PRIVATE KEY")]
    NoKey(PathBuf),
    /// A key has a password.
    #[error("the private key in {0} is encrypted; decrypt it, for example with openssl pkey")]
    EncryptedKey(PathBuf),
    /// A key is of another kind.
    #[error("the private key in {path} cannot be used: {reason}")]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The error of the TLS library.
        reason: String,
    },
    /// The key of another certificate.
    #[error("the private key in {key} does not belong to the certificate in {certificate}")]
    Mismatch {
        /// The file with the certificate.
        certificate: PathBuf,
        /// The file with the key.
        key: PathBuf,
    },
    /// It was valid.
    #[error("the certificate in {path} expired at {since}")]
    Expired {
        /// The file.
        path: PathBuf,
        /// The end of its validity.
        since: Timestamp,
    },
    /// It will be valid, or the clock is wrong.
    #[error(
        "the certificate in {path} is valid from {from} on, and by the clock of this machine it is {now}"
    )]
    NotYetValid {
        /// The file.
        path: PathBuf,
        /// The start of its validity.
        from: Timestamp,
        /// The time of the machine.
        now: Timestamp,
    },
}

impl Certificate {
    /// Reads a certificate and its key from two files, or from one. `now` is in UNIX seconds.
    pub fn read(certificate: &Path, key: &Path, now: i64) -> Result<Self, CertificateError> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|source| CertificateError::Read { path: path.to_owned(), source })
        };
        let (certificate_pem, key_pem) = (read(certificate)?, read(key)?);
        let chain: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(&certificate_pem).collect();
        let chain = chain.map_err(|_| CertificateError::Damaged(certificate.to_owned()))?;
        let Some(first) = chain.first() else {
            return Err(CertificateError::NoCertificate(certificate.to_owned()));
        };
        let parsed = Facts::of(first).ok_or_else(|| CertificateError::Damaged(certificate.to_owned()))?;
        let private = PrivateKeyDer::from_pem_slice(&key_pem).map_err(|_| {
            let is_encrypted = String::from_utf8_lossy(&key_pem).contains("ENCRYPTED");
            if is_encrypted {
                CertificateError::EncryptedKey(key.to_owned())
            } else {
                CertificateError::NoKey(key.to_owned())
            }
        })?;
        let certified = CertifiedKey::from_der(chain, private, &ring::default_provider());
        let certified = certified.map_err(|error| match error {
            Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
                CertificateError::Mismatch { certificate: certificate.to_owned(), key: key.to_owned() }
            }
            error => CertificateError::Unsupported { path: key.to_owned(), reason: error.to_string() },
        })?;
        let path = || certificate.to_owned();
        if parsed.not_after <= now {
            return Err(CertificateError::Expired { path: path(), since: timestamp(parsed.not_after) });
        }
        if parsed.not_before > now {
            let (from, now) = (timestamp(parsed.not_before), timestamp(now));
            return Err(CertificateError::NotYetValid { path: path(), from, now });
        }
        let Facts { not_before, not_after, names } = parsed;
        Ok(Self { key: Arc::new(certified), not_before, not_after, names })
    }

    /// True if the certificate is for a host.
    pub fn is_for(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        self.names.iter().any(|name| match name.strip_prefix("*.") {
            Some(parent) => host.split_once('.').is_some_and(|(_, rest)| rest == parent),
            None => *name == host,
        })
    }

    /// The time until which it is valid.
    pub fn end(&self) -> Timestamp {
        timestamp(self.not_after)
    }
}

/// The parts of a certificate that rustls does not show.
pub struct Facts {
    /// From when on it is valid, in UNIX seconds.
    pub not_before: i64,
    /// Until when it is valid, in UNIX seconds.
    pub not_after: i64,
    /// The names and addresses that it is for, in lower case.
    pub names: Vec<String>,
}

impl Facts {
    /// Reads a certificate; `None` if it is damaged.
    pub fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
        let validity = parsed.validity();
        let names = parsed.subject_alternative_name().ok().flatten();
        let names = names.into_iter().flat_map(|extension| &extension.value.general_names);
        let text = |name: &GeneralName<'_>| match name {
            GeneralName::DNSName(name) => Some(name.to_ascii_lowercase()),
            GeneralName::IPAddress(bytes) => {
                let v4 = <[u8; 4]>::try_from(*bytes).map(IpAddr::from);
                v4.or_else(|_| <[u8; 16]>::try_from(*bytes).map(IpAddr::from)).ok().map(|ip| ip.to_string())
            }
            _ => None,
        };
        Some(Self {
            not_before: validity.not_before.timestamp(),
            not_after: validity.not_after.timestamp(),
            names: names.filter_map(text).collect(),
        })
    }
}

/// Warns of a certificate that ends soon: once a day, and when it has ended.
#[derive(Default)]
pub struct EndWarning {
    /// When it warned last, in UNIX seconds.
    last: Option<i64>,
}

impl EndWarning {
    /// Warns if it is time to. The warning ends with `advice`.
    pub fn check(&mut self, certificate: &Certificate, now: i64, advice: &str) {
        let (begin, end) = (certificate.not_before, certificate.not_after);
        if !self.is_due(begin, end, now) {
            return;
        }
        self.last = Some(now);
        let left = end - now;
        let end = certificate.end();
        if left > 0 {
            let left = format_days(left / SECONDS_PER_DAY);
            tracing::warn!(%end, "the certificate expires in {left}: {advice}");
        } else {
            tracing::error!(%end, "the certificate has expired: clients cannot connect");
        }
    }

    fn is_due(&self, not_before: i64, not_after: i64, now: i64) -> bool {
        let is_news = |last: i64| now >= last + SECONDS_PER_DAY || (last < not_after && now >= not_after);
        now >= warning_time(not_before, not_after) && self.last.is_none_or(is_news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 60 * 60;

    #[test]
    fn the_end_of_a_certificate_is_named_each_day_and_when_it_comes() {
        for (hours, times) in [
            (90 * 24, [76 * 24, 77 * 24, 78 * 24]),
            // A warning in its last hours does not delay the one of its end.
            (24, [18, 24, 48]),
        ] {
            let mut warning = EndWarning::default();
            let mut found = Vec::new();
            for hour in 0..=times[2] {
                if warning.is_due(0, hours * HOUR, hour * HOUR) {
                    warning.last = Some(hour * HOUR);
                    found.push(hour);
                }
            }
            assert_eq!(found, times, "a certificate for {hours} hours");
        }
    }
}
