//! Inserting people, channels and conversations with their ids.

use crate::auth::{Caller, Credential};
use crate::domain::accounts::change::is_timezone;
use crate::domain::look_alikes::Named;
use crate::domain::rows::channel::TopicsPolicy;
use crate::domain::{look_alikes, messages, user_settings, users};
use crate::moving::import::error::ImportResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::{BotType, RecipientId, Role, UserId, find_forbidden_in_name, fold, without_forbidden};
use rusqlite::Connection;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// A person or bot.
#[derive(Debug)]
pub struct NewPerson {
    pub user_id: u32,
    /// The API email.
    pub email: String,
    /// The real email.
    pub delivery_email: String,
    /// The display name.
    pub full_name: String,
    pub role: Role,
    /// False for deactivated accounts.
    pub is_active: bool,
    /// The kind of bot.
    pub bot_type: Option<BotType>,
    pub bot_owner: Option<u32>,
    /// IANA identifier, or empty.
    pub timezone: String,
    /// UNIX seconds.
    pub date_joined: i64,
    /// The number of changes of the avatar.
    pub avatar_version: i64,
    /// A hash that logins can verify.
    pub password_hash: Option<String>,
    /// Settings that differ from the defaults.
    pub settings: Vec<(&'static str, Value)>,
}

impl NewPerson {
    /// True if the time zone is left out.
    pub fn has_unknown_timezone(&self) -> bool {
        !self.timezone.is_empty() && !is_timezone(&self.timezone)
    }

    /// The caller in whose name texts are rendered.
    pub fn caller(&self) -> Caller {
        caller(self.user_id, self.role, self.bot_type)
    }
}

pub fn caller(user_id: u32, role: Role, bot_type: Option<BotType>) -> Caller {
    Caller {
        user_id: user_id.into(),
        role,
        bot_type,
        bot_owner_id: None,
        bot_creator_id: None,
        credential: Credential::Server,
        version: 0,
    }
}

/// The length up to which names of all kinds may be, in characters.
const ALWAYS_ALLOWED_LENGTH: usize = 40;

/// Returns a name as it can be here: of one with forbidden characters the others, and the id, so that the name stays unique. A
/// longer name does not grow, because it may have the greatest length.
pub fn allowed_name(name: &str, id: i64) -> Cow<'_, str> {
    if !name.trim().is_empty() && find_forbidden_in_name(name).is_none() {
        return Cow::Borrowed(name);
    }
    let kept = without_forbidden(name);
    let kept = if kept.is_empty() { "unnamed" } else { kept.as_str() };
    Cow::Owned(with_id(kept, name.chars().count(), id))
}

/// A name of which there is another one already: with the id behind it.
pub fn second_name(name: &str, id: i64) -> String {
    with_id(name, name.chars().count(), id)
}

/// A name with an id behind it, of at most a length if this is not short.
fn with_id(name: &str, length: usize, id: i64) -> String {
    let ending = format!(" {id}");
    let length = length.max(ALWAYS_ALLOWED_LENGTH).saturating_sub(ending.len());
    let short: String = name.chars().take(length).collect();
    format!("{}{ending}", without_forbidden(&short))
}

/// Returns a display name as it can be here. Those of the server's bots get the person's id, too.
pub fn allowed_full_name(name: &str, id: i64) -> Cow<'_, str> {
    let name = allowed_name(name, id);
    if users::names::is_reserved(&name) { Cow::Owned(format!("{name} {id}")) } else { name }
}

/// Inserts a person or bot. Owners of bots are set later, because they may come later.
pub fn insert_person(connection: &Connection, person: &NewPerson) -> ImportResult<()> {
    let id = i64::from(person.user_id);
    let full_name = allowed_full_name(&person.full_name, id);
    connection.execute_cached(
        "INSERT INTO user (user_id, email, delivery_email, delivery_email_key, full_name, role, is_active, bot_type,
             timezone, date_joined, avatar_version, password_hash)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        (
            person.user_id,
            &person.email,
            &person.delivery_email,
            person.delivery_email.to_lowercase(),
            full_name.as_ref(),
            person.role,
            person.is_active,
            person.bot_type,
            if person.has_unknown_timezone() { "" } else { person.timezone.as_str() },
            person.date_joined,
            person.avatar_version,
            &person.password_hash,
        ),
    )?;
    look_alikes::set(connection, Named::User, id, &full_name)?;
    look_alikes::set(connection, Named::Email, id, &person.delivery_email)?;
    for (name, value) in &person.settings {
        user_settings::set(connection, person.user_id.into(), name, value)?;
    }
    Ok(())
}

/// Moves the system bots to other ids, because the organization's people keep theirs. `wanted` has the ids of the archive by
/// email; the others get the ids from `next`. Returns the ids by email.
pub fn move_system_bots(
    connection: &Connection,
    wanted: &HashMap<String, u32>,
    mut next: u32,
) -> ImportResult<HashMap<String, UserId>> {
    let bots = users::system_bots(connection)?;
    // First away from all ids that are wanted.
    let mut moved = HashMap::new();
    for bot in &bots {
        set_id(connection, bot.user_id, UserId(-bot.user_id.0))?;
    }
    for bot in bots {
        let id = wanted.get(&bot.delivery_email).copied().unwrap_or_else(|| {
            next += 1;
            next - 1
        });
        set_id(connection, UserId(-bot.user_id.0), id.into())?;
        moved.insert(bot.delivery_email, id.into());
    }
    Ok(moved)
}

fn set_id(connection: &Connection, from: UserId, to: UserId) -> ImportResult<()> {
    connection.execute_cached("UPDATE user SET user_id = ?2 WHERE user_id = ?1", (from, to))?;
    for kind in ["user", "email"] {
        connection.execute_cached(
            "UPDATE name_skeleton SET id = ?3 WHERE kind = ?1 AND id = ?2",
            (kind, from, to),
        )?;
    }
    Ok(())
}

#[derive(Debug)]
pub struct Channel {
    pub stream_id: u32,
    /// The id of its set of receivers.
    pub recipient_id: u32,
    pub name: String,
    /// Markdown.
    pub description: String,
    /// UNIX seconds.
    pub date_created: i64,
    /// The creator, if known.
    pub creator: Option<u32>,
    pub is_archived: bool,
    /// A private channel.
    pub invite_only: bool,
    /// Readable without an account.
    pub is_web_public: bool,
    /// Subscribers can read messages sent before their subscription.
    pub history_public_to_subscribers: bool,
    /// Days; `None`: the organization's, `-1`: forever.
    pub message_retention_days: Option<i64>,
    /// The policy for the empty topic.
    pub topics_policy: TopicsPolicy,
    /// The folder it is shown in.
    pub folder_id: Option<u32>,
}

/// Inserts a channel with its set of receivers. Its description is rendered later.
pub fn insert_channel(tx: &Tx<'_>, channel: &Channel) -> ImportResult<()> {
    let name = allowed_name(&channel.name, channel.stream_id.into());
    tx.execute_cached(
        "INSERT INTO stream (stream_id, name, name_key, is_archived, description, date_created, creator_id, invite_only,
             is_web_public, history_public_to_subscribers, message_retention_days, topics_policy, folder_id)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        (
            channel.stream_id,
            name.as_ref(),
            fold(&name),
            channel.is_archived,
            &channel.description,
            channel.date_created,
            channel.creator,
            channel.invite_only,
            channel.is_web_public,
            channel.history_public_to_subscribers,
            channel.message_retention_days,
            channel.topics_policy,
            channel.folder_id,
        ),
    )?;
    look_alikes::set(tx, Named::Stream, channel.stream_id.into(), &name)?;
    tx.execute_cached(
        "INSERT INTO recipient (recipient_id, stream_id) VALUES (?1, ?2)",
        (channel.recipient_id, channel.stream_id),
    )?;
    Ok(())
}

/// Inserts a direct conversation; participants ascending. With an id, unless it is taken.
pub fn insert_conversation(
    connection: &Connection,
    recipient_id: Option<u32>,
    user_ids: &[UserId],
) -> ImportResult<RecipientId> {
    connection.execute_cached(
        "INSERT INTO recipient (recipient_id, user_ids) VALUES (?1, ?2)",
        (recipient_id, messages::joined(user_ids)),
    )?;
    let recipient_id = RecipientId(connection.last_insert_rowid());
    for user_id in user_ids {
        connection.execute_cached(
            "INSERT INTO direct_participant (user_id, recipient_id) VALUES (?1, ?2)",
            (user_id, recipient_id),
        )?;
    }
    Ok(recipient_id)
}
