//! Shared parts of the commands: the database, output, and the connection to a running server.

use clap::Args;
use clap::builder::{BoolishValueParser, PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::error::Error;
use std::fmt::Display;
use std::io::{BufRead, BufReader, ErrorKind, IsTerminal, Write};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use teamchat::app::Options;
use teamchat::commands;
use teamchat::commands::{Command, Work};
use teamchat::server::{Engine, Server, runtime};
use teamchat::store::{Announcement, Database};
use teamchat::types::{Clock, Role};

pub type Failure = Box<dyn Error + Send + Sync>;

#[derive(Args)]
pub struct File {
    /// The SQLite database file.
    #[arg(long, env = "TEAMCHAT_DB", value_name = "FILE", default_value = DEFAULT_DB)]
    pub db: PathBuf,
}

/// The database if none is given.
pub const DEFAULT_DB: &str = "chat.sqlite";

#[derive(Args)]
pub struct Output {
    /// Print JSON instead of text.
    #[arg(long, env = "TEAMCHAT_JSON", value_parser = BoolishValueParser::new())]
    pub json: bool,
}

/// An account of a database, and how to print what was done.
#[derive(Args)]
pub struct Account {
    #[command(flatten)]
    pub file: File,
    /// The email address of the user.
    #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
    pub email: String,
    #[command(flatten)]
    pub output: Output,
}

/// Reads a role by its name.
pub fn role() -> impl TypedValueParser<Value = Role> {
    PossibleValuesParser::new(Role::NAMES).try_map(|name| name.parse::<Role>())
}

impl Output {
    /// Prints the answer of a command as JSON or as text. The text ends with the path of the database.
    pub fn print<T: serde::Serialize>(
        &self,
        db: &Path,
        value: &T,
        text: impl FnOnce(&mut dyn Write, Style) -> std::io::Result<()>,
    ) -> Result<(), Failure> {
        self.print_unless_closed(db, value, text).map(|_| ())
    }

    /// Prints an answer as [`Self::print`]. Returns false if standard output is a closed pipe.
    pub fn print_unless_closed<T: serde::Serialize>(
        &self,
        db: &Path,
        value: &T,
        text: impl FnOnce(&mut dyn Write, Style) -> std::io::Result<()>,
    ) -> Result<bool, Failure> {
        if self.json {
            let json = serde_json::to_string(value)?;
            return print_unless_closed(|out| writeln!(out, "{json}"));
        }
        let file = std::path::absolute(db).unwrap_or_else(|_| db.to_owned());
        print_unless_closed(|out| {
            let style = Style::stdout();
            text(out, style)?;
            writeln!(out, "{}", style.dim(&format!("In the database {}", file.display())))
        })
    }
}

/// Writes to standard output. A closed pipe, as with `head`, is not an error.
pub fn print(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Failure> {
    print_unless_closed(write).map(|_| ())
}

/// Writes to standard output. Returns false if it is a closed pipe.
fn print_unless_closed(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<bool, Failure> {
    let mut out = Escaped(std::io::stdout());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(true),
    }
}

/// The codes of text styles, which [`Style`] writes. They are the only commands to terminals that reach standard output.
const RESET: &str = "\x1b[0m";
const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const RED: &str = "\x1b[31m";
const GREEN: &str = "\x1b[32m";
const STYLES: [&str; 5] = [RESET, BOLD, DIM, RED, GREEN];

/// An output in which control characters, which terminals take for commands, are escaped as in JSON: all of the ranges C0 and C1
/// except tabs, line feeds and styles. Names of users have none, but a foreign or damaged database can contain any.
struct Escaped<W>(W);

impl<W: Write> Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|byte| *byte < b' ' || *byte == 0xc2) {
            let (text, found) = rest.split_at(at);
            self.0.write_all(text)?;
            let (length, control) = match found {
                // C1 in UTF-8.
                [0xc2, code @ 0x80..=0x9f, ..] => (2, Some(*code)),
                [b'\t' | b'\n' | 0xc2, ..] => (1, None),
                _ => match STYLES.iter().find(|style| found.starts_with(style.as_bytes())) {
                    Some(style) => (style.len(), None),
                    None => (1, Some(found[0])),
                },
            };
            match control {
                Some(code) => write!(self.0, "\\u{code:04x}")?,
                None => self.0.write_all(&found[..length])?,
            }
            rest = &found[length..];
        }
        self.0.write_all(rest)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// A text for standard error, with escaped control characters except line breaks. It can have names of an archive or of a damaged
/// file, and terminals take these characters for commands.
pub fn escaped(text: &impl Display) -> String {
    let mut escaped = String::new();
    for letter in text.to_string().chars() {
        if letter.is_control() && letter != '\n' {
            escaped.extend(letter.escape_debug());
        } else {
            escaped.push(letter);
        }
    }
    escaped
}

/// Runs a command on the server that has the database open, or else on the database itself. A missing file is an error.
pub fn run_command<T: DeserializeOwned>(db: &Path, command: Command) -> Result<T, Failure> {
    run_creating(db, command, false)
}

/// Runs a command as [`run_command`], but creates a missing file if `may_create`.
pub fn run_creating<T: DeserializeOwned>(
    db: &Path,
    command: Command,
    may_create: bool,
) -> Result<T, Failure> {
    let answer = match Database::announced(db) {
        Some(announcement) => send(&announcement, &command, None)?,
        None => runtime()?.block_on(async {
            if !may_create {
                Database::check_exists(db)?;
            }
            let engine = Engine::open(db, Clock::System, Options::default()).await?;
            let (is_new, upgraded_from) = (engine.is_new(), engine.upgraded_from().map(Path::to_owned));
            let answer = commands::run(&engine.app, command).await;
            tokio::task::spawn_blocking(move || engine.close()).await?;
            report_upgrade(db, upgraded_from.as_deref())?;
            match answer {
                Ok(_) if is_new => writeln!(std::io::stderr(), "Created the database {}", db.display())?,
                Err(_) if is_new => Database::remove(db)?,
                _ => {}
            }
            answer.map_err(|error| Failure::from(error.operator_msg()))
        })?,
    };
    Ok(serde_json::from_value(answer)?)
}

/// Names the copy of an older file that a command had to upgrade: older versions refuse the file from now on.
pub fn report_upgrade(db: &Path, copy: Option<&Path>) -> std::io::Result<()> {
    match copy {
        Some(copy) => writeln!(
            std::io::stderr(),
            "Upgraded the database {}; the previous file was saved as {}",
            db.display(),
            copy.display()
        ),
        None => Ok(()),
    }
}

/// Writes work on a database file into its audit log. The work is done, so a failure is a warning.
pub fn record(db: &Path, work: Work) {
    // A file that would have to be upgraded first stays as it is.
    if Database::announced(db).is_none() && Database::connect_reader(db).is_err() {
        return;
    }
    if let Err(error) = run_command::<Value>(db, Command::Record(work)) {
        // Without standard error there is nowhere to report to.
        let _unreported =
            writeln!(std::io::stderr(), "warning: this was not recorded in the audit log: {error}");
    }
}

/// Runs a command on the server of this process.
pub async fn run_on_server<T: DeserializeOwned>(server: &Server, command: Command) -> Result<T, Failure> {
    Ok(serde_json::from_value(commands::run(server.app(), command).await?)?)
}

/// Sends a command to the server that announced itself in the lock file. `patience` is the longest pause before an answer.
#[cfg(unix)]
pub fn send(
    announcement: &Announcement,
    command: &Command,
    patience: Option<Duration>,
) -> Result<Value, Failure> {
    let path = announcement.control.as_ref();
    let path = path.ok_or("the file is in use by a server that is just starting or stopping; try again")?;
    let mut stream = UnixStream::connect(path).map_err(|error| {
        format!("the server that has the file open does not answer at {}: {error}", path.display())
    })?;
    stream.set_read_timeout(patience)?;
    writeln!(stream, "{}", serde_json::to_string(command)?)?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).map_err(|error| match (error.kind(), patience) {
        (ErrorKind::WouldBlock | ErrorKind::TimedOut, Some(patience)) => {
            format!("there was no answer within {} s", patience.as_secs())
        }
        _ => error.to_string(),
    })?;
    let mut answer: Value = serde_json::from_str(&answer).map_err(|_| "the server closed the connection")?;
    match answer["error"].as_str() {
        Some(error) => Err(error.to_owned().into()),
        None => Ok(answer["answer"].take()),
    }
}

/// Commands reach a running server over a Unix socket.
#[cfg(not(unix))]
pub fn send(
    _announcement: &Announcement,
    _command: &Command,
    _patience: Option<Duration>,
) -> Result<Value, Failure> {
    Err("the file is in use by a server; on this system, stop it first".into())
}

/// Text styles, disabled if the output is not a terminal or `NO_COLOR` is set.
#[derive(Clone, Copy)]
pub struct Style {
    pub colour: bool,
}

impl Style {
    pub fn stdout() -> Self {
        Self { colour: std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() }
    }

    pub fn stderr() -> Self {
        Self { colour: std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none() }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("{code}{text}{RESET}") } else { text.to_owned() }
    }

    pub fn bold(self, text: &str) -> String {
        self.paint(BOLD, text)
    }

    pub fn dim(self, text: &str) -> String {
        self.paint(DIM, text)
    }

    pub fn green(self, text: &str) -> String {
        self.paint(GREEN, text)
    }

    pub fn red(self, text: &str) -> String {
        self.paint(RED, text)
    }
}

/// Asks a question on the terminal, and fails unless the answer is yes. Without a terminal it fails with `refusal`.
pub(super) fn confirm(question: &str, refusal: &str, refused: &str) -> Result<(), Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(refusal.into());
    }
    let mut error = std::io::stderr();
    write!(error, "{} [y/N] ", escaped(&question))?;
    error.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") { Ok(()) } else { Err(refused.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let mut out = Escaped(Vec::new());
        write!(out, "a\u{9b}31m \u{80}\u{9f}").unwrap();
        write!(out, "é\u{a0}\u{7f} \x1b[2J\x1b\r\0\u{8}\t\n").unwrap();
        let style = Style { colour: true };
        let styled = [style.bold("a"), style.dim("b"), style.green("c"), style.red("d")].concat();
        write!(out, "{styled}").unwrap();
        let text = String::from_utf8(out.0).unwrap();
        let expected = "a\\u009b31m \\u0080\\u009fé\u{a0}\u{7f} \\u001b[2J\\u001b\\u000d\\u0000\\u0008\t\n";
        assert_eq!(text, format!("{expected}{styled}"));
        assert_eq!(escaped(&"é \x1b[2J\u{9b}\r\n\u{7f}"), "é \\u{1b}[2J\\u{9b}\\r\n\\u{7f}");
    }
}
