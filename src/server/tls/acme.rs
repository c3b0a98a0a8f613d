//! Certificates from an ACME server (RFC 8555), such as Let's Encrypt.
//!
//! The server checks that we answer at the names: by TLS at the first attempt (TLS-ALPN-01), by HTTP at the next one
//! (HTTP-01), and so on. Every TCP socket answers both. The account and the certificate are files in a folder beside the
//! database.

use super::certificate::{Certificate, CertificateError, EndWarning};
use super::resolver::Certificates;
use crate::http_client::{Outgoing, Permission, TlsClient, send, with_causes};
use crate::store::create_private;
use crate::types::{Clock, timestamp};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response};
use instant_acme::{
    Account, AccountBuilder, AccountCredentials, AuthorizationStatus, BodyWrapper, BytesResponse,
    ChallengeType, Error, HttpClient, Identifier, NewAccount, NewOrder, Order, OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, CustomExtension, DistinguishedName, KeyPair};
use serde::{Deserialize, Serialize};
use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::Notify;
use tokio_rustls::rustls::crypto::ring::sign::any_supported_type;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;
use tokio_rustls::rustls::sign::CertifiedKey;
use url::{Host, Url};

/// The longest sleep, so that a clock that jumps is noticed.
const MAX_SLEEP: Duration = Duration::from_secs(60 * 60);

/// Time between the check by TLS that failed and that by HTTP.
const SECOND_CHECK: Duration = Duration::from_secs(5);

/// Time until the next attempt after both have failed, and the longest one. It doubles each time.
const RETRY: Duration = Duration::from_secs(60);
const MAX_RETRY: Duration = Duration::from_secs(6 * 60 * 60);

/// Time limit for the checks of the ACME server, and for the certificate.
const PATIENCE: Duration = Duration::from_secs(120);

/// Time limit of an attempt. A server that stops answering would otherwise end renewals.
const ATTEMPT: Duration = Duration::from_secs(10 * 60);

/// The largest answer of the ACME server that is read, in bytes.
const ANSWER_LIMIT: usize = 512 << 10;

/// The error of an ACME server that does not know the account.
const NO_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";

/// The end of the warning of a certificate that ends soon. There are no files that the operator could replace.
const NOT_RENEWED: &str = "the log has the reason why it was not renewed";

/// A certificate is renewed when this part of its life is left.
const RENEWED_PART: i64 = 3;

/// Settings for certificates from an ACME server.
#[derive(Clone, Debug)]
pub struct AcmeOptions {
    /// The names of the certificate, at least one.
    pub domains: Vec<String>,
    /// The address for warnings of the ACME server.
    pub email: Option<String>,
    /// The URL of its directory.
    pub directory: String,
    /// A file with certificates of authorities for its own, beside those of public servers.
    pub ca: Option<PathBuf>,
    /// The folder for the account and the certificate.
    pub folder: PathBuf,
}

impl AcmeOptions {
    /// The file with the certificate that was issued last, and its key.
    pub fn stored(&self) -> PathBuf {
        self.folder.join(CERTIFICATE)
    }
}

/// A certificate from an ACME server, and its state on the disk.
pub struct Acme {
    options: AcmeOptions,
}

/// The folder for the account and the certificate cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("the folder {path} for the certificate cannot be used: {source}")]
pub struct FolderError {
    path: PathBuf,
    source: io::Error,
}

/// The account at the certificate authority, as its file has it.
#[derive(Serialize, Deserialize)]
struct StoredAccount {
    /// The directory that it belongs to.
    directory: String,
    credentials: AccountCredentials,
}

/// Why there is no certificate yet.
#[derive(Debug, thiserror::Error)]
enum AcmeError {
    #[error("{0}")]
    Server(#[from] Error),
    #[error("the ACME server refuses {name}: {reason}")]
    Refused { name: String, reason: String },
    #[error("the ACME server offers no check of {0} that this server supports")]
    NoCheck(String),
    #[error("the order is {0:?}")]
    Order(OrderStatus),
    #[error("the ACME server does not answer in time")]
    TimedOut,
    #[error("the request for a certificate cannot be written: {0}")]
    Request(#[from] rcgen::Error),
    #[error("{0}")]
    Certificate(#[from] CertificateError),
    #[error("the answer to a check cannot be signed: {0}")]
    Check(#[from] tokio_rustls::rustls::Error),
    #[error("the certificate cannot be stored: {0}")]
    Store(#[from] io::Error),
}

/// Checks a name for a certificate. Addresses and wildcards cannot be checked by TLS or HTTP.
pub fn check_domain(text: &str) -> Result<String, String> {
    let usage = "write a name such as chat.example.com";
    if text.starts_with("*.") {
        return Err(format!("wildcard certificates need a check by DNS, which is not supported; {usage}"));
    }
    match Host::parse(text) {
        Ok(Host::Domain(name))
            if name.chars().all(|char| char.is_ascii_alphanumeric() || "-.".contains(char)) =>
        {
            Ok(name)
        }
        Ok(Host::Domain(_)) | Err(_) => Err(format!("'{text}' is not a host name; {usage}")),
        Ok(_) => Err(format!("'{text}' is an address; {usage}")),
    }
}

impl Acme {
    /// Reads what is stored. The folder is created if it is missing.
    pub fn open(options: &AcmeOptions, now: i64, certificates: &Certificates) -> Result<Self, FolderError> {
        let failed = |source| FolderError { path: options.folder.clone(), source };
        create_folder(&options.folder).map_err(failed)?;
        // Written once, so that a folder that cannot be written is an error at the start.
        write_private(&options.folder.join("README"), README.as_bytes()).map_err(failed)?;
        certificates.end.is_issued.store(true, Ordering::Relaxed);
        let acme = Self { options: options.clone() };
        acme.use_stored(now, certificates);
        Ok(acme)
    }

    /// Uses the certificate that was issued last, if it is valid at a time and for all names.
    fn use_stored(&self, now: i64, certificates: &Certificates) -> Option<Certificate> {
        let stored = self.options.stored();
        let stored = Certificate::read(&stored, &stored, now).ok();
        let stored = stored.filter(|stored| self.options.domains.iter().all(|name| stored.is_for(name)))?;
        certificates.set(&stored);
        Some(stored)
    }

    /// True if the certificate is for a host.
    pub fn is_for(&self, host: &str) -> bool {
        self.options.domains.iter().any(|name| name == host)
    }

    /// Gets a certificate, and the next one before it ends. `reload` ends the time until the next attempt.
    pub async fn run(&self, certificates: &Certificates, clock: &Clock, reload: &Notify) {
        let mut current: Option<Certificate> = None;
        let mut warning = EndWarning::default();
        let (mut failures, mut retry) = (0, RETRY);
        loop {
            // Each time: a machine without a battery may not know at the start that the certificate is valid.
            current = current.or_else(|| self.use_stored(clock.seconds(), certificates));
            let due = current.as_ref().map_or(i64::MIN, renewal_time);
            let left = due.saturating_sub(clock.seconds());
            if left > 0 {
                let left = Duration::from_secs(left.unsigned_abs());
                tokio::select! {
                    () = tokio::time::sleep(left.min(MAX_SLEEP)) => {}
                    () = reload.notified() => {
                        tracing::info!(due = %timestamp(due), "the certificate is renewed when it is due");
                    }
                }
                continue;
            }
            let check = if failures % 2 == 0 { ChallengeType::TlsAlpn01 } else { ChallengeType::Http01 };
            let obtained = self.attempt(certificates, check, clock).await;
            certificates.clear_checks();
            match obtained {
                Ok(certificate) => {
                    tracing::info!(names = certificate.names.join(", "), end = %certificate.end(), "a certificate was issued");
                    certificates.set(&certificate);
                    current = Some(certificate);
                    warning = EndWarning::default();
                    (failures, retry) = (0, RETRY);
                }
                Err(error) => {
                    let wait = if failures % 2 == 0 { SECOND_CHECK } else { retry };
                    let again = wait.as_secs();
                    let error = with_causes(&error);
                    tracing::warn!(%error, "no certificate was issued; the next attempt follows in {again} seconds");
                    if let Some(current) = &current {
                        warning.check(current, clock.seconds(), NOT_RENEWED);
                    }
                    tokio::select! {
                        () = tokio::time::sleep(wait) => {}
                        () = reload.notified() => tracing::info!("the ACME server is asked again"),
                    }
                    failures += 1;
                    if failures % 2 == 0 {
                        retry = (retry * 2).min(MAX_RETRY);
                    }
                }
            }
        }
    }

    /// Orders and stores a certificate within the time limit.
    async fn attempt(
        &self,
        certificates: &Certificates,
        check: ChallengeType,
        clock: &Clock,
    ) -> Result<Certificate, AcmeError> {
        let obtained = tokio::time::timeout(ATTEMPT, self.obtain(certificates, check, clock)).await;
        let obtained = obtained.unwrap_or(Err(AcmeError::TimedOut));
        if let Err(AcmeError::Server(Error::Api(problem))) = &obtained
            && problem.r#type.as_deref() == Some(NO_ACCOUNT)
        {
            // The ACME server has lost its accounts. The next attempt creates another one.
            let _absent = std::fs::remove_file(self.options.folder.join(ACCOUNT));
        }
        obtained
    }

    /// Orders a certificate, answers the checks, and stores it.
    async fn obtain(
        &self,
        certificates: &Certificates,
        check: ChallengeType,
        clock: &Clock,
    ) -> Result<Certificate, AcmeError> {
        let account = self.account().await?;
        let names: Vec<_> = self.options.domains.iter().cloned().map(Identifier::Dns).collect();
        let mut order = account.new_order(&NewOrder::new(&names)).await?;
        answer_checks(&mut order, certificates, &check).await?;
        let policy = RetryPolicy::new().timeout(PATIENCE);
        let error = match order.poll_ready(&policy).await {
            Ok(OrderStatus::Ready) => None,
            Ok(status) => Some(AcmeError::Order(status)),
            Err(error) => Some(AcmeError::Server(error)),
        };
        if let Some(error) = error {
            return Err(reason(&mut order).await.unwrap_or(error));
        }
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::new(self.options.domains.clone())?;
        params.distinguished_name = DistinguishedName::new();
        order.finalize_csr(params.serialize_request(&key)?.der()).await?;
        let chain = order.poll_certificate(&policy).await?;
        // In one file, so that a crash leaves the old certificate or the new one.
        let path = self.options.folder.join(CERTIFICATE);
        let draft = self.options.folder.join("certificate.new");
        write_private(&draft, format!("{}{chain}", key.serialize_pem()).as_bytes())?;
        let certificate = Certificate::read(&draft, &draft, clock.seconds())?;
        std::fs::rename(&draft, &path)?;
        Ok(certificate)
    }

    /// The account of earlier orders, or a new one.
    async fn account(&self) -> Result<Account, AcmeError> {
        let path = self.options.folder.join(ACCOUNT);
        let builder = self.builder()?;
        let stored = std::fs::read(&path).ok();
        let stored = stored.and_then(|text| serde_json::from_slice::<StoredAccount>(&text).ok());
        if let Some(stored) = stored.filter(|stored| stored.directory == self.options.directory) {
            return Ok(builder.from_credentials(stored.credentials).await?);
        }
        let contact = self.options.email.as_ref().map(|email| format!("mailto:{email}"));
        let contact: Vec<&str> = contact.iter().map(String::as_str).collect();
        let new =
            NewAccount { contact: &contact, terms_of_service_agreed: true, only_return_existing: false };
        let directory = self.options.directory.clone();
        let (account, credentials) = builder.create(&new, directory.clone(), None).await?;
        let stored =
            serde_json::to_vec(&StoredAccount { directory, credentials }).map_err(io::Error::from)?;
        write_private(&path, &stored)?;
        Ok(account)
    }

    /// A client for the requests of an attempt. The file of authorities may have changed since the last one.
    fn builder(&self) -> Result<AccountBuilder, Error> {
        let read = |path: &PathBuf| {
            let text = std::fs::read_to_string(path);
            text.map_err(|error| Error::Other(format!("{}: {error}", path.display()).into()))
        };
        let authorities = self.options.ca.as_ref().map(read).transpose()?;
        Ok(Account::builder_with_http(Box::new(AcmeClient(Arc::new(TlsClient::trusting(authorities))))))
    }
}

/// Sends the requests of the ACME library. It trusts the authorities that the program has: a container may have no others.
struct AcmeClient(Arc<TlsClient>);

impl HttpClient for AcmeClient {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Answered> + Send>> {
        Box::pin(exchange(Arc::clone(&self.0), request))
    }
}

/// The response to a request of the ACME library.
type Answered = Result<BytesResponse, Error>;

async fn exchange(tls: Arc<TlsClient>, request: Request<BodyWrapper<Bytes>>) -> Answered {
    let (head, body) = request.into_parts();
    let url = Url::parse(&head.uri.to_string()).ok().filter(|url| url.scheme() == "https");
    let url = url.ok_or_else(|| Error::Other("the ACME server names an address without https".into()))?;
    let text = |name: &'static str| Some((name, head.headers.get(name)?.to_str().ok()?.to_owned()));
    let headers = ["content-type", "user-agent"].into_iter().filter_map(text).collect();
    let Ok(body) = body.collect().await;
    let outgoing = Outgoing {
        method: head.method,
        url: &url,
        // The operator names the server.
        permission: Permission::Any,
        headers,
        body: body.to_bytes(),
        // That of the attempt is shorter.
        timeout: 2 * ATTEMPT,
        answer_limit: Some(ANSWER_LIMIT),
        file: None,
        tls: Some(&tls),
    };
    let answer = send(outgoing).await.map_err(|failure| Error::Other(format!("{url}: {failure}").into()))?;
    let mut response = Response::builder().status(answer.status).body(Full::new(answer.body))?;
    *response.headers_mut() = answer.headers;
    Ok(response.into())
}

/// The file with the key and the certificates.
const CERTIFICATE: &str = "certificate.pem";

/// The file with the account.
const ACCOUNT: &str = "account.json";

const README: &str =
    "The ACME account and the certificate of teamchat serve --acme. Without them, new ones are made.\n";

/// When a certificate is renewed, in UNIX seconds.
fn renewal_time(certificate: &Certificate) -> i64 {
    certificate.not_after - (certificate.not_after - certificate.not_before) / RENEWED_PART
}

/// Prepares the answer to the check of each name, and asks for the checks.
async fn answer_checks(
    order: &mut Order,
    certificates: &Certificates,
    check: &ChallengeType,
) -> Result<(), AcmeError> {
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        let name = authorization.identifier().to_string();
        match authorization.status {
            AuthorizationStatus::Pending => {}
            AuthorizationStatus::Valid => continue,
            status => return Err(AcmeError::Refused { name, reason: format!("the check is {status:?}") }),
        }
        let is_offered = authorization.challenges.iter().any(|challenge| challenge.r#type == *check);
        let kind = match (is_offered, check) {
            (true, check) => check.clone(),
            (false, ChallengeType::TlsAlpn01) => ChallengeType::Http01,
            (false, _) => ChallengeType::TlsAlpn01,
        };
        let mut challenge =
            authorization.challenge(kind.clone()).ok_or_else(|| AcmeError::NoCheck(name.clone()))?;
        let answer = challenge.key_authorization();
        if kind == ChallengeType::TlsAlpn01 {
            certificates.add_check(&name, check_certificate(&name, answer.digest().as_ref())?);
        } else {
            certificates.add_token(&challenge.token, answer.as_str());
        }
        let refused = |error: Error| AcmeError::Refused { name, reason: error.to_string() };
        challenge.set_ready().await.map_err(refused)?;
    }
    Ok(())
}

/// The certificate that answers a check by TLS.
fn check_certificate(name: &str, digest: &[u8]) -> Result<CertifiedKey, AcmeError> {
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(vec![name.to_owned()])?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let certificate = params.self_signed(&key)?;
    let key = PrivateKeyDer::try_from(key.serialize_der()).map_err(io::Error::other)?;
    // `from_der` would refuse the extension, which it does not know.
    Ok(CertifiedKey::new(vec![certificate.der().clone()], any_supported_type(&key)?))
}

/// The reason for a failed check, as the ACME server gives it.
async fn reason(order: &mut Order) -> Option<AcmeError> {
    let mut authorizations = order.authorizations();
    while let Some(Ok(mut authorization)) = authorizations.next().await {
        let name = authorization.identifier().to_string();
        let state = authorization.refresh().await.ok()?;
        let error = state.challenges.iter().find_map(|challenge| challenge.error.as_ref());
        if let Some(error) = error {
            return Some(AcmeError::Refused { name, reason: error.to_string() });
        }
    }
    None
}

#[cfg(unix)]
fn create_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create_folder(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// Writes a file that only its owner can read.
fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = create_private(path)?;
    file.write_all(content)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn a_server_that_stops_answering_ends_the_attempt() {
        let folder = tempfile::tempdir().unwrap();
        let ca = folder.path().join("ca.pem");
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        std::fs::write(&ca, certificate.pem()).unwrap();
        // Connections to it are made, and nothing is read from them.
        let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let options = AcmeOptions {
            domains: vec!["chat.example.com".to_owned()],
            email: None,
            directory: format!("https://{}/dir", silent.local_addr().unwrap()),
            ca: Some(ca),
            folder: folder.path().join("acme"),
        };
        let certificates = Certificates::default();
        let acme = Acme::open(&options, 0, &certificates).unwrap();
        let attempt = acme.attempt(&certificates, ChallengeType::TlsAlpn01, &Clock::System);
        let failed = timeout(2 * ATTEMPT, attempt).await.expect("the attempt ends");
        assert!(matches!(failed, Err(AcmeError::TimedOut)));
    }

    #[tokio::test]
    async fn a_stored_certificate_is_used_when_the_clock_is_right() {
        const NAME: &str = "chat.example.com";
        let folder = tempfile::tempdir().unwrap();
        let server = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let options = AcmeOptions {
            domains: vec![NAME.to_owned()],
            email: None,
            directory: format!("https://{}/dir", server.local_addr().unwrap()),
            ca: None,
            folder: folder.path().to_owned(),
        };
        let key = KeyPair::generate().unwrap();
        // It is valid from 1975 on.
        let issued = CertificateParams::new(vec![NAME.to_owned()]).unwrap().self_signed(&key).unwrap();
        std::fs::write(options.stored(), format!("{}{}", key.serialize_pem(), issued.pem())).unwrap();
        let (certificates, clock) = (Certificates::default(), Clock::manual(0));
        let acme = Acme::open(&options, clock.seconds(), &certificates).unwrap();
        let end = || certificates.end.time.load(Ordering::Relaxed);
        assert_eq!(end(), 0);
        clock.set_wall(1_790_000_000);
        let reload = Notify::new();
        let is_used = async {
            while end() == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! {
            () = is_used => {}
            () = acme.run(&certificates, &clock, &reload) => {}
            _ = server.accept() => panic!("another certificate is ordered"),
        }
    }

    #[test]
    fn certificates_are_for_names_of_hosts() {
        assert_eq!(check_domain("Chat.Example.com").unwrap(), "chat.example.com");
        for (text, expected) in [
            ("*.example.com", "need a check by DNS"),
            ("203.0.113.1", "is an address"),
            ("[::1]", "is an address"),
            ("https://chat.example.com", "is not a host name"),
            ("chat_1.example.com", "is not a host name"),
            ("", "is not a host name"),
        ] {
            assert!(check_domain(text).unwrap_err().contains(expected), "{text}");
        }
    }
}
