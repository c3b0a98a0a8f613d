//! `GET /bots/{bot_id}/api_key` and `POST /bots/{bot_id}/api_key/regenerate`.

use crate::domain::bots::{change, events, rules, sql};
use crate::http::{ApiError, ApiResult, Reply, User};
use crate::store::Tx;
use crate::types::UserId;
use serde::Deserialize;

/// Parameters of both.
#[derive(Deserialize)]
pub struct BotKeyParams {
    /// Which bot.
    bot_id: UserId,
}

/// `GET /bots/{bot_id}/api_key` (feature level 463). A bot whose key was revoked gets another one.
pub fn get_bot_api_key(tx: &mut Tx<'_>, caller: &User, params: BotKeyParams) -> ApiResult<Reply> {
    let bot = rules::find(tx, caller, params.bot_id)?;
    let row = sql::by_id(tx, bot.user_id)?
        .ok_or_else(|| ApiError::internal("a bot that is a user has no bot row"))?;
    let api_key = match row.api_key {
        Some(api_key) => api_key,
        None => {
            let api_key = change::mint_key(tx, bot.user_id)?;
            events::updated(tx, &bot, "api_key", api_key.as_str())?;
            api_key
        }
    };
    Reply::field("api_key", &api_key)
}

/// `POST /bots/{bot_id}/api_key/regenerate`.
pub fn regenerate_bot_api_key(tx: &mut Tx<'_>, caller: &User, params: BotKeyParams) -> ApiResult<Reply> {
    let bot = rules::find(tx, caller, params.bot_id)?;
    Reply::field("api_key", &change::regenerate_key(tx, &bot)?)
}
