//! Handing emails over to a mail server.

use crate::http_client::{self, client_config, trusted_roots};
use crate::smtp::limited::Limited;
use crate::smtp::message::Message;
use crate::smtp::server::{MailServer, Protection};
use lettre::transport::smtp;
use lettre::transport::smtp::authentication::{Credentials, DEFAULT_MECHANISMS};
use lettre::transport::smtp::client::{
    AsyncSmtpConnection, AsyncTokioStream, Certificate, CertificateStore, TlsParameters,
};
use lettre::transport::smtp::commands::{Data, Mail, Quit, Rcpt, Rset};
use lettre::transport::smtp::extension::{ClientId, Extension, MailBodyParameter, MailParameter};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpStream, lookup_host};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// Time limit of the connection, with greeting, TLS and login; and of the commands for one email.
const SETUP_TIMEOUT: Duration = Duration::from_secs(30);
const COMMANDS_TIMEOUT: Duration = Duration::from_secs(60);

/// Time limit of the answer to an email. A mail server that needs longer gets the email again.
const CONTENT_TIMEOUT: Duration = Duration::from_secs(180);

/// Time limit of `RSET`.
const RESET_TIMEOUT: Duration = Duration::from_secs(10);

/// Time limit of `QUIT`, after which the connection is cut.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);

/// The most bytes that the mail server may send on one connection, with those of TLS.
const MAX_RECEIVED: usize = 512 << 10;

/// The longest error that is kept, in characters.
const MAX_ERROR: usize = 500;

/// Words of permanent refusals that are about the sender or the client, with the enhanced status codes of RFC 3463: policy, and the
/// sender's address. Exim has no such codes.
const SENDER_REFUSALS: [&str; 5] = [" 5.7.", "#5.7.", " 5.1.7 ", " 5.1.8 ", "relay not permitted"];

/// The scope of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalKind {
    /// It does not answer, is busy, or does not let the server in: another email would fare no better now.
    Server,
    /// It cannot take this email now, and may take it later.
    Later,
    /// It refuses the receiver or the email for good.
    Letter,
    /// It refuses the content for good. Many providers refuse a sender that they do not know, and an account that has sent too
    /// much, only then: this may be true for all emails.
    Content,
}

/// An email was not handed over.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    /// The meaning for this email and for others.
    pub kind: RefusalKind,
    /// The words of the mail server, or what went wrong, on one line.
    pub text: String,
}

impl Refusal {
    fn new(kind: RefusalKind, text: &str) -> Self {
        let text = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
        Self { kind, text: text.take(MAX_ERROR).collect() }
    }

    fn server(text: &str) -> Self {
        Self::new(RefusalKind::Server, text)
    }
}

/// A connection to a mail server, on which emails are handed over one after the other.
pub struct Connection {
    smtp: AsyncSmtpConnection,
    timeout: Option<Duration>,
}

impl Connection {
    /// Connects and logs in. `limit` replaces the time limits of all steps.
    pub async fn open(server: &MailServer, limit: Option<Duration>) -> Result<Self, Refusal> {
        match timeout(limit.unwrap_or(SETUP_TIMEOUT), connect(server)).await {
            Ok(Ok(smtp)) => Ok(Self { smtp, timeout: limit }),
            Ok(Err(error)) => Err(Refusal::server(&describe(error.as_ref()))),
            Err(_) => Err(Refusal::server("the mail server does not answer in time")),
        }
    }

    /// Hands an email over. After an error the connection is used again only if [`Self::reset`] succeeds.
    pub async fn send(&mut self, sender: &str, message: &Message) -> Result<String, Refusal> {
        let (envelope, content) = message
            .format(sender)
            .map_err(|error| Refusal::new(RefusalKind::Letter, &format!("the email is invalid: {error}")))?;
        let too_slow = |_| Refusal::server("the mail server does not answer in time");
        let commands = async {
            let mut options = Vec::new();
            let addresses = envelope.to().iter().chain(envelope.from());
            if !addresses.into_iter().all(|address| AsRef::<str>::as_ref(address).is_ascii()) {
                if !self.smtp.server_info().supports_feature(Extension::SmtpUtfEight) {
                    let text = "the mail server does not support addresses with letters other than ASCII";
                    return Err(Refusal::new(RefusalKind::Letter, text));
                }
                options.push(MailParameter::SmtpUtfEight);
            }
            if !content.is_ascii() {
                options.push(MailParameter::Body(MailBodyParameter::EightBitMime));
            }
            let mail = Mail::new(envelope.from().cloned(), options);
            // The sender is the same for all emails.
            self.smtp.command(mail).await.map_err(|error| refusal(&error, RefusalKind::Server))?;
            for to in envelope.to() {
                let rcpt = Rcpt::new(to.clone(), Vec::new());
                self.smtp.command(rcpt).await.map_err(|error| recipient_refusal(&error))?;
            }
            self.smtp.command(Data).await.map_err(|error| refusal(&error, RefusalKind::Content))
        };
        timeout(self.timeout.unwrap_or(COMMANDS_TIMEOUT), commands).await.map_err(too_slow)??;
        let sent = timeout(self.timeout.unwrap_or(CONTENT_TIMEOUT), self.smtp.message(&content)).await;
        let answer = sent.map_err(too_slow)?.map_err(|error| refusal(&error, RefusalKind::Content))?;
        let words: Vec<&str> = answer.message().collect();
        Ok(Refusal::server(&format!("{} {}", answer.code(), words.join(" "))).text)
    }

    /// Ends the email that the mail server has refused. Returns true if another one can follow on the connection.
    pub async fn reset(&mut self) -> bool {
        let answer = timeout(self.timeout.unwrap_or(RESET_TIMEOUT), self.smtp.command(Rset)).await;
        answer.is_ok_and(|answer| answer.is_ok())
    }

    /// Ends the session with `QUIT`.
    pub async fn close(mut self) {
        // The emails are with the mail server already.
        let _answer = timeout(QUIT_TIMEOUT, self.smtp.command(Quit)).await;
    }
}

type Failure = Box<dyn Error + Send + Sync>;

async fn connect(server: &MailServer) -> Result<AsyncSmtpConnection, Failure> {
    let addresses: Vec<_> = lookup_host((server.host.as_str(), server.port)).await?.collect();
    let tcp = http_client::connect(&addresses).await?;
    let (peer, name) = (tcp.peer_addr()?, hello_name(server, &tcp)?);
    let limited = Limited::new(tcp, peer, MAX_RECEIVED);
    let stream: Box<dyn AsyncTokioStream> = if server.protection == Protection::Implicit {
        let config = client_config(trusted_roots(server.authorities.as_deref())?)?;
        let host = ServerName::try_from(server.host.clone())?;
        let stream = TlsConnector::from(Arc::new(config)).connect(host, limited).await?;
        Box::new(Limited::new(stream, peer, MAX_RECEIVED))
    } else {
        Box::new(limited)
    };
    let mut smtp = AsyncSmtpConnection::connect_with_transport(stream, &name).await?;
    let mut is_protected = server.protection == Protection::Implicit;
    let wants_tls = match server.protection {
        Protection::Required => true,
        Protection::Opportunistic => smtp.can_starttls(),
        Protection::None | Protection::Implicit => false,
    };
    if wants_tls {
        if !smtp.can_starttls() {
            return Err("the mail server does not offer STARTTLS, and --smtp-url requires TLS".into());
        }
        let is_checked = server.protection == Protection::Required || server.credentials.is_some();
        smtp.starttls(tls_parameters(server, is_checked)?, &name).await?;
        is_protected = true;
    }
    if let Some((name, password)) = &server.credentials {
        if !is_protected && server.protection != Protection::None {
            let text = "the mail server does not offer STARTTLS, and the password is not sent without TLS; tls=none in \
                        --smtp-url allows it";
            return Err(text.into());
        }
        let credentials = Credentials::new(name.clone(), password.clone());
        smtp.auth(DEFAULT_MECHANISMS, &credentials).await.map_err(|error| {
            Failure::from(format!("the mail server refuses the login of --smtp-url: {}", describe(&error)))
        })?;
    }
    Ok(smtp)
}

/// The name by which the server greets, or its address, as those without a name do. Some mail servers refuse addresses, above all
/// private ones.
fn hello_name(server: &MailServer, tcp: &TcpStream) -> std::io::Result<ClientId> {
    if let Some(name) = &server.client_name {
        return Ok(ClientId::Domain(name.clone()));
    }
    Ok(match tcp.local_addr()?.ip().to_canonical() {
        std::net::IpAddr::V4(address) => ClientId::Ipv4(address),
        std::net::IpAddr::V6(address) => ClientId::Ipv6(address),
    })
}

fn tls_parameters(server: &MailServer, is_checked: bool) -> Result<TlsParameters, smtp::Error> {
    let mut builder =
        TlsParameters::builder(server.host.clone()).certificate_store(CertificateStore::WebpkiRoots);
    if let Some(authorities) = &server.authorities {
        builder = builder.add_root_certificate(Certificate::from_pem(authorities.as_bytes())?);
    }
    // Without a check, as mail servers among each other: anyone who can be in the way could also leave TLS out.
    builder
        .dangerous_accept_invalid_certs(!is_checked)
        .dangerous_accept_invalid_hostnames(!is_checked)
        .build_rustls()
}

/// The refusal of a command. `permanent` is what a permanent one is about.
fn refusal(error: &smtp::Error, permanent: RefusalKind) -> Refusal {
    let code = error.status().map(u16::from);
    let kind = match code {
        // The mail server closes the connection, or asks for a login.
        Some(421 | 530 | 535 | 538) => RefusalKind::Server,
        Some(500..) => permanent,
        Some(_) if permanent != RefusalKind::Server => RefusalKind::Later,
        _ => RefusalKind::Server,
    };
    Refusal::new(kind, &describe(error))
}

/// The refusal of a recipient. Mail servers such as Postfix refuse the sender and the client here too, once they know all of the
/// envelope. The operator can change what they complain about, so such emails wait.
fn recipient_refusal(error: &smtp::Error) -> Refusal {
    let mut refusal = refusal(error, RefusalKind::Letter);
    let has = |words: &&str| refusal.text.contains(words);
    if refusal.kind == RefusalKind::Letter && SENDER_REFUSALS.iter().any(has) {
        refusal.kind = RefusalKind::Later;
    }
    refusal
}

/// The words of the mail server with their code, or the error with its causes.
fn describe(error: &(dyn Error + 'static)) -> String {
    if let Some(smtp) = error.downcast_ref::<smtp::Error>() {
        let words = smtp.source().map(ToString::to_string).unwrap_or_default();
        return match smtp.status() {
            Some(code) => format!("{code} {words}"),
            None if words.is_empty() => smtp.to_string(),
            None => words,
        };
    }
    error.to_string()
}
