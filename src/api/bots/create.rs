//! `POST /bots`: makes a bot.

use crate::auth::credentials::API_KEY_LENGTH;
use crate::domain::accounts::avatar::AvatarImage;
use crate::domain::accounts::create::NewUser;
use crate::domain::accounts::{avatar, create_bot as make};
use crate::domain::bots::record::OwnBotRecord;
use crate::domain::bots::sql::{NewBotRow, Service};
use crate::domain::bots::{rules, sql};
use crate::domain::realm::bot_domain;
use crate::domain::users::names;
use crate::http::params::{JsonOrText, Trimmed};
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User, members_of};
use crate::store::Tx;
use crate::types::{BotType, Role};
use rand::RngExt;
use rand::distr::Alphanumeric;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Parameters of `POST /bots`.
#[derive(Deserialize)]
pub struct CreateBotParams {
    /// The name shown.
    full_name: String,
    /// The first part of its email, before `-bot`.
    short_name: String,
    /// 1 generic, 2 incoming webhook, 3 outgoing webhook.
    #[serde(default = "generic")]
    bot_type: i64,
    /// Where the messages of an outgoing webhook are posted.
    #[serde(default)]
    payload_url: Option<JsonOrText>,
    /// The integration, for an incoming webhook.
    #[serde(default)]
    service_name: Option<Trimmed>,
    /// The format in which they are posted.
    #[serde(default = "own_interface")]
    interface_type: i64,
    /// What an integration has to know.
    #[serde(default)]
    config_data: BTreeMap<String, String>,
    /// The name of the channel that it sends to by default.
    #[serde(default)]
    default_sending_stream: Option<String>,
    /// The name of the channel whose messages it hears by default.
    #[serde(default)]
    default_events_register_stream: Option<String>,
    /// Whether it hears all public channels by default.
    #[serde(default)]
    default_all_public_streams: Option<bool>,
}

fn generic() -> i64 {
    BotType::Generic.code()
}

fn own_interface() -> i64 {
    rules::INTERFACES[0]
}

/// `POST /bots`: a bot of the caller's. A multipart body may bring its image.
pub async fn create_bot(mut call: Call<User>, params: CreateBotParams) -> ApiResult<Reply> {
    let image = avatar::from_files(std::mem::take(&mut call.files)).await?;
    let domain = bot_domain(&call.info.origin);
    call.write(move |tx, caller| create(tx, caller, params, &domain, image.as_ref())).await
}

fn create(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: CreateBotParams,
    domain: &str,
    image: Option<&AvatarImage>,
) -> ApiResult<Reply> {
    rules::require_person(caller)?;
    let full_name = names::full_name(&params.full_name)?;
    let email = rules::email(tx, &params.short_name, domain)?;
    rules::check_name(tx, &full_name)?;
    let bot_type = rules::check_kind(tx, caller, tx.now(), params.bot_type)?;
    rules::check_interface(params.interface_type)?;
    let channel = |name: Option<&String>| match name {
        Some(name) => rules::default_stream(tx, caller, tx.now(), name),
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
                rules::check_integration(name)?;
            }
            bot.config_data = serde_json::to_string(&params.config_data)?;
        }
        BotType::OutgoingWebhook => {
            let url = params.payload_url.unwrap_or(JsonOrText::Text(String::new()));
            bot.service = Some(Service {
                base_url: rules::payload_url("payload_url", url)?,
                interface: params.interface_type,
                token: rand::rng().sample_iter(Alphanumeric).take(API_KEY_LENGTH).map(char::from).collect(),
            });
        }
        BotType::Generic | BotType::Embedded => {}
    }
    let kind = Some((bot_type, caller.user_id));
    let user = NewUser { email, full_name, role: Role::Member, bot: kind, password_hash: None };
    let (mut user, _) = make::create(tx, &user, domain, &bot)?;
    if image.is_some() {
        user.avatar = avatar::set(tx, &user, image)?;
    }
    let row = sql::by_id(tx, user.user_id)?
        .ok_or_else(|| ApiError::internal("the bot that was just made has no row"))?;
    let record = members_of(&OwnBotRecord::new(&user, row).without_names())?;
    Ok(Reply::members(format!("\"user_id\":{},{record}", user.user_id)))
}
