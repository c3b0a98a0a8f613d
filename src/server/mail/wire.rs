//! Lines and mails as they arrive. Lines end with CRLF and nothing else: programs that disagree about the end of a mail let
//! others hide a second mail in it (SMTP smuggling).

use crate::http::budgets::Reservation;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The longest command, in bytes, with its line end.
const MAX_COMMAND: usize = 2048;

/// The longest line of a mail, in bytes. The standard has 998; some programs send more.
const MAX_LINE: usize = 32 * 1024;

/// The time for which nothing has to arrive before a connection is closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The bytes that are read at a time.
const PIECE: usize = 16 * 1024;

/// A connection, with what was read of it and not used yet.
pub struct Wire<S> {
    stream: S,
    buffer: Vec<u8>,
    start: usize,
}

/// Why a command cannot be used.
#[derive(Debug)]
pub enum BadCommand {
    /// The connection ended, or nothing arrived in time.
    Ended,
    /// The line is too long.
    TooLong,
    /// A line end is no CRLF, or the line is not UTF-8.
    Malformed,
}

/// Why the text of a mail is refused, of which the rest is read and dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadMail {
    /// It has more bytes than allowed.
    TooLarge,
    LineTooLong,
    /// A CR or LF is alone.
    BareLineEnd,
    /// There is no memory for it now.
    NoMemory,
}

/// The text of a mail while it arrives: without the dots that protect lines, up to the line with a dot.
#[derive(Default)]
struct Text {
    content: Vec<u8>,
    place: Place,
    line: usize,
    problem: Option<BadMail>,
}

/// The meaning of the last bytes.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    #[default]
    LineStart,
    /// A dot at the start of a line.
    Dot,
    /// A dot and a CR at the start of a line.
    DotCr,
    Text,
    Cr,
}

impl Text {
    /// Takes a byte. Returns true if it ends the mail.
    fn take(&mut self, byte: u8, most: usize) -> bool {
        match (self.place, byte) {
            (Place::DotCr, b'\n') => return true,
            (Place::Cr, b'\n') => {
                self.push(b"\r\n", most);
                (self.place, self.line) = (Place::LineStart, 0);
            }
            (Place::LineStart, b'.') => self.place = Place::Dot,
            (Place::Dot, b'\r') => self.place = Place::DotCr,
            (Place::LineStart | Place::Text, b'\r') => self.place = Place::Cr,
            // A CR that no LF follows, or an LF that follows no CR.
            (Place::Cr | Place::DotCr, _) | (_, b'\n') => {
                self.refuse(BadMail::BareLineEnd);
                self.place = if byte == b'\r' { Place::Cr } else { Place::Text };
            }
            _ => {
                self.place = Place::Text;
                self.line += 1;
                if self.line > MAX_LINE {
                    self.refuse(BadMail::LineTooLong);
                }
                self.push(&[byte], most);
            }
        }
        false
    }

    fn push(&mut self, bytes: &[u8], most: usize) {
        if self.content.len() + bytes.len() > most {
            self.refuse(BadMail::TooLarge);
        }
        if self.problem.is_none() {
            self.content.extend_from_slice(bytes);
        }
    }

    fn refuse(&mut self, problem: BadMail) {
        self.problem.get_or_insert(problem);
        self.content = Vec::new();
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    /// A connection of which nothing was read.
    pub fn new(stream: S) -> Self {
        Self { stream, buffer: Vec::new(), start: 0 }
    }

    /// Sends a reply, with its line end.
    pub async fn reply(&mut self, text: &str) -> io::Result<()> {
        let write = async {
            self.stream.write_all(format!("{text}\r\n").as_bytes()).await?;
            self.stream.flush().await
        };
        tokio::time::timeout(IDLE_TIMEOUT, write)
            .await
            .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    }

    /// True if the client has sent more than was used.
    pub fn has_more(&self) -> bool {
        self.start < self.buffer.len()
    }

    /// Reads more. Fails at the end of the connection, and if nothing arrives in time.
    async fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.reserve(PIECE);
        let mut piece = (&mut self.stream).take(PIECE as u64);
        let read = tokio::time::timeout(IDLE_TIMEOUT, piece.read_buf(&mut self.buffer)).await;
        match read.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// Reads a command, without its line end.
    pub async fn command(&mut self) -> Result<String, BadCommand> {
        let mut looked = self.start;
        loop {
            if let Some(at) = self.buffer[looked..].iter().position(|byte| *byte == b'\n') {
                let line = &self.buffer[self.start..looked + at];
                if line.len() >= MAX_COMMAND {
                    return Err(BadCommand::TooLong);
                }
                let line =
                    line.strip_suffix(b"\r").filter(|line| !line.contains(&b'\r') && !line.contains(&0));
                let line = line.and_then(|line| std::str::from_utf8(line).ok()).map(str::to_owned);
                self.start = looked + at + 1;
                return line.ok_or(BadCommand::Malformed);
            }
            let length = self.buffer.len() - self.start;
            if length >= MAX_COMMAND {
                return Err(BadCommand::TooLong);
            }
            self.fill().await.map_err(|_| BadCommand::Ended)?;
            // Filling moves what is there to the beginning.
            looked = length;
        }
    }

    /// Reads a mail of at most this many bytes, up to its end. One with a problem is read to its end too, unless it is far too
    /// large.
    pub async fn mail(
        &mut self,
        most: usize,
        memory: &mut Reservation,
    ) -> io::Result<Result<Vec<u8>, BadMail>> {
        let (mut text, mut total) = (Text::default(), 0);
        loop {
            while let Some(byte) = self.buffer.get(self.start).copied() {
                self.start += 1;
                if text.take(byte, most) {
                    return Ok(text.problem.map_or(Ok(text.content), Err));
                }
            }
            self.fill().await?;
            total += self.buffer.len();
            if text.problem.is_none() && memory.grow(self.buffer.len()).is_err() {
                text.refuse(BadMail::NoMemory);
            }
            if total > most.saturating_mul(2).saturating_add(1 << 20) {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mail that a text is, and the bytes that follow it.
    #[expect(clippy::type_complexity, reason = "of tests only")]
    fn read(bytes: &[u8], most: usize) -> Option<(Result<Vec<u8>, BadMail>, &[u8])> {
        let mut text = Text::default();
        let end = bytes.iter().position(|byte| text.take(*byte, most))?;
        Some((text.problem.map_or(Ok(text.content), Err), &bytes[end + 1..]))
    }

    #[test]
    fn mails_end_with_a_dot_between_two_line_ends() {
        let cases: [(&[u8], &[u8], &[u8]); 5] = [
            (b"a\r\n.\r\nNOOP", b"a\r\n", b"NOOP"),
            (b".\r\n", b"", b""),
            (b"..\r\n..a\r\n.b\r\n.\r\n", b".\r\n.a\r\nb\r\n", b""),
            (b"a.\r\n\r\n.\r\n", b"a.\r\n\r\n", b""),
            (b"\xff\0\r\n.\r\n", b"\xff\0\r\n", b""),
        ];
        for (bytes, content, rest) in cases {
            assert_eq!(read(bytes, 100), Some((Ok(content.to_vec()), rest)));
        }
        assert_eq!(read(b"a\r\n.", 100), None);
    }

    #[test]
    fn other_ends_do_not_end_a_mail_and_are_refused() {
        for inner in
            ["\n.\n", "\n.\r\n", "\r.\r\n", "\r\n.\n", "\r\n.\r", "\n\n.\r\n", "\r\r\n.\n", "\0\n.\r\n"]
        {
            let bytes = format!("a{inner}MAIL FROM:<eve@example.com>\r\nb\r\n.\r\nNOOP");
            assert_eq!(
                read(bytes.as_bytes(), 1000),
                Some((Err(BadMail::BareLineEnd), &b"NOOP"[..])),
                "{inner:?}"
            );
        }
    }

    #[test]
    fn mails_and_lines_have_limits() {
        let line = "a".repeat(MAX_LINE + 1);
        let long = format!("{line}\r\n.\r\n");
        assert_eq!(read(long.as_bytes(), 1 << 20), Some((Err(BadMail::LineTooLong), &b""[..])));
        assert_eq!(read(b"abc\r\n.\r\n", 4), Some((Err(BadMail::TooLarge), &b""[..])));
        assert_eq!(read(b"ab\r\n.\r\n", 4), Some((Ok(b"ab\r\n".to_vec()), &b""[..])));
    }
}
