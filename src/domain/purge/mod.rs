//! Deletion of the content that one person and their bots created, for operators of a flooded organization.
//!
//! Deletions run in batches, of which a job of the writer runs as many as it has time for, so that other requests are not
//! delayed. A batch behaves like the usual operations: it emits the events, and keeps objects that others use.

mod batch;
mod channels;
mod groups;
mod sql;

use crate::domain::accounts::deactivation;
use crate::domain::files::references;
use crate::domain::images::public;
pub use crate::domain::purge::batch::Batch;
use crate::domain::purge::batch::{MESSAGES, OTHERS, delete_messages};
use crate::domain::{emoji, files, messages, rows};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::UserId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Kinds of content, in the order of deletion: channels follow their messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Messages, also those in direct conversations.
    Messages,
    /// Uploaded files, also where messages of others link to them.
    Files,
    /// Channels. One with messages of others is archived.
    Channels,
    /// Custom emoji. One that reactions or statuses use is deactivated.
    Emoji,
    /// User groups. One that a permission or another group uses stays.
    Groups,
    /// Bots, which are deactivated.
    Bots,
    /// Texts that only their user sees, and those of the profile: drafts, snippets, scheduled messages, reminders, alert words,
    /// views, the status, values of profile fields, and the storage of bots. Their resources remove it.
    Personal,
}

impl Kind {
    /// All kinds, in the order in which they are removed.
    pub const ALL: [Self; 7] =
        [Self::Messages, Self::Files, Self::Channels, Self::Emoji, Self::Groups, Self::Bots, Self::Personal];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Files => "files",
            Self::Channels => "channels",
            Self::Emoji => "emoji",
            Self::Groups => "groups",
            Self::Bots => "bots",
            Self::Personal => "personal_texts",
        }
    }

    /// Counts the content of accounts; `accounts` is a JSON list of their ids.
    pub fn count(self, connection: &Connection, accounts: &str) -> rusqlite::Result<u64> {
        let statement = match self {
            Self::Messages => {
                "SELECT count(*) FROM message WHERE sender_id IN (SELECT value FROM json_each(?1))"
            }
            Self::Files => {
                "SELECT count(*) FROM attachment WHERE user_id IN (SELECT value FROM json_each(?1))"
            }
            Self::Channels => {
                "SELECT count(*) FROM stream WHERE creator_id IN (SELECT value FROM json_each(?1))"
            }
            Self::Emoji => {
                "SELECT count(*) FROM realm_emoji WHERE author_id IN (SELECT value FROM json_each(?1))"
            }
            Self::Groups => {
                "SELECT count(*) FROM user_group WHERE creator_id IN (SELECT value FROM json_each(?1))"
            }
            Self::Bots => {
                "SELECT count(*) FROM user WHERE user_id IN (SELECT value FROM json_each(?1))
                     AND bot_type IS NOT NULL AND is_active"
            }
            Self::Personal => {
                "WITH account AS (SELECT value AS user_id FROM json_each(?1))
                 SELECT (SELECT count(*) FROM account JOIN draft USING (user_id))
                     + (SELECT count(*) FROM account JOIN saved_snippet USING (user_id))
                     + (SELECT count(*) FROM account JOIN scheduled_message ON sender_id = account.user_id AND NOT sent)
                     + (SELECT count(*) FROM account JOIN reminder USING (user_id))
                     + (SELECT count(*) FROM account JOIN alert_word USING (user_id))
                     + (SELECT count(*) FROM account JOIN navigation_view USING (user_id))
                     + (SELECT count(*) FROM account JOIN user_status USING (user_id)
                            WHERE status_text <> '' OR emoji_name <> '')
                     + (SELECT count(*) FROM account JOIN profile_value USING (user_id))
                     + (SELECT count(*) FROM account JOIN bot_storage USING (user_id))"
            }
        };
        let count: i64 = connection.prepare_cached(statement)?.query_row([accounts], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Deletes a batch of content, starting after `from`, the end of the previous batch. `shown` are the custom emoji
    /// in use by reactions and statuses, if emoji are deleted.
    pub fn remove(
        self,
        tx: &mut Tx<'_>,
        accounts: &[UserId],
        from: i64,
        shown: &BTreeSet<i64>,
    ) -> ApiResult<Batch> {
        match self {
            Self::Messages => remove_messages(tx, accounts),
            Self::Files => remove_files(tx, accounts),
            Self::Channels => channels::remove(tx, accounts, from),
            Self::Emoji => remove_emoji(tx, accounts, from, shown),
            Self::Groups => groups::remove(tx, accounts, from),
            Self::Bots => deactivate_bots(tx, accounts),
            // Above this layer: the command calls the resources.
            Self::Personal => Ok(Batch::default()),
        }
    }
}

fn remove_messages(tx: &mut Tx<'_>, accounts: &[UserId]) -> ApiResult<Batch> {
    let mut batch = Batch::default();
    for user_id in accounts {
        let mut found = sql::of_sender(tx, *user_id, MESSAGES)?;
        found.truncate(messages::count_for_one_step(tx, found.iter().map(|found| found.id))?);
        if !found.is_empty() {
            batch.count("messages", found.len());
            delete_messages(tx, found)?;
            batch.next = Some(0);
            break;
        }
    }
    Ok(batch)
}

fn remove_files(tx: &mut Tx<'_>, accounts: &[UserId]) -> ApiResult<Batch> {
    let mut batch = Batch::default();
    for user_id in accounts {
        let found = files::first_of_user(tx, *user_id, OTHERS)?;
        if !found.is_empty() {
            for file in &found {
                references::delete(tx, file)?;
            }
            batch.count("files", found.len());
            batch.next = Some(0);
            break;
        }
    }
    Ok(batch)
}

/// Deactivates all emoji of the accounts, and then deletes unused ones. A deactivated emoji cannot be used again, so
/// usage is read outside of the writer, after the first batch.
fn remove_emoji(tx: &mut Tx<'_>, accounts: &[UserId], from: i64, shown: &BTreeSet<i64>) -> ApiResult<Batch> {
    let mut batch = Batch::default();
    let own: Vec<_> = emoji::all(tx)?
        .into_iter()
        .filter(|emoji| emoji.author_id.is_some_and(|author| accounts.contains(&author)))
        .collect();
    if own.is_empty() {
        return Ok(batch);
    }
    if from == 0 {
        for emoji in own.iter().filter(|emoji| !emoji.deactivated) {
            emoji::deactivate(tx, emoji.id)?;
        }
        emoji::events::emit_changed(tx)?;
        batch.next = Some(1);
        return Ok(batch);
    }
    let (mut kept, mut gone) = (0, 0);
    for emoji in own {
        if shown.contains(&emoji.id) {
            kept += 1;
            continue;
        }
        public::delete(tx, &emoji::image_path(&emoji.file))?;
        if emoji.is_animated {
            public::delete(tx, &emoji::still_image_path(&emoji.file))?;
        }
        emoji::delete(tx, emoji.id)?;
        gone += 1;
    }
    batch.count("emoji", gone);
    batch.count("emoji_deactivated", kept);
    emoji::events::emit_changed(tx)?;
    Ok(batch)
}

fn deactivate_bots(tx: &mut Tx<'_>, accounts: &[UserId]) -> ApiResult<Batch> {
    let (mut batch, mut gone) = (Batch::default(), 0);
    for user_id in accounts {
        let Some(user) = rows::user::by_id(tx, *user_id)? else { continue };
        if !user.is_bot() || !user.is_active {
            continue;
        }
        if gone >= OTHERS {
            batch.next = Some(0);
            break;
        }
        deactivation::deactivate(tx, &user)?;
        gone += 1;
    }
    batch.count("bots", gone);
    Ok(batch)
}
