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

/// A custom emoji.
#[derive(Serialize, Deserialize)]
pub struct EmojiRecord {
    /// The id, as a string.
    id: String,
    /// The name, which messages have between colons. It is unique among the emoji that are not deactivated.
    name: String,
    /// The URL of the image, relative to the organization's URL.
    source_url: String,
    /// The URL of a still image; null unless the emoji is animated.
    still_url: Option<String>,
    /// True if the emoji can no longer be used. Old messages and reactions still show it.
    deactivated: bool,
    /// The id of the user who uploaded it; null if unknown.
    author_id: Option<UserId>,
}

/// `realm_emoji`, `op: update`: a custom emoji was added or deactivated. The event has all of them.
#[derive(Serialize, Deserialize)]
pub struct EmojiChanged {
    /// All custom emoji by their ids.
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
