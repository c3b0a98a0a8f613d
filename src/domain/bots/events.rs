//! `realm_bot` events, for a bot's owner and for administrators, and the bots in the answer of `POST /register`.

use crate::domain::access::user_rows::UserRow;
use crate::domain::bots::record::BotRecord;
use crate::domain::bots::sql;
use crate::domain::realm::user_ids as users;
use crate::events::{Audience, uniform_event};
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use crate::types::UserId;
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// `realm_bot`, `op: add`: a bot that the receivers can administer now.
#[derive(Serialize, Deserialize)]
pub struct BotAdded {
    bot: BotRecord,
}

uniform_event!(BotAdded: "realm_bot", op "add", version 1);

/// `realm_bot`, `op: update`: `user_id` and what is new.
#[derive(Serialize, Deserialize)]
pub struct BotUpdated {
    bot: Map<String, Value>,
}

uniform_event!(BotUpdated: "realm_bot", op "update", version 1);

/// `realm_bot`, `op: delete`: a bot that the receivers can no longer administer.
#[derive(Serialize, Deserialize)]
pub struct BotDeleted {
    bot: DeletedBot,
}

uniform_event!(BotDeleted: "realm_bot", op "delete", version 1);

#[derive(Serialize, Deserialize)]
struct DeletedBot {
    user_id: UserId,
}

/// Who administers a bot: its owner, and administrators.
fn administrators(connection: &Connection, bot: &UserRow) -> ApiResult<RoaringBitmap> {
    let mut user_ids = users::administrator_ids(connection)?;
    user_ids.extend(bot.bot_owner_id.and_then(UserId::bit));
    Ok(user_ids)
}

/// Tells these users of a bot that they can administer now.
pub fn added_for(tx: &mut Tx<'_>, bot: &UserRow, user_ids: RoaringBitmap) -> ApiResult<()> {
    if let Some(row) = sql::load(tx, bot.user_id)? {
        tx.emit(BotAdded { bot: BotRecord::new(bot, &row) }, Audience::set(user_ids));
    }
    Ok(())
}

/// Tells those who administer a new bot.
pub fn added(tx: &mut Tx<'_>, bot: &UserRow) -> ApiResult<()> {
    let user_ids = administrators(tx, bot)?;
    added_for(tx, bot, user_ids)
}

/// Tells a user of a bot that they can no longer administer.
pub fn deleted_for(tx: &mut Tx<'_>, bot_id: UserId, user_id: UserId) {
    tx.emit(BotDeleted { bot: DeletedBot { user_id: bot_id } }, Audience::user(user_id));
}

/// Tells those who administer a bot that something about it is new; of people there is nothing to tell.
pub fn updated(tx: &mut Tx<'_>, bot: &UserRow, name: &str, value: impl Into<Value>) -> ApiResult<()> {
    if bot.is_bot() {
        let user_ids = administrators(tx, bot)?;
        updated_for(tx, bot, name, value.into(), user_ids);
    }
    Ok(())
}

/// The same, for these users.
pub fn updated_for(tx: &mut Tx<'_>, bot: &UserRow, name: &str, value: Value, user_ids: RoaringBitmap) {
    let mut changed = Map::new();
    changed.insert("user_id".to_owned(), json!(bot.user_id));
    changed.insert(name.to_owned(), value);
    tx.emit(BotUpdated { bot: changed }, Audience::set(user_ids));
}

/// Tells of a bot's new owner: the bot leaves the former one's list and enters the new one's. Administrators have all
/// bots in theirs.
pub fn owner_changed(tx: &mut Tx<'_>, bot: &UserRow, former: Option<UserId>) -> ApiResult<()> {
    let others = users::administrator_ids(tx)?;
    let is_other = |user_id: &UserId| user_id.bit().is_none_or(|bit| !others.contains(bit));
    if let Some(former) = former.filter(is_other) {
        deleted_for(tx, bot.user_id, former);
    }
    if let Some(owner) = bot.bot_owner_id.filter(is_other) {
        added_for(tx, bot, owner.bit().into_iter().collect())?;
    }
    updated_for(tx, bot, "owner_id", json!(bot.bot_owner_id), others);
    Ok(())
}

/// Word `realm_bot`: the bots that the caller can administer, deactivated ones too.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let owner = (!request.caller.role.is_administrator()).then_some(request.caller.user_id);
    let bots = sql::list(request.connection, owner)?;
    let records: Vec<_> = bots.iter().map(|(user, bot)| BotRecord::new(user, bot)).collect();
    state.insert("realm_bots".into(), serde_json::to_value(records)?);
    Ok(())
}

/// Word `realm_embedded_bots`: programs that the server itself would run as bots. It runs none.
pub fn embedded_bots(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("realm_embedded_bots".into(), json!([]));
    Ok(())
}

/// Word `realm_incoming_webhook_bots`: what bots that only deliver can be for.
pub fn incoming_webhook_bots(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let integrations: Vec<Value> = crate::domain::bots::rules::INTEGRATIONS
        .iter()
        .map(|(name, display_name)| {
            json!({"name": name, "display_name": display_name, "all_event_types": null, "config_options": []})
        })
        .collect();
    state.insert("realm_incoming_webhook_bots".into(), integrations.into());
    Ok(())
}
