//! `realm_bot` events, for a bot's owner and for administrators, and the bots in the answer of `POST /register`. Owners
//! who are guests receive nothing: they may not administer the bot, and the events contain its key. Administrators
//! receive the bot of an owner without its key.

use crate::domain::bots::administrators::Administrators;
use crate::domain::bots::record::{BotRecord, ServiceRecord};
use crate::domain::bots::sql::BotRow;
use crate::domain::bots::{default_channels, sql};
use crate::domain::rows;
use crate::domain::rows::user::UserRow;
use crate::error::ApiResult;
use crate::events::{Audience, uniform_event};
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

/// `realm_bot`, `op: add`: the receiver can administer a bot that is new, or that they could not administer before.
#[derive(Serialize, Deserialize)]
pub struct BotAdded {
    bot: BotRecord,
}

uniform_event!(BotAdded: "realm_bot", op "add", version 1);

/// `realm_bot`, `op: update`: a property of a bot changed.
#[derive(Serialize, Deserialize)]
pub struct BotUpdated {
    /// The bot's `user_id` and the changed member of its record.
    bot: ChangedBot,
}

#[derive(Serialize, Deserialize)]
struct ChangedBot {
    /// The bot's user id.
    user_id: UserId,
    #[serde(flatten)]
    change: BotChange,
}

/// A changed member of a bot's record.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BotChange {
    /// The new API key.
    ApiKey(String),
    /// The new URL of the bot's image.
    AvatarUrl(String),
    /// True if the bot receives events of all public channels by default.
    DefaultAllPublicStreams(bool),
    /// The name of the channel whose events the bot receives by default; null for none, or if the reader cannot see it.
    DefaultEventsRegisterStream(Option<String>),
    /// The name of the channel that the bot sends to by default; null for none, or if the reader cannot see it.
    DefaultSendingStream(Option<String>),
    /// The new display name.
    FullName(String),
    /// False if the bot was deactivated.
    IsActive(bool),
    /// The user id of the new owner; null for none.
    OwnerId(Option<UserId>),
    /// The service of an outgoing webhook, at most one.
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

/// `realm_bot`, `op: delete`: the receiver can no longer administer a bot.
#[derive(Serialize, Deserialize)]
pub struct BotDeleted {
    /// The bot, by its `user_id`.
    bot: DeletedBot,
}

uniform_event!(BotDeleted: "realm_bot", op "delete", version 1);

#[derive(Serialize, Deserialize)]
struct DeletedBot {
    /// The bot's user id.
    user_id: UserId,
}

/// Emits `realm_bot/add` to `user_ids`, who can administer the bot from now on.
fn emit_added_to(tx: &mut Tx<'_>, bot: &UserRow, user_ids: RoaringBitmap) -> ApiResult<()> {
    let Some(row) = sql::load(tx, bot.user_id)? else { return Ok(()) };
    for (row, user_ids) in seen_rows(tx, bot, &row, user_ids)? {
        tx.emit(BotAdded { bot: BotRecord::new(bot, &row) }, Audience::set(user_ids));
    }
    Ok(())
}

/// A bot's row as each of some users may see it.
fn seen_rows(
    tx: &Tx<'_>,
    bot: &UserRow,
    row: &BotRow,
    mut user_ids: RoaringBitmap,
) -> ApiResult<Vec<(BotRow, RoaringBitmap)>> {
    let mut rows = Vec::new();
    if user_ids.is_empty() {
        return Ok(rows);
    }
    if let Some((owner_id, shown)) = default_channels::hidden_from_owner(tx, bot, row)?
        && let Some(bit) = owner_id.bit()
        && user_ids.remove(bit)
    {
        rows.push((shown, RoaringBitmap::from_iter([bit])));
    }
    let without_key = Administrators::of(tx, bot)?.without_key & &user_ids;
    if !without_key.is_empty() {
        user_ids -= &without_key;
        let mut shown = row.clone();
        shown.hide_secrets();
        rows.push((shown, without_key));
    }
    rows.push((row.clone(), user_ids));
    Ok(rows)
}

/// Emits `realm_bot/add` to all who can administer a new bot.
pub fn emit_added(tx: &mut Tx<'_>, bot: &UserRow) -> ApiResult<()> {
    let user_ids = Administrators::of(tx, bot)?.all();
    emit_added_to(tx, bot, user_ids)
}

/// Emits `realm_bot/delete` to users who can no longer administer the bot.
fn emit_deleted_to(tx: &mut Tx<'_>, bot: &UserRow, user_ids: RoaringBitmap) {
    tx.emit(BotDeleted { bot: DeletedBot { user_id: bot.user_id } }, Audience::set(user_ids));
}

/// Emits `realm_bot/update` to all who can administer the bot; its key to those who may have it. Does nothing for a person.
pub fn emit_updated(tx: &mut Tx<'_>, bot: &UserRow, change: BotChange) -> ApiResult<()> {
    if bot.is_bot() {
        let administrators = Administrators::of(tx, bot)?;
        let user_ids =
            if let BotChange::ApiKey(_) = change { administrators.full } else { administrators.all() };
        emit_updated_to(tx, bot, change, user_ids);
    }
    Ok(())
}

/// Emits the service of an outgoing webhook to all who can administer it.
pub fn emit_service(tx: &mut Tx<'_>, bot: &UserRow) -> ApiResult<()> {
    let user_ids = Administrators::of(tx, bot)?.all();
    emit_service_to(tx, bot, user_ids)
}

fn emit_service_to(tx: &mut Tx<'_>, bot: &UserRow, user_ids: RoaringBitmap) -> ApiResult<()> {
    let Some(row) = sql::load(tx, bot.user_id)? else { return Ok(()) };
    if row.service.is_none() {
        return Ok(());
    }
    for (row, user_ids) in seen_rows(tx, bot, &row, user_ids)? {
        let services = ServiceRecord::list(row.service.as_ref());
        emit_updated_to(tx, bot, BotChange::Services(services), user_ids);
    }
    Ok(())
}

/// Emits a new default channel, which `change` takes from the bot's row, to all who can administer the bot.
pub fn emit_default_channel(
    tx: &mut Tx<'_>,
    bot: &UserRow,
    change: fn(&BotRow) -> BotChange,
) -> ApiResult<()> {
    let user_ids = Administrators::of(tx, bot)?.all();
    emit_default_channel_to(tx, bot, change, user_ids)
}

fn emit_default_channel_to(
    tx: &mut Tx<'_>,
    bot: &UserRow,
    change: fn(&BotRow) -> BotChange,
    user_ids: RoaringBitmap,
) -> ApiResult<()> {
    let Some(row) = sql::load(tx, bot.user_id)? else { return Ok(()) };
    for (row, user_ids) in seen_rows(tx, bot, &row, user_ids)? {
        emit_updated_to(tx, bot, change(&row), user_ids);
    }
    Ok(())
}

/// Emits a channel, as the default channel of bots, to those of some users who can administer the bots: they see it now, or no
/// longer, or it has a new name.
pub fn emit_default_channel_again(
    tx: &mut Tx<'_>,
    stream_id: StreamId,
    user_ids: &RoaringBitmap,
) -> ApiResult<()> {
    for (bot_id, sends_to_it, has_its_events) in sql::with_default_channel(tx, stream_id)? {
        let Some(bot) = rows::user::by_id(tx, bot_id)? else { continue };
        let user_ids = Administrators::of(tx, &bot)?.all() & user_ids;
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
    if !user_ids.is_empty() {
        let bot = ChangedBot { user_id: bot.user_id, change };
        tx.emit(BotUpdated { bot }, Audience::set(user_ids));
    }
}

/// Emits the events of a new owner: `delete` and `add` to those who cannot administer the bot any more, or can now, such as
/// the two owners; `update` to the others, with the new key.
pub fn emit_owner_changed(tx: &mut Tx<'_>, bot: &UserRow, before: &Administrators) -> ApiResult<()> {
    let after = Administrators::of(tx, bot)?;
    let kept = before.all() & after.all();
    emit_administrators_changed(tx, bot, before, &after)?;
    let lost_key = &before.full & &after.without_key;
    let receivers = kept - lost_key;
    emit_updated_to(tx, bot, BotChange::OwnerId(bot.bot_owner_id), receivers.clone());
    let kept_key = &before.full & &after.full;
    emit_key_to(tx, bot, kept_key.clone())?;
    emit_service_to(tx, bot, &receivers - (&before.without_key & &after.full))
}

/// Emits a bot to those who can administer it now, or no longer, or may have its key now, or no longer.
pub fn emit_administrators_changed(
    tx: &mut Tx<'_>,
    bot: &UserRow,
    before: &Administrators,
    after: &Administrators,
) -> ApiResult<()> {
    let (all_before, all_after) = (before.all(), after.all());
    // No event removes a key, so users who lose it get the bot again.
    let lost_key = &before.full & &after.without_key;
    emit_deleted_to(tx, bot, (&all_before - &all_after) | &lost_key);
    emit_added_to(tx, bot, (all_after - all_before) | lost_key)?;
    let gained_key = &before.without_key & &after.full;
    emit_key_to(tx, bot, gained_key.clone())?;
    emit_service_to(tx, bot, gained_key)
}

fn emit_key_to(tx: &mut Tx<'_>, bot: &UserRow, user_ids: RoaringBitmap) -> ApiResult<()> {
    if let Some(api_key) = sql::load(tx, bot.user_id)?.and_then(|row| row.api_key) {
        emit_updated_to(tx, bot, BotChange::ApiKey(api_key), user_ids);
    }
    Ok(())
}
