//! `teamchat backup` and `teamchat restore`.

use super::common::{Failure, File, Output, print, record};
use super::progress::Meter;
use super::test_flags::UsageError;
use clap::Args;
use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use teamchat::app::BackupRecord;
use teamchat::commands::Work;
use teamchat::domain::backups::{
    Contents, Identities, Progress, Recipients, Request, Stage, Target, create, restore,
};
use teamchat::store::Database;
use teamchat::types::{Clock, charset};

#[derive(Args)]
pub(super) struct BackupCommand {
    #[command(flatten)]
    file: File,
    /// The file to write, which must not exist; - for standard output.
    #[arg(value_name = "OUT")]
    out: PathBuf,
    #[command(flatten)]
    encryption: Encryption,
    #[command(flatten)]
    output: Output,
}

/// Encryption of backups.
#[derive(Args)]
pub(super) struct Encryption {
    /// Encrypt the backup to this public key of age (age1...), as age-keygen prints it. Can be repeated. A restore then needs
    /// the private key: keep it on another machine.
    #[arg(
        long = "backup-recipient",
        visible_alias = "recipient",
        env = "TEAMCHAT_BACKUP_RECIPIENT",
        value_name = "KEY",
        value_delimiter = ','
    )]
    pub(super) recipients: Vec<String>,
}

impl Encryption {
    pub(super) fn recipients(&self) -> Result<Recipients, UsageError> {
        let parsed = Recipients::parse(self.recipients.iter().map(String::as_str));
        parsed.map_err(|error| UsageError(format!("--backup-recipient: {error}")))
    }
}

#[derive(Args)]
pub(super) struct RestoreCommand {
    #[command(flatten)]
    file: File,
    /// A backup of teamchat backup, or an SQLite file; - for standard input.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file with the private key of an encrypted backup, as age-keygen writes it.
    #[arg(long, env = "TEAMCHAT_IDENTITY", value_name = "FILE")]
    identity: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
}

impl BackupCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let recipients = self.encryption.recipients()?;
        let is_stream = self.out.as_os_str() == "-";
        if is_stream && std::io::IsTerminal::is_terminal(&std::io::stdout()) {
            let text = "a backup is not text: send standard output to a file or another program";
            return Err(UsageError(text.to_owned()).into());
        }
        let (started, time) = (Instant::now(), Clock::System.seconds());
        let is_running = Database::announced(&self.file.db).is_some();
        let mut stdout = std::io::stdout();
        let request = Request {
            database: &self.file.db,
            target: if is_stream { Target::Stream(&mut stdout) } else { Target::File(&self.out) },
            recipients: &recipients,
            is_gentle: is_running,
        };
        let mut meter = Meter::default();
        let mut on_progress = |stage, done, total| meter.show(name(stage, false), done, total);
        let backup = create(request, &mut Progress { on_progress: &mut on_progress, stop: Arc::default() });
        meter.clear();
        let backup = backup?;
        let name = backup.path.as_ref().map_or_else(|| "-".to_owned(), |path| path.display().to_string());
        let milliseconds = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let made = BackupRecord { name, time, bytes: backup.bytes, milliseconds };
        record(&self.file.db, Work::Backup(made));
        if let Some(difference) = &backup.schema_difference {
            writeln!(
                std::io::stderr(),
                "warning: `teamchat restore` refuses this backup, because the database has another schema than this program makes: \
                 {difference}. Stop the server and correct the schema with SQLite."
            )?;
        }
        let mut text = format!("Saved {}", contents(&backup.contents));
        if let Some(path) = &backup.path {
            text = format!("{text}\n{} ({}), checked", path.display(), size(backup.bytes));
        }
        if is_stream {
            // Standard output has the backup.
            let text = if self.output.json { serde_json::to_string(&backup)? } else { text };
            return Ok(writeln!(std::io::stderr(), "{text}")?);
        }
        self.output.print(&self.file.db, &backup, |out, _| writeln!(out, "{text}"))
    }
}

impl RestoreCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let identities = match &self.identity {
            Some(path) => {
                let failed = |why: &dyn Display| UsageError(format!("--identity {}: {why}", path.display()));
                let text = charset::read_file(path).map_err(|error| failed(&error))?;
                let identities = Identities::parse(&text).map_err(|error| failed(&error))?;
                if identities.is_empty() {
                    return Err(
                        failed(&"it has no private key; a private key begins with AGE-SECRET-KEY-1").into()
                    );
                }
                identities
            }
            None => Identities::default(),
        };
        let mut meter = Meter::default();
        let mut on_progress = |stage, done, total| meter.show(name(stage, true), done, total);
        let progress = &mut Progress { on_progress: &mut on_progress, stop: Arc::default() };
        let now = Clock::System.seconds();
        let restored = restore(&self.file.db, &self.input, &mut std::io::stdin(), &identities, now, progress);
        meter.clear();
        let restored = restored.map_err(|error| format!("{error}; nothing was changed"))?;
        if self.output.json {
            return self.output.print(&self.file.db, &restored, |_, _| Ok(()));
        }
        print(|out| {
            writeln!(out, "Restored {} to {}", contents(&restored.contents), self.file.db.display())?;
            if let Some(kept) = &restored.kept {
                writeln!(
                    out,
                    "The previous file is {}; delete it when you do not need it any more.",
                    kept.display()
                )?;
            }
            writeln!(out)?;
            for line in CONSEQUENCES {
                writeln!(out, "{line}")?;
            }
            Ok(())
        })
    }
}

/// The effects of a restored file, for people.
const CONSEQUENCES: [&str; 7] = [
    "After the next start:",
    "- Messages, files and accounts that are newer than the backup are lost, even if a client still shows them.",
    "- Every client registers again automatically, and shows the content of the restored file.",
    "- Push notifications and emails that were waiting are not sent. Scheduled messages that are more than ten minutes",
    "  late fail, and late reminders are sent.",
    "- Passwords, API keys and sessions have the state of the backup: later ones are lost, and ones that were revoked",
    "  after the backup work again. Review `teamchat user list`.",
];

fn name(stage: Stage, is_restored: bool) -> &'static str {
    match stage {
        Stage::Copy => "copying",
        Stage::Check => "checking",
        Stage::Archive if is_restored => "unpacking",
        Stage::Archive => "compressing",
        Stage::Verify => "reading back",
    }
}

fn contents(contents: &Contents) -> String {
    let Contents { messages, users, files, newest_message, database_bytes } = contents;
    let newest = newest_message.and_then(|time| jiff::Timestamp::from_second(time).ok());
    let until = newest.map(|time| format!(" until {time}")).unwrap_or_default();
    format!("{messages} messages{until}, {users} users and {files} files ({})", size(*database_bytes))
}

/// Formats a number of bytes.
pub(super) fn size(bytes: u64) -> String {
    match bytes {
        0..10_240 => format!("{bytes} bytes"),
        10_240..10_485_760 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}
