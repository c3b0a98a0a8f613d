//! `teamchat export`.

use super::common::{Failure, File, Output, Style, record};
use super::test_flags::UsageError;
use clap::builder::BoolishValueParser;
use clap::{Args, Subcommand};
use rusqlite::Connection;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use teamchat::commands::Work;
use teamchat::domain::export::{
    ArchiveFile, ENDING, Mode, Progress, Written, write_file, write_html, write_person,
};
use teamchat::domain::rows::channel::StreamRow;
use teamchat::domain::{channels, users};
use teamchat::store::Database;
use teamchat::types::Clock;

#[derive(Subcommand)]
pub enum ExportCommand {
    /// Write an archive that a Zulip server of release 10.2 can import.
    ///
    /// The archive has no passwords and no API keys. docs/moving.md explains the import, and lists what is left out.
    Zulip(Zulip),
    /// Write the data of one person to a folder, as pages and as JSON, with their files.
    ///
    /// The folder has the messages that they sent, their direct conversations, the files in both, their settings and everything
    /// else that is stored about them, but no passwords and no keys.
    Person(Person),
    /// Write channels to a folder of pages that can be read and searched without a server.
    ///
    /// Open index.html of the folder in a browser. Without --channel, the folder has all public channels. It never has direct
    /// messages.
    Html(Html),
}

#[derive(Args)]
pub struct Person {
    /// The email address of the person.
    email: String,
    /// The folder to write. It must not exist.
    #[arg(value_name = "OUT")]
    out: PathBuf,
    #[command(flatten)]
    file: File,
    #[command(flatten)]
    output: Output,
}

#[derive(Args)]
pub struct Html {
    /// The folder to write. It must not exist.
    #[arg(value_name = "OUT")]
    out: PathBuf,
    #[command(flatten)]
    file: File,
    /// A channel to include, which may be private. Can be repeated.
    #[arg(long = "channel", env = "TEAMCHAT_CHANNEL", value_name = "NAME")]
    channels: Vec<String>,
    #[command(flatten)]
    output: Output,
}

#[derive(Args)]
pub struct Zulip {
    /// The archive to write, a name that ends with .tar.gz. It must not exist.
    #[arg(value_name = "OUT.tar.gz")]
    out: PathBuf,
    #[command(flatten)]
    file: File,
    /// Export public channels only, without the private data of users.
    #[arg(long, env = "TEAMCHAT_PUBLIC_ONLY", value_parser = BoolishValueParser::new())]
    public_only: bool,
    /// Export public channels, and the private data of users who allow it in their settings.
    #[arg(
        long,
        env = "TEAMCHAT_WITH_CONSENT",
        value_parser = BoolishValueParser::new(),
        conflicts_with = "public_only"
    )]
    with_consent: bool,
    #[command(flatten)]
    output: Output,
}

impl ExportCommand {
    pub fn run(self) -> Result<(), Failure> {
        match self {
            Self::Zulip(export) => export.run(),
            Self::Person(export) => export.run(),
            Self::Html(export) => export.run(),
        }
    }
}

/// Opens a snapshot of a database, also while a server has it open.
fn snapshot(db: &Path) -> Result<Connection, Failure> {
    Database::check_exists(db)?;
    Ok(Database::open_snapshot(db)?)
}

impl Person {
    fn run(self) -> Result<(), Failure> {
        let connection = snapshot(&self.file.db)?;
        let person = users::by_delivery_email(&connection, &self.email)?
            .filter(|user| !user.is_system_bot)
            .ok_or_else(|| format!("no user has the email {}", self.email))?;
        let report = write_person(&connection, &person, &self.out)?;
        drop(connection);
        record(&self.file.db, Work::ExportPerson { user_id: person.user_id });
        self.output.print(&self.file.db, &report, |out, style| {
            writeln!(out, "{} {}", style.green("Wrote"), style.bold(&self.out.display().to_string()))?;
            writeln!(out, "  messages     {}", report.messages)?;
            writeln!(out, "  files        {}", report.files)
        })
    }
}

impl Html {
    fn run(self) -> Result<(), Failure> {
        let connection = snapshot(&self.file.db)?;
        let mut chosen = Vec::new();
        for name in &self.channels {
            let channel = channels::by_name(&connection, name)?;
            chosen.push(channel.ok_or_else(|| format!("no channel has the name {name}"))?);
        }
        if self.channels.is_empty() {
            chosen = channels::all(&connection)?;
            chosen.retain(StreamRow::is_public);
        }
        let report = write_html(&connection, &chosen, &self.out)?;
        drop(connection);
        let names: Vec<&str> = chosen.iter().map(|channel| channel.name.as_str()).collect();
        record(&self.file.db, Work::Export { format: "html".to_owned(), scope: names.join(", ") });
        self.output.print(&self.file.db, &report, |out, style| {
            writeln!(out, "{} {}", style.green("Wrote"), style.bold(&self.out.display().to_string()))?;
            writeln!(out, "  channels     {}", report.channels)?;
            writeln!(out, "  messages     {}", report.messages)?;
            writeln!(out, "  files        {}", report.files)
        })
    }
}

impl Zulip {
    fn run(self) -> Result<(), Failure> {
        let db = &self.file.db;
        let (mode, scope) = match (self.public_only, self.with_consent) {
            (true, _) => (Mode::Public, "public"),
            (_, true) => (Mode::Consent, "consent"),
            _ => (Mode::Full, "full"),
        };
        let connection = snapshot(db)?;
        // Under another name it would be taken for another format.
        if !self.out.to_string_lossy().ends_with(ENDING) {
            let out = self.out.display();
            return Err(
                UsageError(format!("the archive is a {ENDING} file, and {out} has another ending")).into()
            );
        }
        let mut shown = Shown::new();
        let archive = write_file(&connection, mode, &self.out, Clock::System.seconds(), &mut |progress| {
            shown.update(progress);
            Ok(())
        });
        shown.end();
        let archive = archive?;
        drop(connection);
        record(db, Work::Export { format: "zulip".to_owned(), scope: scope.to_owned() });
        self.output.print(db, &archive, |out, style| print_report(out, style, &archive))
    }
}

fn print_report(out: &mut dyn Write, style: Style, archive: &ArchiveFile) -> std::io::Result<()> {
    let ArchiveFile { path, written: Written { size, sha256, report } } = archive;
    writeln!(out, "{} {} ({size} bytes)", style.green("Wrote"), style.bold(&path.display().to_string()))?;
    writeln!(out, "  SHA-256      {sha256}")?;
    for (what, count) in [
        ("users", report.users),
        ("channels", report.channels),
        ("messages", report.messages),
        ("files", report.attachments),
    ] {
        writeln!(out, "  {what:11}  {count}")?;
    }
    if !report.left_out.is_empty() {
        writeln!(out, "Left out:")?;
    }
    for item in &report.left_out {
        writeln!(out, "  {:>6} {}: {}", item.count, item.what, item.why)?;
    }
    Ok(())
}

/// A line on the terminal with the progress, rewritten a few times a second.
struct Shown {
    is_terminal: bool,
    started: Instant,
    last: Option<Instant>,
}

impl Shown {
    fn new() -> Self {
        Self { is_terminal: std::io::stderr().is_terminal(), started: Instant::now(), last: None }
    }

    fn update(&mut self, progress: Progress) {
        let is_due = self.last.is_none_or(|last| last.elapsed() > Duration::from_millis(300));
        if !self.is_terminal || !is_due {
            return;
        }
        self.last = Some(Instant::now());
        let left =
            self.started.elapsed().mul_f64((1.0 - progress.fraction).max(0.0) / progress.fraction.max(0.001));
        let (percent, seconds) = ((progress.fraction * 100.0).floor(), left.as_secs());
        // Progress that cannot be shown is not a failure of the export.
        let _unshown = write!(
            std::io::stderr(),
            "\r\x1b[K{} messages, {percent} %, about {seconds} s left",
            progress.messages
        );
    }

    fn end(&self) {
        if self.last.is_some() {
            let _unshown = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
