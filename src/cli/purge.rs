//! `teamchat user purge`.

use super::common::{Failure, File, Output, confirm, run_command};
use super::test_flags::UsageError;
use clap::Args;
use clap::builder::BoolishValueParser;
use serde_json::json;
use std::collections::BTreeMap;
use teamchat::commands::{Command, Place, Purge, Purged};
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
    #[arg(long, env = "TEAMCHAT_MESSAGES", value_parser = BoolishValueParser::new())]
    messages: bool,
    /// Delete the files that they uploaded.
    #[arg(long, env = "TEAMCHAT_FILES", value_parser = BoolishValueParser::new())]
    files: bool,
    /// Delete the channels that they created, and archive those with messages of others.
    #[arg(long, env = "TEAMCHAT_CHANNELS", value_parser = BoolishValueParser::new())]
    channels: bool,
    /// Delete their custom emoji, and deactivate those that reactions or statuses show.
    #[arg(long, env = "TEAMCHAT_EMOJI", value_parser = BoolishValueParser::new())]
    emoji: bool,
    /// Delete the user groups that they created, if nothing refers to them.
    #[arg(long, env = "TEAMCHAT_GROUPS", value_parser = BoolishValueParser::new())]
    groups: bool,
    /// Deactivate their bots.
    #[arg(long, env = "TEAMCHAT_BOTS", value_parser = BoolishValueParser::new())]
    bots: bool,
    /// Delete their drafts, saved snippets, scheduled messages, reminders, alert words, saved views, status, values of profile
    /// fields, and the storage of their bots.
    #[arg(long, env = "TEAMCHAT_PERSONAL", value_parser = BoolishValueParser::new())]
    personal: bool,
    /// Delete all of these. The account itself stays, with its name, email, image, settings, reactions and votes.
    #[arg(long, env = "TEAMCHAT_ALL", value_parser = BoolishValueParser::new())]
    all: bool,
    /// Include the accounts that they invited in the last week, and the accounts that those invited.
    #[arg(long, env = "TEAMCHAT_INVITED", value_parser = BoolishValueParser::new())]
    invited: bool,
    /// Print the counts, and delete nothing.
    #[arg(long, env = "TEAMCHAT_DRY_RUN", value_parser = BoolishValueParser::new())]
    dry_run: bool,
    /// Do not ask for confirmation.
    #[arg(long, env = "TEAMCHAT_YES", value_parser = BoolishValueParser::new())]
    yes: bool,
    #[command(flatten)]
    output: Output,
}

impl PurgeCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let kinds = self.kinds();
        let Some(first) = kinds.first().copied() else {
            let text = "choose the content to remove: --all, or --messages, --files, --channels, --emoji, --groups, --bots, --personal";
            return Err(UsageError(text.to_owned()).into());
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
            let refusal = format!("nothing was removed; --yes removes {words}");
            confirm(&format!("Remove {words}? This cannot be undone."), &refusal, "nothing was removed")?;
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
            writeln!(out, "Removed from {}: {}.", self.email, listed(&done))
        })
    }

    /// The selected kinds, in the order of deletion.
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
                    Kind::Personal => self.personal,
                }
        };
        Kind::ALL.into_iter().filter(is_wanted).collect()
    }

    fn command(&self, kinds: &[Kind], place: Option<Place>) -> Result<Purged, Failure> {
        let purge = Purge { email: self.email.clone(), kinds: kinds.to_vec(), invited: self.invited, place };
        run_command(&self.file.db, Command::Purge(purge))
    }
}

/// Formats counts with their names.
pub(super) fn listed(counts: &BTreeMap<String, u64>) -> String {
    if counts.is_empty() {
        return "nothing".to_owned();
    }
    let parts: Vec<String> =
        counts.iter().map(|(what, count)| format!("{count} {}", what.replace('_', " "))).collect();
    parts.join(", ")
}
