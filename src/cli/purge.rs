//! `teamchat user purge`.

use super::common::{Failure, File, Output, run_command};
use clap::Args;
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal, Write};
use teamchat::api::control::{Command, Place, Purge, Purged};
use teamchat::domain::purge::Kind;

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command")]
pub(super) struct PurgeCommand {
    #[command(flatten)]
    file: File,
    /// The email address of the user.
    #[arg(long, env = "TEAMCHAT_EMAIL", value_name = "EMAIL")]
    email: String,
    /// Delete their messages.
    #[arg(long)]
    messages: bool,
    /// Delete the files that they uploaded.
    #[arg(long)]
    files: bool,
    /// Delete the channels that they created, and archive those with messages of others.
    #[arg(long)]
    channels: bool,
    /// Delete their custom emoji, and deactivate those that reactions or statuses show.
    #[arg(long)]
    emoji: bool,
    /// Delete the user groups that they created and nothing uses.
    #[arg(long)]
    groups: bool,
    /// Deactivate their bots.
    #[arg(long)]
    bots: bool,
    /// All of these.
    #[arg(long)]
    all: bool,
    /// Also for the accounts that they invited in the last week, and that those invited.
    #[arg(long)]
    invited: bool,
    /// Only say what there is.
    #[arg(long)]
    dry_run: bool,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    output: Output,
}

impl PurgeCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let kinds = self.kinds();
        let Some(first) = kinds.first().copied() else {
            return Err(
                "say what to remove: --all, or --messages, --files, --channels, --emoji, --groups, --bots"
                    .into(),
            );
        };
        let found = self.command(&kinds, None)?;
        let words = format!("{} of {} accounts", listed(&found.counts), found.accounts);
        if self.dry_run {
            let value = json!({ "accounts": found.accounts, "found": found.counts });
            return self
                .output
                .print(&self.file.db, &value, |out, _| writeln!(out, "{}: {words}", self.email));
        }
        if !self.yes {
            if !std::io::stdin().is_terminal() {
                return Err(format!("nothing was removed; --yes removes {words}").into());
            }
            let mut error = std::io::stderr();
            write!(error, "Remove {words}? It cannot be undone. [y/N] ")?;
            error.flush()?;
            let mut answer = String::new();
            std::io::stdin().lock().read_line(&mut answer)?;
            if !matches!(answer.trim(), "y" | "Y" | "yes") {
                return Err("nothing was removed".into());
            }
        }
        let mut done: BTreeMap<String, u64> = BTreeMap::new();
        let mut place = Some(Place { kind: first, from: 0 });
        while place.is_some() {
            let part = self.command(&kinds, place)?;
            for (what, count) in part.counts {
                *done.entry(what).or_default() += count;
            }
            place = part.next;
        }
        let value = json!({ "accounts": found.accounts, "found": found.counts, "removed": done });
        self.output.print(&self.file.db, &value, |out, _| {
            writeln!(out, "Removed of {}: {}.", self.email, listed(&done))
        })
    }

    /// What was asked for, in the order in which it is removed.
    fn kinds(&self) -> Vec<Kind> {
        let is_wanted = |kind: &Kind| {
            self.all
                || match kind {
                    Kind::Messages => self.messages,
                    Kind::Files => self.files,
                    Kind::Channels => self.channels,
                    Kind::Emoji => self.emoji,
                    Kind::Groups => self.groups,
                    Kind::Bots => self.bots,
                }
        };
        Kind::ALL.into_iter().filter(is_wanted).collect()
    }

    fn command(&self, kinds: &[Kind], place: Option<Place>) -> Result<Purged, Failure> {
        let purge = Purge { email: self.email.clone(), kinds: kinds.to_vec(), invited: self.invited, place };
        run_command(&self.file.db, Command::Purge(purge), false)
    }
}

/// Numbers with what they count.
fn listed(counts: &BTreeMap<String, u64>) -> String {
    if counts.is_empty() {
        return "nothing".to_owned();
    }
    let parts: Vec<String> =
        counts.iter().map(|(what, count)| format!("{count} {}", what.replace('_', " "))).collect();
    parts.join(", ")
}
