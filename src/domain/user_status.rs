//! User statuses: SQL statements, the wire form, and `user_status` events.

use crate::domain::rows::user::UserRow;
use crate::domain::{access, user_settings};
use crate::error::ApiResult;
use crate::events::{Audience, uniform_event};
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};

/// A user's status. Absent parts are empty strings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserStatus {
    /// The text, at most 60 characters.
    pub status_text: String,
    /// Empty without an emoji.
    pub emoji_name: String,
    /// Identifies the emoji within its type.
    pub emoji_code: String,
    /// `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`.
    pub reaction_type: String,
}

/// `user_status`: a user's status changed. The event has only the changed parts.
#[derive(Serialize, Deserialize)]
pub struct StatusChanged {
    /// The user's id.
    pub user_id: UserId,
    /// True if the user hides their presence, false if they show it again; absent if unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub away: Option<bool>,
    /// The new text, empty if it was removed; absent if unchanged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_text: Option<String>,
    /// Absent if unchanged.
    #[serde(flatten)]
    pub emoji: Option<EmojiParts>,
}

uniform_event!(StatusChanged: "user_status", version 1);

/// The emoji of a status, or of an event; `unicode_emoji` also when there is none, as older clients know it.
#[derive(Clone, Serialize, Deserialize)]
pub struct EmojiParts {
    /// The name of the new emoji, empty if it was removed; absent if unchanged.
    pub emoji_name: String,
    /// The code of the emoji within its type; empty if it was removed.
    pub emoji_code: String,
    /// The type of the emoji: `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`.
    pub reaction_type: String,
}

impl StatusChanged {
    /// An event without changes, for `user_id`.
    pub fn of(user_id: UserId) -> Self {
        Self { user_id, away: None, status_text: None, emoji: None }
    }
}

/// Emits the status of a user who hides or shows their presence, which older clients know as being away.
pub fn away_changed(tx: &mut Tx<'_>, user: &UserRow, away: bool) -> ApiResult<()> {
    let audience = access::users::audience(tx, user)?;
    tx.emit(StatusChanged { away: Some(away), ..StatusChanged::of(user.user_id) }, audience);
    Ok(())
}

/// Emits a status, if there is one, to users who can access the user from now on.
pub fn introduce(tx: &mut Tx<'_>, user: &UserRow, to: &RoaringBitmap) -> ApiResult<()> {
    let UserStatus { status_text, emoji_name, emoji_code, reaction_type } = load(tx, user.user_id)?;
    let is_hidden = !user_settings::PRESENCE_ENABLED.get(tx, user.user_id)?;
    let emoji = EmojiParts { emoji_name, emoji_code, reaction_type };
    let event = StatusChanged {
        away: is_hidden.then_some(true),
        status_text: Some(status_text).filter(|text| !text.is_empty()),
        emoji: Some(emoji).filter(|emoji| !emoji.emoji_name.is_empty()),
        ..StatusChanged::of(user.user_id)
    };
    if event.away.is_some() || event.status_text.is_some() || event.emoji.is_some() {
        tx.emit(event, Audience::set(to.clone()));
    }
    Ok(())
}

/// The status of a user. Parts that are not set are absent.
#[derive(Clone, Debug, Serialize)]
pub struct StatusRecord {
    /// True if the user hides their presence; absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    away: bool,
    /// The text, at most 60 characters.
    #[serde(skip_serializing_if = "String::is_empty")]
    status_text: String,
    /// The name of the emoji.
    #[serde(skip_serializing_if = "String::is_empty")]
    emoji_name: String,
    /// The code of the emoji within its type.
    #[serde(skip_serializing_if = "String::is_empty")]
    emoji_code: String,
    /// The type of the emoji: `unicode_emoji`, `realm_emoji` or `zulip_extra_emoji`.
    #[serde(skip_serializing_if = "String::is_empty")]
    reaction_type: String,
}

impl StatusRecord {
    /// Returns the record. `away` is whether the presence is hidden.
    pub fn new(status: UserStatus, away: bool) -> Self {
        let UserStatus { status_text, emoji_name, emoji_code, reaction_type } = status;
        Self { away, status_text, emoji_name, emoji_code, reaction_type }
    }
}

/// Reads a status from four columns, the first of which is `first`.
pub fn read_status(row: &Row<'_>, first: usize) -> rusqlite::Result<UserStatus> {
    Ok(UserStatus {
        status_text: row.get(first)?,
        emoji_name: row.get(first + 1)?,
        emoji_code: row.get(first + 2)?,
        reaction_type: row.get(first + 3)?,
    })
}

/// Loads a user's status; the default if there is none.
pub fn load(connection: &Connection, user_id: UserId) -> ApiResult<UserStatus> {
    let found = connection
        .prepare_cached(
            "SELECT status_text, emoji_name, emoji_code, reaction_type FROM user_status WHERE user_id = ?1",
        )?
        .query_row([user_id], |row| read_status(row, 0))
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// Stores a user's status.
pub fn save(connection: &Connection, user_id: UserId, status: &UserStatus) -> ApiResult<()> {
    connection.execute_cached(
        "INSERT INTO user_status (user_id, status_text, emoji_name, emoji_code, reaction_type)
         VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET status_text = excluded.status_text, emoji_name = excluded.emoji_name,
             emoji_code = excluded.emoji_code, reaction_type = excluded.reaction_type",
        (user_id, &status.status_text, &status.emoji_name, &status.emoji_code, &status.reaction_type),
    )?;
    Ok(())
}
