//! A session of SMTP or LMTP.

use super::wire::{BadCommand, BadMail, Wire};
use crate::app::App;
use crate::domain::limits::MAX_FILE_UPLOAD_SIZE_MIB;
use crate::domain::mail;
use crate::domain::mail_in::{self, Mail, OwnMail, Recipient, Unreadable};
use crate::error::ApiResult;
use crate::http::budgets::Budget;
use crate::pool::Owner;
use crate::types::{MailPattern, address_block};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::Instant;

/// The largest mail, in MiB, unless uploads are smaller. Files are a third larger in mails.
const MAX_MAIL_MIB: u64 = 25;

/// The most recipients of a mail in LMTP, which has a reply for each. In SMTP a mail has one reply, so that one recipient at a
/// time is taken: the client sends the mail again for the others, and none is lost if only some can be delivered.
const MAX_RECIPIENTS: usize = 50;

/// The most commands of a session, and the most that are refused.
const MAX_COMMANDS: usize = 1000;
const MAX_REFUSALS: usize = 20;

/// The time that the reply about a recipient takes, so that it does not reveal how an address was looked up.
const RECIPIENT_TIME: Duration = Duration::from_millis(50);

/// The state that sessions share.
pub struct Shared {
    /// The state of the server.
    pub app: Arc<App>,
    /// The memory for mails that arrive.
    pub budget: Budget,
}

impl Shared {
    /// Looks up a recipient.
    async fn find(&self, address: &str) -> ApiResult<Option<Recipient>> {
        let app = &self.app;
        let Some(pattern) = &app.options.mail_pattern else { return Ok(None) };
        app.readers.read(|snapshot| Recipient::find(snapshot, pattern, address)).await
    }

    /// Reads a mail; otherwise the reply that refuses it.
    async fn read(&self, raw: Vec<u8>) -> Result<Mail, &'static str> {
        let app = &self.app;
        let read = match app.readers.read(|snapshot| mail::setup(snapshot)).await {
            Ok(setup) => {
                let pattern = app.options.mail_pattern.clone();
                let own = OwnMail { pattern, host: setup.map(|setup| setup.host()) };
                app.pools.rendering.run(None, move || mail_in::read(&raw, &own)).await
            }
            Err(error) => Err(error),
        };
        match read {
            Ok(Ok(mail)) => Ok(mail),
            Ok(Err(Unreadable::TooManyParts)) => Err("554 5.6.0 The mail has too many parts"),
            Ok(Err(Unreadable::HeadersTooLong)) => Err("554 5.6.0 The headers are too long"),
            Ok(Err(Unreadable::HeadersMalformed)) => Err("554 5.6.0 The headers are malformed"),
            Err(error) => {
                tracing::warn!(%error, "a mail could not be read");
                Err("451 4.3.0 Try again later")
            }
        }
    }

    /// Sends a mail to a recipient, and returns the reply.
    async fn deliver(&self, mail: &Arc<Mail>, recipient: &Recipient) -> &'static str {
        match mail_in::deliver(&self.app, mail, recipient).await {
            Ok(()) => "250 2.0.0 OK",
            Err(error) if error.status() == 429 => "451 4.7.1 Too many mails: try again later",
            Err(error) => {
                tracing::warn!(%error, "a mail could not be delivered yet");
                "451 4.3.0 Try again later"
            }
        }
    }
}

pub struct Session<S> {
    shared: Arc<Shared>,
    wire: Wire<S>,
    peer: IpAddr,
    protocol: Option<Protocol>,
    /// The sender of the mail that is begun; empty for notes about mails that could not be delivered.
    sender: Option<String>,
    recipients: Vec<Recipient>,
    refusals: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Protocol {
    Smtp,
    Lmtp,
}

/// The next step after a command.
enum Next {
    /// A reply. A refusal begins with 5.
    Reply(String),
    /// A reply, and the end of the connection.
    Close(&'static str),
    /// The mail.
    Data,
}

impl Next {
    fn reply(text: &str) -> Self {
        Self::Reply(text.to_owned())
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Session<S> {
    /// A session on a new connection.
    pub fn new(shared: Arc<Shared>, stream: S, peer: IpAddr) -> Self {
        let wire = Wire::new(stream);
        Self { shared, wire, peer, protocol: None, sender: None, recipients: Vec::new(), refusals: 0 }
    }

    /// Runs the session to its end.
    pub async fn run(mut self, stopped: watch::Receiver<bool>) {
        if let Err(error) = self.talk(stopped).await {
            tracing::debug!(peer = %self.peer, %error, "a connection for mail ended early");
        }
    }

    async fn talk(&mut self, mut stopped: watch::Receiver<bool>) -> io::Result<()> {
        let greeting = format!("220 {} ESMTP ready", self.host());
        self.wire.reply(&greeting).await?;
        for _ in 0..MAX_COMMANDS {
            let command = tokio::select! {
                command = self.wire.command() => Some(command),
                _ = stopped.changed() => None,
            };
            let Some(command) = command else {
                return self.wire.reply("421 4.3.2 The server is stopping").await;
            };
            let next = match command {
                Ok(command) => self.take(&command).await,
                Err(BadCommand::Ended) => return Ok(()),
                Err(BadCommand::TooLong) => Next::Close("500 5.5.2 The line is too long"),
                Err(BadCommand::Malformed) => Next::Close("500 5.5.2 Lines are UTF-8 and end with CRLF"),
            };
            match next {
                Next::Reply(reply) => {
                    self.refusals += usize::from(reply.starts_with('5'));
                    if self.refusals > MAX_REFUSALS {
                        return self.wire.reply("421 4.7.0 Too many errors").await;
                    }
                    self.wire.reply(&reply).await?;
                }
                Next::Close(reply) => return self.wire.reply(reply).await,
                Next::Data => {
                    if !self.receive().await? {
                        return Ok(());
                    }
                }
            }
        }
        self.wire.reply("421 4.7.0 Too many commands").await
    }

    fn host(&self) -> &str {
        self.shared.app.options.mail_pattern.as_ref().map_or("localhost", MailPattern::domain)
    }

    /// The largest mail, in bytes.
    fn most(&self) -> usize {
        let upload = self.shared.app.options.max_file_upload_size_mib.unwrap_or(MAX_FILE_UPLOAD_SIZE_MIB);
        usize::try_from(MAX_MAIL_MIB.min(upload) << 20).unwrap_or(usize::MAX)
    }

    async fn take(&mut self, command: &str) -> Next {
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        match verb.trim().to_ascii_uppercase().as_str() {
            "HELO" => self.greet(Protocol::Smtp, rest, false),
            "EHLO" => self.greet(Protocol::Smtp, rest, true),
            "LHLO" => self.greet(Protocol::Lmtp, rest, true),
            "MAIL" => self.begin(rest),
            "RCPT" => self.add_recipient(rest).await,
            "DATA" if self.recipients.is_empty() => Next::reply("503 5.5.1 There are no recipients"),
            "DATA" if !rest.trim().is_empty() => Next::reply("501 5.5.4 DATA has no parameters"),
            // A client that does not wait for the reply cannot know whether its mail is read as commands.
            "DATA" if self.wire.has_more() => Next::Close("554 5.5.0 The mail comes after the reply to DATA"),
            "DATA" => Next::Data,
            "RSET" => {
                self.reset();
                Next::reply("250 2.0.0 OK")
            }
            "NOOP" => Next::reply("250 2.0.0 OK"),
            "VRFY" => Next::reply("252 2.5.0 Send a mail to find out"),
            "QUIT" => Next::Close("221 2.0.0 Goodbye"),
            "EXPN" | "HELP" | "STARTTLS" | "AUTH" | "BDAT" | "TURN" | "ETRN" => {
                Next::reply("502 5.5.1 There is no such command here")
            }
            _ => Next::reply("500 5.5.1 Unknown command"),
        }
    }

    fn reset(&mut self) {
        self.sender = None;
        self.recipients.clear();
    }

    fn greet(&mut self, protocol: Protocol, client: &str, is_extended: bool) -> Next {
        if client.trim().is_empty() {
            return Next::reply("501 5.5.4 The name of the client is missing");
        }
        self.reset();
        self.protocol = Some(protocol);
        let host = self.host();
        if !is_extended {
            return Next::Reply(format!("250 {host}"));
        }
        let size = self.most();
        Next::Reply(format!(
            "250-{host}\r\n250-PIPELINING\r\n250-SIZE {size}\r\n250-8BITMIME\r\n250-ENHANCEDSTATUSCODES\r\n250 SMTPUTF8"
        ))
    }

    /// `MAIL FROM:<address>` with parameters.
    fn begin(&mut self, rest: &str) -> Next {
        if self.protocol.is_none() {
            return Next::reply("503 5.5.1 Say EHLO or LHLO first");
        }
        if self.sender.is_some() {
            return Next::reply("503 5.5.1 A mail is begun already");
        }
        let Some((sender, parameters)) = path(rest, "FROM:") else {
            return Next::reply("501 5.5.4 Write MAIL FROM:<address>");
        };
        for parameter in parameters.split_ascii_whitespace() {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match (name.to_ascii_uppercase().as_str(), value.to_ascii_uppercase().as_str()) {
                ("SIZE", size) => match size.parse::<u64>() {
                    Ok(size) if size > self.most() as u64 => {
                        return Next::reply("552 5.3.4 The mail is too large");
                    }
                    Ok(_) => {}
                    Err(_) => return Next::reply("501 5.5.4 SIZE is a number"),
                },
                ("BODY", "7BIT" | "8BITMIME") | ("SMTPUTF8", "") => {}
                _ => return Next::reply("555 5.5.4 Unknown parameter"),
            }
        }
        self.sender = Some(sender.to_owned());
        Next::reply("250 2.1.0 OK")
    }

    /// `RCPT TO:<address>`.
    async fn add_recipient(&mut self, rest: &str) -> Next {
        let Some(sender) = &self.sender else { return Next::reply("503 5.5.1 Say MAIL first") };
        // Notes about mails that could not be delivered are answers of programs.
        let is_note = sender.is_empty();
        let Some((address, parameters)) = path(rest, "TO:") else {
            return Next::reply("501 5.5.4 Write RCPT TO:<address>");
        };
        if !parameters.trim().is_empty() {
            return Next::reply("555 5.5.4 Unknown parameter");
        }
        let most = if self.protocol == Some(Protocol::Lmtp) { MAX_RECIPIENTS } else { 1 };
        if self.recipients.len() >= most {
            return Next::reply("452 4.5.3 Too many recipients: send the mail again for the others");
        }
        let begun = Instant::now();
        let shared = Arc::clone(&self.shared);
        let found = shared.find(address).await;
        tokio::time::sleep_until(begun + RECIPIENT_TIME).await;
        match found {
            Ok(Some(recipient)) if !is_note => {
                self.recipients.push(recipient);
                Next::reply("250 2.1.5 OK")
            }
            Ok(_) => Next::reply("550 5.1.1 There is no such address"),
            Err(error) => {
                tracing::warn!(%error, "a recipient of a mail could not be looked up");
                Next::reply("451 4.3.0 Try again later")
            }
        }
    }

    /// Receives a mail and delivers it. Returns `false` if the connection is to be closed.
    async fn receive(&mut self) -> io::Result<bool> {
        self.wire.reply("354 End with a dot on a line of its own").await?;
        let owner =
            if self.peer.is_loopback() { Owner::Proxied } else { Owner::Address(address_block(self.peer)) };
        let mut memory = self.shared.budget.begin(owner);
        let received = self.wire.mail(self.most(), &mut memory).await?;
        let (recipients, shared) = (std::mem::take(&mut self.recipients), Arc::clone(&self.shared));
        self.reset();
        let count = if self.protocol == Some(Protocol::Lmtp) { recipients.len() } else { 1 };
        // The client may have a different idea of where such a mail ended.
        let goes_on = !matches!(received, Err(BadMail::BareLineEnd));
        let refusal = match received {
            Ok(raw) => match shared.read(raw).await {
                Ok(mail) => {
                    let mail = Arc::new(mail);
                    for recipient in &recipients {
                        let reply = shared.deliver(&mail, recipient).await;
                        self.wire.reply(reply).await?;
                    }
                    return Ok(true);
                }
                Err(refusal) => refusal,
            },
            Err(BadMail::TooLarge) => "552 5.3.4 The mail is too large",
            Err(BadMail::LineTooLong) => "554 5.6.0 A line is too long",
            Err(BadMail::BareLineEnd) => "550 5.6.0 Lines end with CRLF",
            Err(BadMail::NoMemory) => "451 4.3.1 Try again later",
        };
        for _ in 0..count {
            self.wire.reply(refusal).await?;
        }
        Ok(goes_on)
    }
}

/// The address of `FROM:<address>` or `TO:<address>`, without a route, and what follows it.
fn path<'a>(text: &'a str, word: &str) -> Option<(&'a str, &'a str)> {
    let text = text.trim_start();
    let after = text
        .get(..word.len())
        .filter(|begin| begin.eq_ignore_ascii_case(word))
        .map(|_| &text[word.len()..])?;
    let (address, parameters) = after.trim_start().strip_prefix('<')?.split_once('>')?;
    let address = address.rsplit_once(':').map_or(address, |(_, address)| address);
    let is_valid =
        address.len() <= 320 && !address.contains(|c: char| c.is_control() || c.is_whitespace() || c == '<');
    let is_separated = parameters.is_empty() || parameters.starts_with(' ');
    (is_valid && is_separated).then_some((address, parameters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_addresses_in_angle_brackets() {
        for (text, expected) in [
            ("FROM:<a@example.com>", Some(("a@example.com", ""))),
            ("from: <a@example.com> SIZE=1 BODY=8BITMIME", Some(("a@example.com", " SIZE=1 BODY=8BITMIME"))),
            ("FROM:<>", Some(("", ""))),
            ("FROM:<@relay.example:a@example.com>", Some(("a@example.com", ""))),
            ("FROM:a@example.com", None),
            ("FROM:<a@example.com", None),
            ("FROM:<a b@example.com>", None),
            ("FROM:<a@example.com>SIZE=1", None),
            ("TO:<a@example.com>", None),
            ("", None),
        ] {
            assert_eq!(path(text, "FROM:"), expected, "{text}");
        }
    }
}
