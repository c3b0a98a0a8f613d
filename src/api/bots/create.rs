//! `POST /bots`.

use crate::domain::accounts::avatar;
use crate::domain::accounts::avatar::AvatarImage;
use crate::domain::accounts::create::NewUser;
use crate::domain::bots::integrations::IntegrationName;
use crate::domain::bots::record::OwnBotRecord;
use crate::domain::bots::{NewBotRow, Service};
use crate::domain::limits::organization;
use crate::domain::realm::bot_domain;
use crate::domain::users::{emails, names};
use crate::domain::{accounts, bots};
use crate::http::params::Trimmed;
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{BotType, JsonOrText, Role, UserId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Parameters of `POST /bots`.
#[derive(Deserialize)]
pub struct CreateBotParams {
    /// The display name, at most 100 characters. No active user may have it or a similar one.
    full_name: String,
    /// The part of the bot's API email before `-bot@`. The email must not be taken.
    short_name: String,
    /// 1: generic (default), 2: incoming webhook, 3: outgoing webhook. Which are allowed depends on the caller's
    /// permissions.
    #[serde(default = "default_bot_type")]
    bot_type: i64,
    /// The `http` URL to which an outgoing webhook posts messages, at most 2000 characters. Required for outgoing
    /// webhooks; `https` is refused.
    payload_url: Option<JsonOrText>,
    /// The integration of an incoming webhook: a `name` of `realm_incoming_webhook_bots`.
    service_name: Option<Trimmed>,
    /// The payload format of an outgoing webhook. 1: native (default), 2: Slack's.
    #[serde(default = "default_interface")]
    interface_type: i64,
    /// Configuration of the integration of an incoming webhook: an object of strings, at most 16,384 bytes as JSON.
    #[serde(default)]
    config_data: BTreeMap<String, String>,
    /// The name of the channel that the bot sends to by default. The caller must be able to read it.
    default_sending_stream: Option<String>,
    /// The name of the channel whose events the bot receives by default. The caller must be able to read it.
    default_events_register_stream: Option<String>,
    /// True if the bot receives events of all public channels by default; false when absent.
    default_all_public_streams: Option<bool>,
}

fn default_bot_type() -> i64 {
    BotType::Generic.code()
}

fn default_interface() -> i64 {
    bots::rules::INTERFACES[0]
}

/// `POST /bots`: creates a bot owned by the caller. A multipart body may have its avatar as a file.
pub async fn create_bot(mut call: Call<User>, params: CreateBotParams) -> ApiResult<Reply<CreatedBot>> {
    let files = std::mem::take(&mut call.files);
    let image = avatar::from_files(&call.app, call.caller.user_id, files).await?;
    let domain = bot_domain(call.app.options.public_url.as_deref());
    call.write(move |tx, caller| create(tx, caller, params, &domain, image.as_ref())).await
}

/// The reply to `POST /bots`.
#[derive(Serialize)]
pub struct CreatedBot {
    /// The bot's user id.
    user_id: UserId,
    /// Its record, without names.
    #[serde(flatten)]
    bot: OwnBotRecord,
}

fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: CreateBotParams,
    domain: &str,
    image: Option<&AvatarImage>,
) -> ApiResult<Reply<CreatedBot>> {
    caller.check_is_member()?;
    if !caller.role.is_administrator() {
        bots::rules::check_active_number(tx, caller.user_id, tx.now())?;
        bots::rules::check_number(tx, caller.user_id, tx.now())?;
    }
    organization::BOTS.check(tx, caller, 1)?;
    let full_name = names::check_full_name(&params.full_name)?;
    let email = bots::rules::bot_email(&params.short_name, domain)?;
    if emails::is_taken(tx, &email)? {
        return Err(ApiError::bad_request("Username already in use"));
    }
    bots::rules::check_name(tx, &full_name, None)?;
    let bot_type = bots::rules::check_bot_type(tx.ctx(caller), params.bot_type)?;
    bots::rules::check_interface(params.interface_type)?;
    let channel = |name: Option<&String>| match name {
        Some(name) => bots::rules::find_default_channel(tx.ctx(caller), name),
        None => Ok(None),
    };
    let default_sending_stream = channel(params.default_sending_stream.as_ref())?;
    let default_events_register_stream = channel(params.default_events_register_stream.as_ref())?;
    let mut bot = NewBotRow {
        default_sending_stream,
        default_events_register_stream,
        default_all_public_streams: params.default_all_public_streams.unwrap_or(false),
        ..NewBotRow::default()
    };
    match bot_type {
        BotType::IncomingWebhook => {
            bot.service_name = params.service_name.map(Trimmed::into_inner).filter(|name| !name.is_empty());
            if let Some(name) = &bot.service_name {
                IntegrationName::check(name)?;
            }
            bot.config_data = serde_json::to_string(&params.config_data)?;
            bots::rules::check_config_data(&bot.config_data)?;
        }
        BotType::OutgoingWebhook => {
            let url = params.payload_url.unwrap_or(JsonOrText::Text(String::new()));
            bot.service = Some(Service {
                base_url: bots::rules::check_payload_url("payload_url", url)?,
                interface: params.interface_type,
                token: bots::rules::new_token(),
            });
        }
        BotType::Generic | BotType::Embedded => {}
    }
    let kind = Some((bot_type, caller.user_id));
    let user = NewUser { email, full_name, role: Role::Member, bot: kind, password_hash: None };
    let (mut user, _) = accounts::create::create_bot(tx, &user, domain, &bot)?;
    if image.is_some() {
        user.avatar = avatar::set(tx, &user, image)?;
    }
    let row = bots::load(tx, user.user_id)?
        .ok_or_else(|| ApiError::internal("the bot that was just made has no row"))?;
    let bot = OwnBotRecord::new(&user, row).without_names();
    Reply::data(&CreatedBot { user_id: user.user_id, bot })
}
