//! The list of all custom emoji, and the event with it.

use crate::domain::emoji::{source_url, sql};
use crate::domain::images::public;
use crate::domain::realm::user_ids::everyone;
use crate::error::ApiResult;
use crate::events::uniform_event;
use crate::store::Tx;
use crate::types::UserId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A custom emoji on the wire.
#[derive(Serialize, Deserialize)]
pub struct EmojiRecord {
    /// The id as a text.
    id: String,
    /// The name that messages have between colons; unique among those in use.
    name: String,
    /// Relative to the organization's address.
    source_url: String,
    /// Null unless it is animated.
    still_url: Option<String>,
    /// True if it can no longer be used. Old messages and reactions still show it.
    deactivated: bool,
    /// The user who uploaded it; null if unknown.
    author_id: Option<UserId>,
}

/// `realm_emoji`, `op: update`: all emoji, whatever changed.
#[derive(Serialize, Deserialize)]
pub struct EmojiChanged {
    /// By id.
    realm_emoji: BTreeMap<i64, EmojiRecord>,
}

uniform_event!(EmojiChanged: "realm_emoji", op "update", version 1);

/// All emoji by their ids, also those that are deactivated.
pub fn all_records(connection: &Connection) -> ApiResult<BTreeMap<i64, EmojiRecord>> {
    let mut by_id = BTreeMap::new();
    for emoji in sql::all(connection)? {
        let still_url =
            emoji.is_animated.then(|| format!("{}{}", public::ROOT, sql::still_image_path(&emoji.file)));
        let record = EmojiRecord {
            id: emoji.id.to_string(),
            source_url: source_url(&emoji),
            still_url,
            name: emoji.name,
            deactivated: emoji.deactivated,
            author_id: emoji.author_id,
        };
        by_id.insert(emoji.id, record);
    }
    Ok(by_id)
}

/// Emits the list of all custom emoji to everyone.
pub fn emit_changed(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = EmojiChanged { realm_emoji: all_records(tx)? };
    let audience = everyone(tx)?;
    tx.emit(event, audience);
    Ok(())
}
