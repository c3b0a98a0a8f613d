//! Flags of `serve` for backups.

use super::backup::Encryption;
use super::common::Failure;
use super::test_flags::UsageError;
use clap::Args;
use clap::builder::BoolishValueParser;
use std::path::PathBuf;
use teamchat::app::BackupOptions;
use teamchat::domain::backups::Keep;

#[derive(Args)]
#[command(next_help_heading = "Backups")]
pub struct KeepingFlags {
    /// Make backups automatically in this folder, named by date. If a backup fails or is late, the log and GET /health have
    /// a warning, and the owners get a direct message. Keep the folder on another disk, or copy it elsewhere.
    #[arg(long, env = "TEAMCHAT_BACKUP_TO", value_name = "DIR", conflicts_with = "ephemeral")]
    pub backup_to: Option<PathBuf>,
    /// The time between two backups: a number with m, h or d.
    #[arg(long, env = "TEAMCHAT_BACKUP_EVERY", value_name = "TIME", default_value = "24h", value_parser = parse_interval)]
    backup_every: i64,
    /// The backups to keep: 7d,4w,6m keeps the newest backup of each of the last 7 days, 4 weeks and 6 months. h means
    /// hours, y years. Other files in the folder are never removed.
    #[arg(long, env = "TEAMCHAT_BACKUP_KEEP", value_name = "NUMBERS", default_value = "7d,4w,6m")]
    backup_keep: Keep,
    #[command(flatten)]
    encryption: Encryption,
    /// Another program, such as Litestream, replicates the database and empties its write-ahead log. docs/backup.md shows
    /// how. If no such program runs, the log grows to 1 GiB.
    #[arg(long, env = "TEAMCHAT_REPLICATED", value_parser = BoolishValueParser::new())]
    pub replicated: bool,
}

impl KeepingFlags {
    /// Checks the folder and the keys before the server starts.
    pub fn backups(&self) -> Result<Option<BackupOptions>, Failure> {
        self.encryption.recipients()?;
        let Some(folder) = &self.backup_to else { return Ok(None) };
        if !folder.is_dir() {
            let folder = folder.display();
            return Err(UsageError(format!(
                "--backup-to {folder}: there is no such directory; create it first"
            ))
            .into());
        }
        Ok(Some(BackupOptions {
            folder: std::path::absolute(folder)?,
            every: self.backup_every,
            keep: self.backup_keep.to_string(),
            recipients: self.encryption.recipients.clone(),
        }))
    }
}

/// Reads a number of minutes, hours or days, as seconds.
fn parse_interval(text: &str) -> Result<i64, String> {
    let usage = "write a number of minutes, hours or days, for example 30m, 24h or 7d";
    let unit = match text.chars().next_back() {
        Some('m') => 60,
        Some('h') => 60 * 60,
        Some('d') => 24 * 60 * 60,
        _ => return Err(usage.to_owned()),
    };
    match text[..text.len() - 1].parse::<u32>() {
        Ok(number) if number > 0 => Ok(i64::from(number) * unit),
        _ => Err(usage.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_a_unit() {
        for (text, seconds) in [("1m", 60), ("24h", 86_400), ("7d", 604_800)] {
            assert_eq!(parse_interval(text), Ok(seconds));
        }
        for text in ["", "24", "0h", "-1h", "h", "1.5h", "1w", "24 h", "é"] {
            assert!(parse_interval(text).unwrap_err().contains("24h"), "{text}");
        }
    }
}
