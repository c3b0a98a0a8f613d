//! `PATCH /bots/{bot_id}` and `DELETE /bots/{bot_id}`.

use crate::domain::access::channels::Viewer;
use crate::domain::accounts::avatar::AvatarImage;
use crate::domain::accounts::{avatar, deactivation, handover, role};
use crate::domain::audit::{Action, Entry};
use crate::domain::bots::default_channels;
use crate::domain::bots::events::BotChange;
use crate::domain::notices::ownership::Actor;
use crate::domain::rows::user::UserRow;
use crate::domain::{accounts, bots, rows, users};
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{BotType, JsonOrText, Role, UserId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Parameters of `PATCH /bots/{bot_id}`.
#[derive(Deserialize)]
pub struct UpdateBotParams {
    /// The bot to change: one of the caller, or for administrators any bot.
    bot_id: UserId,
    /// The new display name, at most 100 characters. No other active user may have it or a similar one.
    full_name: Option<String>,
    /// The new role: 400 for a member, 600 for a guest. Only administrators may change it.
    role: Option<Role>,
    /// The new owner, an active person, who gets a message about it. The bot gets a new key. Its event queues end, its scheduled
    /// messages are cancelled, its reminders are deleted, and the email addresses of channels that it requested end. It leaves the
    /// private channels and groups that the new owner is not in. An outgoing webhook loses its URL.
    bot_owner_id: Option<UserId>,
    /// Changes to the configuration of the integration: an object of strings. Other keys keep their values.
    config_data: Option<BTreeMap<String, String>>,
    /// The new `http` URL of an outgoing webhook, at most 2000 characters. `https` is refused.
    service_payload_url: Option<JsonOrText>,
    /// The payload format of an outgoing webhook. 1: native (default), 2: Slack's. It applies only together with
    /// `service_payload_url`.
    #[serde(default = "default_interface")]
    service_interface: i64,
    /// The name of the channel that the bot sends to by default; empty for none.
    default_sending_stream: Option<String>,
    /// The name of the channel whose events the bot receives by default; empty for none.
    default_events_register_stream: Option<String>,
    /// True if the bot receives events of all public channels by default.
    default_all_public_streams: Option<bool>,
}

impl UpdateBotParams {
    /// True if the request changes the destination of the bot's messages or its owner.
    fn changes_more_than_looks(&self) -> bool {
        self.bot_owner_id.is_some()
            || self.config_data.is_some()
            || self.service_payload_url.is_some()
            || self.default_sending_stream.is_some()
            || self.default_events_register_stream.is_some()
            || self.default_all_public_streams.is_some()
    }
}

fn default_interface() -> i64 {
    bots::rules::INTERFACES[0]
}

/// `PATCH /bots/{bot_id}`: changes a bot, active or not. A multipart body may have a new avatar as a file.
/// Administrators can change only name, role and avatar of the bot of an owner.
pub async fn update_bot(mut call: Call<User>, params: UpdateBotParams) -> ApiResult<Reply<UpdatedBot>> {
    let files = std::mem::take(&mut call.files);
    let image = avatar::from_files(&call.app, call.caller.user_id, files).await?;
    call.write(move |tx, caller| update(tx, caller, params, image.as_ref())).await
}

/// The reply to `PATCH /bots/{bot_id}`.
#[derive(Serialize)]
pub struct UpdatedBot {
    /// The display name.
    full_name: String,
    /// The URL of the bot's image.
    avatar_url: String,
    /// The value of `service_interface` in the request, or its default.
    service_interface: i64,
    /// The URL to which messages are posted; null if it did not change.
    service_payload_url: Option<String>,
    /// The configuration of the integration; null if it did not change.
    config_data: Option<Value>,
    /// The name of the channel that the bot sends to by default; null for none, or if the caller cannot see it.
    default_sending_stream: Option<String>,
    /// The name of the channel whose events the bot receives by default; null for none, or if the caller cannot see it.
    default_events_register_stream: Option<String>,
    /// True if the bot receives events of all public channels by default.
    default_all_public_streams: bool,
    /// The owner's API email; absent for a bot without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    bot_owner: Option<String>,
}

fn update(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: UpdateBotParams,
    image: Option<&AvatarImage>,
) -> ApiResult<Reply<UpdatedBot>> {
    let mut bot = bots::rules::find(tx, caller, params.bot_id)?;
    if params.changes_more_than_looks() {
        bots::rules::check_fully_administers(tx, caller, &bot)?;
    }
    if let Some(full_name) = &params.full_name {
        accounts::change::set_full_name(tx, &bot, full_name)?;
    }
    if let Some(name) = &params.default_sending_stream {
        let stream_id = bots::rules::find_default_channel(tx.ctx(caller), name)?;
        bots::set_default_sending_stream(tx, bot.user_id, stream_id)?;
        bots::events::emit_default_channel(tx, &bot, BotChange::sending_stream)?;
    }
    if let Some(name) = &params.default_events_register_stream {
        let stream_id = bots::rules::find_default_channel(tx.ctx(caller), name)?;
        bots::set_default_events_register_stream(tx, bot.user_id, stream_id)?;
        bots::events::emit_default_channel(tx, &bot, BotChange::events_stream)?;
    }
    if let Some(on) = params.default_all_public_streams {
        bots::set_default_all_public_streams(tx, bot.user_id, on)?;
        bots::events::emit_updated(tx, &bot, BotChange::DefaultAllPublicStreams(on))?;
    }
    audit(tx, &bot, &params)?;
    let mut service_payload_url = None;
    if let Some(url) = params.service_payload_url {
        let url = bots::rules::check_payload_url("service_payload_url", url)?;
        bots::rules::check_interface(params.service_interface)?;
        change_service(tx, &bot, &url, params.service_interface)?;
        service_payload_url = Some(url);
    }
    let mut config_data = None;
    if let Some(wanted) = params.config_data {
        let wanted = serde_json::to_string(&wanted)?;
        bots::rules::check_config_data(&wanted)?;
        let merged = bots::merge_config_data(tx, bot.user_id, &wanted)?;
        bots::rules::check_config_data(&merged)?;
        config_data = Some(serde_json::from_str::<Value>(&merged)?);
    }
    // The last change by the former owner: it also ends the URL of an outgoing webhook.
    if let Some(owner_id) = params.bot_owner_id {
        give(tx, caller, &mut bot, owner_id)?;
    }
    if let Some(wanted) = params.role.filter(|wanted| *wanted != bot.role) {
        users::rules::check_role(caller.role, bot.role, wanted, false)?;
        bots::rules::check_role(tx, wanted, bot.bot_owner_id)?;
        role::change(tx, &bot, wanted, Actor::User(caller.user_id))?;
    }
    let bot = rows::user::existing(tx, bot.user_id)?;
    if image.is_some() {
        avatar::set(tx, &bot, image)?;
    }
    let bot = rows::user::existing(tx, bot.user_id)?;
    let mut row = bots::load(tx, bot.user_id)?
        .ok_or_else(|| ApiError::internal("the bot that is being changed has no bot row"))?;
    default_channels::hide_inaccessible(&Viewer::new(tx.ctx(caller)), &mut row)?;
    let owner = rows::user::owner(tx, bot.bot_owner_id)?;
    Reply::data(&UpdatedBot {
        full_name: bot.full_name,
        avatar_url: bot.avatar.url(),
        service_interface: params.service_interface,
        service_payload_url,
        config_data,
        default_sending_stream: row.sending_stream_name(),
        default_events_register_stream: row.events_stream_name(),
        default_all_public_streams: row.default_all_public_streams,
        bot_owner: owner.map(|owner| owner.email),
    })
}

/// Records the changed properties of a bot, without values: addresses and configurations may have secrets.
fn audit(tx: &Tx<'_>, bot: &UserRow, params: &UpdateBotParams) -> ApiResult<()> {
    let properties = [
        ("default_sending_stream", params.default_sending_stream.is_some()),
        ("default_events_register_stream", params.default_events_register_stream.is_some()),
        ("default_all_public_streams", params.default_all_public_streams.is_some()),
        ("service_payload_url", params.service_payload_url.is_some()),
        ("config_data", params.config_data.is_some()),
    ];
    let changed: Vec<&str> =
        properties.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect();
    if changed.is_empty() {
        return Ok(());
    }
    tx.audit(Entry::new(Action::BotChanged, bot.user_id).after(changed))
}

/// Gives a bot to a person, unless it is theirs.
fn give(tx: &mut Tx<'_>, caller: &Caller, bot: &mut UserRow, owner_id: UserId) -> ApiResult<()> {
    let owner = find_new_owner(tx, owner_id)?;
    if bot.bot_owner_id != Some(owner_id) {
        *bot = handover::give(tx, bot, &owner, Actor::User(caller.user_id))?;
    }
    Ok(())
}

fn find_new_owner(connection: &Connection, owner_id: UserId) -> ApiResult<UserRow> {
    let refused = |msg: &'static str| Err(ApiError::bad_request(msg));
    match rows::user::by_id(connection, owner_id)? {
        None => refused("Failed to change owner, no such user"),
        Some(owner) if owner.is_system_bot => refused("Failed to change owner, no such user"),
        Some(owner) if !owner.is_active => refused("Failed to change owner, user is deactivated"),
        Some(owner) if owner.is_bot() => refused("Failed to change owner, bots can't own other bots"),
        Some(owner) => Ok(owner),
    }
}

fn change_service(tx: &mut Tx<'_>, bot: &UserRow, url: &str, interface: i64) -> ApiResult<()> {
    if bot.bot_type != Some(BotType::OutgoingWebhook) {
        return Err(ApiError::bad_request("Invalid bot type"));
    }
    bots::set_service(tx, bot.user_id, url, interface)?;
    bots::events::emit_service(tx, bot)
}

/// Parameters of `DELETE /bots/{bot_id}`.
#[derive(Deserialize)]
pub struct DeactivateBotParams {
    /// The bot to deactivate: one of the caller, or for administrators any bot.
    bot_id: UserId,
}

/// `DELETE /bots/{bot_id}`: deactivates a bot and ends its pending polls. Does nothing for a deactivated bot.
pub fn deactivate_bot(tx: &mut Tx<'_>, caller: &User, params: DeactivateBotParams) -> ApiResult<Reply> {
    let bot = bots::rules::find(tx, caller, params.bot_id)?;
    if bot.is_active {
        deactivation::deactivate(tx, &bot)?;
    }
    Ok(Reply::ok())
}
