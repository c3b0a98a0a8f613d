//! `teamchat mail deliver`: hands one email over to the running server, for mail servers whose aliases run commands.
//!
//! It speaks LMTP to the address of `--mail-listen`. So all rules and limits are those of the listener, and the command needs
//! neither the database nor the account that runs the server. The exit codes are those of `sysexits.h`, which mail servers
//! understand.

use super::common::{Style, escaped};
use super::connect::{Stream, connect};
use clap::Args;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::ExitCode;
use std::time::Duration;
use teamchat::server::ListenAddress;

/// `EX_DATAERR`: the email is refused.
const BAD_DATA: u8 = 65;

/// `EX_NOUSER`: there is no such recipient.
const NO_USER: u8 = 67;

/// `EX_TEMPFAIL`: the mail server tries again later. Also for all problems that are not those of the email, so that none is lost.
const TRY_AGAIN: u8 = 75;

/// The most bytes that are read. The server takes less, and says so.
const MAX_BYTES: u64 = 64 << 20;

/// The longest line of a reply, in bytes, and the most lines.
const MAX_LINE: u64 = 4096;
const MAX_LINES: usize = 100;

/// The time for connecting, and for each reply.
const PATIENCE: Duration = Duration::from_secs(300);

/// The sender for the server, which only distinguishes emails with one from bounces.
const SENDER: &str = "pipe@localhost";

#[derive(Args)]
pub struct DeliverCommand {
    /// The address that the email was sent to.
    #[arg(long, env = "TEAMCHAT_RECIPIENT", value_name = "ADDRESS")]
    recipient: String,
    /// The address of the flag --mail-listen of the server: for example 127.0.0.1:9925 or unix:PATH.
    #[arg(long, env = "TEAMCHAT_MAIL_LISTEN", value_name = "ADDR:PORT")]
    mail_listen: String,
}

/// Why an email was not delivered.
struct Failure {
    code: u8,
    text: String,
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self { code: TRY_AGAIN, text: format!("the server does not answer: {error}") }
    }
}

impl DeliverCommand {
    pub fn run(self) -> ExitCode {
        match self.deliver() {
            Ok(()) => ExitCode::SUCCESS,
            Err(Failure { code, text }) => {
                // Without standard error there is nowhere to report to.
                let _unreported =
                    writeln!(io::stderr(), "{} {}", Style::stderr().red("error:"), escaped(&text));
                ExitCode::from(code)
            }
        }
    }

    fn deliver(&self) -> Result<(), Failure> {
        if self.recipient.contains(|c: char| c.is_control() || c.is_whitespace() || "<>".contains(c)) {
            let text = format!("'{}' is not an email address", self.recipient.escape_debug());
            return Err(Failure { code: NO_USER, text });
        }
        let mut mail = Vec::new();
        let read = io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut mail);
        read.map_err(|error| Failure {
            code: TRY_AGAIN,
            text: format!("the email cannot be read: {error}"),
        })?;
        if mail.len() as u64 > MAX_BYTES {
            return Err(Failure { code: BAD_DATA, text: "the email is too large".to_owned() });
        }
        let sender = if is_bounce(&mail) { "" } else { SENDER };
        let data = as_data(&mail);
        // A name that cannot be looked up now is no reason to refuse the email.
        let address = self.mail_listen.parse::<ListenAddress>().map_err(|error| Failure {
            code: TRY_AGAIN,
            text: format!("no server can be found at {}: {error}", self.mail_listen),
        })?;
        let mut server = Server::connect(&address)?;
        server.read(TRY_AGAIN)?;
        server.say("LHLO localhost", TRY_AGAIN)?;
        server.say(&format!("MAIL FROM:<{sender}> SIZE={}", data.len()), BAD_DATA)?;
        server.say(&format!("RCPT TO:<{}>", self.recipient), NO_USER)?;
        server.say("DATA", TRY_AGAIN)?;
        server.write(&data)?;
        server.say(".", BAD_DATA)?;
        // It is delivered, whatever follows.
        let _answer = server.say("QUIT", TRY_AGAIN);
        Ok(())
    }
}

/// The line that old mail servers put before the header, and the rest.
fn split_envelope(mail: &[u8]) -> (&[u8], &[u8]) {
    if !mail.starts_with(b"From ") {
        return (&[], mail);
    }
    let end = mail.iter().position(|byte| *byte == b'\n').map_or(mail.len(), |at| at + 1);
    mail.split_at(end)
}

/// True for a note about an email that could not be delivered. The mail server adds the sender as `Return-Path`.
fn is_bounce(mail: &[u8]) -> bool {
    let (envelope, mail) = split_envelope(mail);
    let mut header =
        mail.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).take_while(|line| !line.is_empty());
    envelope.starts_with(b"From MAILER-DAEMON")
        || header.any(|line| {
            line.split_at_checked("Return-Path:".len()).is_some_and(|(name, value)| {
                name.eq_ignore_ascii_case(b"Return-Path:") && value.trim_ascii() == b"<>"
            })
        })
}

/// The text of an email for `DATA`: lines end with CRLF, and a dot at the beginning of a line is doubled.
fn as_data(mail: &[u8]) -> Vec<u8> {
    let (_, mail) = split_envelope(mail);
    let mut data = Vec::with_capacity(mail.len() + mail.len() / 32);
    for line in mail.split_inclusive(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        if line.starts_with(b".") {
            data.push(b'.');
        }
        data.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
        data.extend_from_slice(b"\r\n");
    }
    data
}

/// A connection to the server.
struct Server(BufReader<Box<dyn Stream>>);

impl Server {
    fn connect(address: &ListenAddress) -> Result<Self, Failure> {
        let stream = connect(address, PATIENCE).map_err(|error| Failure {
            code: TRY_AGAIN,
            text: format!("no server receives email at {address}: {error}"),
        })?;
        Ok(Self(BufReader::new(stream)))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.get_mut().write_all(bytes)?;
        self.0.get_mut().flush()
    }

    /// Sends a command, and reads its reply. A permanent refusal has this exit code.
    fn say(&mut self, command: &str, refused: u8) -> Result<(), Failure> {
        self.write(format!("{command}\r\n").as_bytes())?;
        self.read(refused)
    }

    /// Reads a reply.
    fn read(&mut self, refused: u8) -> Result<(), Failure> {
        for _ in 0..MAX_LINES {
            let mut line = Vec::new();
            (&mut self.0).take(MAX_LINE).read_until(b'\n', &mut line)?;
            let is_last = line.get(3) != Some(&b'-');
            let code = match line.first() {
                Some(b'2' | b'3') if is_last => return Ok(()),
                Some(b'2' | b'3') => continue,
                Some(b'5') => refused,
                _ => TRY_AGAIN,
            };
            let text = String::from_utf8_lossy(line.trim_ascii()).into_owned();
            let text = if text.is_empty() { "the server closed the connection".to_owned() } else { text };
            return Err(Failure { code, text });
        }
        Err(Failure { code: TRY_AGAIN, text: "the reply of the server is too long".to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_data() {
        let cases: [(&[u8], &[u8]); 5] = [
            (b"Subject: x\n\n.\n..a\nlast", b"Subject: x\r\n\r\n..\r\n...a\r\nlast\r\n"),
            (b"Subject: x\r\n\r\ntext\r\n", b"Subject: x\r\n\r\ntext\r\n"),
            (b"From ada@example.com Sun Nov 29 06:00:00 2026\nSubject: x\n", b"Subject: x\r\n"),
            // The server refuses it.
            (b"a\rb\n", b"a\rb\r\n"),
            (b"", b""),
        ];
        for (mail, data) in cases {
            assert_eq!(as_data(mail), data, "{:?}", String::from_utf8_lossy(mail));
        }
    }

    #[test]
    fn bounces_are_recognized() {
        for (mail, expected) in [
            ("Return-Path: <>\nSubject: x\n\ny", true),
            ("From MAILER-DAEMON  Sun Nov 29 06:00:00 2026\nSubject: x\n", true),
            ("From ada@example.com  Sun Nov 29 06:00:00 2026\nreturn-path:<>\r\n\r\n", true),
            ("Return-Path: <ada@example.com>\n\n", false),
            ("Subject: x\n\nReturn-Path: <>\n", false),
            ("", false),
        ] {
            assert_eq!(is_bounce(mail.as_bytes()), expected, "{mail:?}");
        }
    }
}
