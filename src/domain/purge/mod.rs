//! Removing what one person has made, with all their bots: for operators, after somebody filled the organization.
//!
//! It is done in batches, each a job of the writer, so that nobody waits long for it. A batch is what others would do too:
//! it emits the events, and what others use stays.

mod batch;
mod channels;
mod groups;
mod sql;

use crate::domain::access::user_rows;
use crate::domain::accounts::deactivation;
use crate::domain::emoji::{events as emoji_events, sql as emoji};
use crate::domain::files::{references, sql as files};
use crate::domain::images::public;
use crate::domain::messages::sql as messages;
pub use crate::domain::purge::batch::Batch;
use crate::domain::purge::batch::{MESSAGES, OTHERS, delete_messages};
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::UserId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What can be removed, in the order in which it is: a channel goes when the messages are gone.
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
}

impl Kind {
    /// All kinds, in the order in which they are removed.
    pub const ALL: [Self; 6] =
        [Self::Messages, Self::Files, Self::Channels, Self::Emoji, Self::Groups, Self::Bots];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Files => "files",
            Self::Channels => "channels",
            Self::Emoji => "emoji",
            Self::Groups => "groups",
            Self::Bots => "bots",
        }
    }

    /// Counts what there is of accounts; `accounts` is a JSON list of their ids.
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
        };
        let count: i64 = connection.prepare_cached(statement)?.query_row([accounts], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    /// Removes a batch of what there is of accounts, beginning after `from`, which is where the batch before it ended.
    /// `shown` are the custom emoji that reactions and statuses show, where emoji are removed.
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
        }
    }
}

fn remove_messages(tx: &mut Tx<'_>, accounts: &[UserId]) -> ApiResult<Batch> {
    let mut batch = Batch::default();
    for user_id in accounts {
        let mut found = sql::of_sender(tx, *user_id, MESSAGES)?;
        found.truncate(messages::fit_in_job(tx, found.iter().map(|found| found.id))?);
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

/// Deactivates all emoji of the accounts, and then deletes those that nothing shows. Nothing begins to show one that is
/// deactivated, so what is shown is read outside of the writer, after the first batch.
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
        emoji_events::emit_changed(tx)?;
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
            public::delete(tx, &emoji::still_path(&emoji.file))?;
        }
        emoji::delete(tx, emoji.id)?;
        gone += 1;
    }
    batch.count("emoji", gone);
    batch.count("emoji_deactivated", kept);
    emoji_events::emit_changed(tx)?;
    Ok(batch)
}

fn deactivate_bots(tx: &mut Tx<'_>, accounts: &[UserId]) -> ApiResult<Batch> {
    let mut batch = Batch::default();
    for user_id in accounts {
        let Some(user) = user_rows::by_id(tx, *user_id)? else { continue };
        if !user.is_bot() || !user.is_active {
            continue;
        }
        if batch.deactivated.len() >= OTHERS {
            batch.next = Some(0);
            break;
        }
        batch.deactivated.extend(deactivation::deactivate(tx, &user)?);
    }
    batch.count("bots", batch.deactivated.len());
    Ok(batch)
}
