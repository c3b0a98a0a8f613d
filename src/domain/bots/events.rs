//! `realm_bot` events, for a bot's owner and for administrators, and the bots in the answer of `POST /register`. An owner
//! who is a guest is told nothing: they may not administer the bot, and the events have its key.

use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::access::user_rows;
use crate::domain::access::user_rows::UserRow;
use crate::domain::bots::record::{BotRecord, ServiceRecord};
use crate::domain::bots::sql::BotRow;
use crate::domain::bots::{default_channels, rules, sql};
use crate::domain::realm::user_ids as users;
use crate::events::{Audience, uniform_event};
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// `realm_bot`, `op: add`: a bot that the receivers can administer now.
#[derive(Serialize, Deserialize)]
pub struct BotAdded {
    bot: BotRecord,
}

uniform_event!(BotAdded: "realm_bot", op "add", version 1);

/// `realm_bot`, `op: update`: `user_id` and what is new.
#[derive(Serialize, Deserialize)]
pub struct BotUpdated {
    /// The bot, and what is new about it.
    bot: ChangedBot,
}

#[derive(Serialize, Deserialize)]
struct ChangedBot {
    /// Identifies the bot.
    user_id: UserId,
    #[serde(flatten)]
    change: BotChange,
}

/// What is new about a bot: a member of its record.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BotChange {
    /// The key with which it authenticates.
    ApiKey(String),
    /// The address of its image.
    AvatarUrl(String),
    /// Whether it receives events of all public channels by default.
    DefaultAllPublicStreams(bool),
    /// The name of its default channel for events; null for none, and for one that the reader may not know of.
    DefaultEventsRegisterStream(Option<String>),
    /// The name of its default channel to send to; null for none, and for one that the reader may not know of.
    DefaultSendingStream(Option<String>),
    /// Its name.
    FullName(String),
    /// Whether it is in use.
    IsActive(bool),
    /// Who owns it; null for nobody.
    OwnerId(Option<UserId>),
    /// The service of an outgoing webhook.
    Services(Vec<ServiceRecord>),
}

uniform_event!(BotUpdated: "realm_bot", op "update", version 1);

impl BotChange {
    /// The default channel to send to, as a row has it.
    pub fn sending_stream(row: &BotRow) -> Self {
        Self::DefaultSendingStream(row.sending_stream_name())
    }

    /// The default channel for events, as a row has it.
    pub fn events_stream(row: &BotRow) -> Self {
        Self::DefaultEventsRegisterStream(row.events_stream_name())
    }
}

/// `realm_bot`, `op: delete`: a bot that the receivers can no longer administer.
#[derive(Serialize, Deserialize)]
pub struct BotDeleted {
    /// The bot that is out of reach.
    bot: DeletedBot,
}

uniform_event!(BotDeleted: "realm_bot", op "delete", version 1);

#[derive(Serialize, Deserialize)]
struct DeletedBot {
    /// Identifies the bot.
    user_id: UserId,
}

/// The users who can administer a bot: its owner and administrators.
fn administrators(connection: &Connection, bot: &UserRow) -> ApiResult<RoaringBitmap> {
    let mut user_ids = users::administrator_ids(connection)?;
    user_ids.extend(entitled_owner(connection, bot.bot_owner_id)?.and_then(UserId::bit));
    Ok(user_ids)
}

/// The owner of a bot, if they may administer it.
fn entitled_owner(connection: &Connection, owner_id: Option<UserId>) -> ApiResult<Option<UserId>> {
    let owner = user_rows::owner(connection, owner_id)?;
    Ok(owner.filter(|owner| rules::may_administer(owner.role, true)).map(|owner| owner.user_id))
}

/// Emits `realm_bot/add` to `user_ids`, who can administer the bot from now on.
pub fn emit_added_to(tx: &mut Tx<'_>, bot: &UserRow, user_ids: RoaringBitmap) -> ApiResult<()> {
    let Some(row) = sql::load(tx, bot.user_id)? else { return Ok(()) };
    for (row, user_ids) in seen_rows(tx, bot, row, user_ids)? {
        tx.emit(BotAdded { bot: BotRecord::new(bot, &row) }, Audience::set(user_ids));
    }
    Ok(())
}

/// A bot's row as each of some users may see it.
fn seen_rows(
    tx: &Tx<'_>,
    bot: &UserRow,
    row: BotRow,
    mut user_ids: RoaringBitmap,
) -> ApiResult<Vec<(BotRow, RoaringBitmap)>> {
    let mut rows = Vec::new();
    if let Some((owner_id, shown)) = default_channels::hidden_from_owner(tx, bot, &row)?
        && let Some(bit) = owner_id.bit()
        && user_ids.remove(bit)
    {
        rows.push((shown, RoaringBitmap::from_iter([bit])));
    }
    rows.push((row, user_ids));
    Ok(rows)
}

/// Emits `realm_bot/add` to all who can administer a new bot.
pub fn emit_added(tx: &mut Tx<'_>, bot: &UserRow) -> ApiResult<()> {
    let user_ids = administrators(tx, bot)?;
    emit_added_to(tx, bot, user_ids)
}

/// Emits `realm_bot/delete` to a user who can no longer administer the bot.
pub fn emit_deleted_to(tx: &mut Tx<'_>, bot_id: UserId, user_id: UserId) {
    tx.emit(BotDeleted { bot: DeletedBot { user_id: bot_id } }, Audience::user(user_id));
}

/// Emits `realm_bot/update` to all who can administer the bot. Does nothing for a person.
pub fn emit_updated(tx: &mut Tx<'_>, bot: &UserRow, change: BotChange) -> ApiResult<()> {
    if bot.is_bot() {
        let user_ids = administrators(tx, bot)?;
        emit_updated_to(tx, bot, change, user_ids);
    }
    Ok(())
}

/// Emits a new default channel, which `change` takes from the bot's row, to all who can administer the bot.
pub fn emit_default_channel(
    tx: &mut Tx<'_>,
    bot: &UserRow,
    change: fn(&BotRow) -> BotChange,
) -> ApiResult<()> {
    let user_ids = administrators(tx, bot)?;
    emit_default_channel_to(tx, bot, change, user_ids)
}

fn emit_default_channel_to(
    tx: &mut Tx<'_>,
    bot: &UserRow,
    change: fn(&BotRow) -> BotChange,
    user_ids: RoaringBitmap,
) -> ApiResult<()> {
    let Some(row) = sql::load(tx, bot.user_id)? else { return Ok(()) };
    for (row, user_ids) in seen_rows(tx, bot, row, user_ids)? {
        emit_updated_to(tx, bot, change(&row), user_ids);
    }
    Ok(())
}

/// Emits a channel, as the default channel of bots, to those of some users who can administer the bots: they see it now, or no
/// longer, or it has a new name.
pub fn emit_default_channel_anew(
    tx: &mut Tx<'_>,
    stream_id: StreamId,
    user_ids: &RoaringBitmap,
) -> ApiResult<()> {
    for (bot_id, sends_to_it, has_its_events) in sql::with_default_channel(tx, stream_id)? {
        let Some(bot) = user_rows::by_id(tx, bot_id)? else { continue };
        let user_ids = administrators(tx, &bot)? & user_ids;
        if sends_to_it {
            emit_default_channel_to(tx, &bot, BotChange::sending_stream, user_ids.clone())?;
        }
        if has_its_events {
            emit_default_channel_to(tx, &bot, BotChange::events_stream, user_ids)?;
        }
    }
    Ok(())
}

fn emit_updated_to(tx: &mut Tx<'_>, bot: &UserRow, change: BotChange, user_ids: RoaringBitmap) {
    let bot = ChangedBot { user_id: bot.user_id, change };
    tx.emit(BotUpdated { bot }, Audience::set(user_ids));
}

/// Emits the events of a new owner: `delete` to the former one, `add` to the new one, `update` to administrators, who
/// can administer all bots.
pub fn emit_owner_changed(tx: &mut Tx<'_>, bot: &UserRow, former: Option<UserId>) -> ApiResult<()> {
    let others = users::administrator_ids(tx)?;
    let is_other = |user_id: &UserId| user_id.bit().is_none_or(|bit| !others.contains(bit));
    if let Some(former) = entitled_owner(tx, former)?.filter(is_other) {
        emit_deleted_to(tx, bot.user_id, former);
    }
    if let Some(owner) = entitled_owner(tx, bot.bot_owner_id)?.filter(is_other) {
        emit_added_to(tx, bot, owner.bit().into_iter().collect())?;
    }
    emit_updated_to(tx, bot, BotChange::OwnerId(bot.bot_owner_id), others);
    Ok(())
}

/// State part `realm_bot`: the bots that the caller can administer, deactivated ones too.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let role = request.caller.role;
    let owner = (!role.is_administrator()).then_some(request.caller.user_id);
    let may_administer = rules::may_administer(role, true);
    let bots = if may_administer { sql::list(request.connection, owner)? } else { Vec::new() };
    let viewer = Viewer::new(Ctx::new(request.connection, request.caller, request.now));
    let mut records = Vec::new();
    for (user, mut bot) in bots {
        default_channels::hide_unseen(&viewer, &mut bot)?;
        records.push(BotRecord::new(&user, &bot));
    }
    state.set::<Vec<BotRecord>>("realm_bots", &records)
}

/// State part `realm_embedded_bots`: bots that run inside the server. There are none.
pub fn embedded_bots(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.set::<[(); 0]>("realm_embedded_bots", &[])
}
