//! The custom emoji on the wire: in events, in answers, and in the state of `POST /register`.

use crate::domain::emoji::{source_url, sql};
use crate::domain::images::public;
use crate::domain::users::events::everyone;
use crate::events::Event;
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use crate::types::UserId;
use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Map, Value};

/// A custom emoji on the wire.
#[derive(Serialize)]
struct EmojiRecord {
    id: String,
    name: String,
    /// Relative to the organization's address.
    source_url: String,
    /// Null unless it is animated.
    still_url: Option<String>,
    deactivated: bool,
    author_id: Option<UserId>,
}

/// `realm_emoji`, `op: update`: all emoji anew, whatever changed.
#[derive(Serialize)]
struct EmojiChanged {
    r#type: &'static str,
    op: &'static str,
    realm_emoji: Map<String, Value>,
}

impl Event for EmojiChanged {
    const TYPE: &'static str = "realm_emoji";
}

/// All emoji by their ids, also those that are deactivated.
pub fn all(connection: &Connection) -> ApiResult<Map<String, Value>> {
    let mut by_id = Map::new();
    for emoji in sql::all(connection)? {
        let still_url =
            emoji.is_animated.then(|| format!("{}{}", public::ROOT, sql::still_path(&emoji.file)));
        let record = EmojiRecord {
            id: emoji.id.to_string(),
            source_url: source_url(&emoji),
            still_url,
            name: emoji.name,
            deactivated: emoji.deactivated,
            author_id: emoji.author_id,
        };
        by_id.insert(record.id.clone(), serde_json::to_value(record)?);
    }
    Ok(by_id)
}

/// Tells everybody what emoji there are now.
pub fn announce(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = EmojiChanged { r#type: EmojiChanged::TYPE, op: "update", realm_emoji: all(tx)? };
    let audience = everyone(tx)?;
    tx.emit(&event, audience);
    Ok(())
}

/// Word `realm_emoji`.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("realm_emoji".into(), all(request.connection)?.into());
    Ok(())
}
