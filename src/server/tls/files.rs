//! A certificate in files, read again when they change.

use super::certificate::{Certificate, CertificateError, EndWarning};
use super::resolver::Certificates;
use crate::types::Clock;
use parking_lot::Mutex;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tokio::sync::Notify;

/// Interval in which the files are looked at.
const INTERVAL: Duration = Duration::from_secs(2);

/// A certificate and its key, in files.
pub struct Files {
    certificate: PathBuf,
    key: PathBuf,
    state: Mutex<State>,
}

struct State {
    current: Certificate,
    /// The files when they were read last.
    read: Marks,
    warning: EndWarning,
}

/// Time of change and length of both files.
type Marks = [Option<(SystemTime, u64)>; 2];

impl Files {
    pub fn read(
        certificate: &Path,
        key: &Path,
        now: i64,
        certificates: &Certificates,
    ) -> Result<Self, CertificateError> {
        let read = marks(certificate, key);
        let current = Certificate::read(certificate, key, now)?;
        certificates.set(&current);
        let state = Mutex::new(State { current, read, warning: EndWarning::default() });
        Ok(Self { certificate: certificate.to_owned(), key: key.to_owned(), state })
    }

    /// True if the certificate is for a host.
    pub fn is_for(&self, host: &str) -> bool {
        self.state.lock().current.is_for(host)
    }

    /// Reads the files when they have changed, or on request. Files that cannot be used are a warning, and the
    /// certificate stays.
    pub async fn watch(&self, certificates: &Certificates, clock: &Clock, reload: &Notify) {
        loop {
            let is_requested = tokio::select! {
                () = tokio::time::sleep(INTERVAL) => false,
                () = reload.notified() => true,
            };
            let mut state = self.state.lock();
            let now = clock.seconds();
            let marks = marks(&self.certificate, &self.key);
            if is_requested || marks != state.read {
                state.read = marks;
                match Certificate::read(&self.certificate, &self.key, now) {
                    Ok(certificate) => {
                        tracing::info!(end = %certificate.end(), "the certificate was read again");
                        certificates.set(&certificate);
                        state.current = certificate;
                        state.warning = EndWarning::default();
                    }
                    Err(error) => tracing::warn!(%error, "the certificate was not replaced"),
                }
            }
            let State { current, warning, .. } = &mut *state;
            warning.check(current, now, "replace it");
        }
    }
}

fn marks(certificate: &Path, key: &Path) -> Marks {
    [certificate, key].map(|path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    })
}
