//! `/bots`: accounts for programs, administered by their owners and by administrators (feature levels 222 and 463).

mod create;
mod state;
mod update;

use crate::api::resource::{Resource, StatePart};
use crate::domain::access::channels::Viewer;
use crate::domain::bots;
use crate::domain::bots::default_channels;
use crate::domain::bots::events::BotChange;
use crate::domain::bots::record::OwnBotRecord;
use crate::domain::images::upload::BODY_LIMIT;
use crate::domain::notices::ownership::Actor;
use crate::domain::{notices, rows};
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Read, Reply, Route, USER, User};
use crate::store::Tx;
use crate::types::UserId;
use hyper::Method;
use serde::{Deserialize, Serialize};

pub const RESOURCE: Resource = Resource { name: "bots", routes, state: STATE, set_up, ..Resource::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "realm_bot", fetch: state::state },
    StatePart { name: "realm_embedded_bots", fetch: state::embedded_bots },
];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/bots", USER, get_bots),
        Route::call(Method::POST, "/bots", USER, create::create_bot).body_limit(BODY_LIMIT),
        Route::call(Method::PATCH, "/bots/{bot_id}", USER, update::update_bot).body_limit(BODY_LIMIT),
        Route::write(Method::DELETE, "/bots/{bot_id}", USER, update::deactivate_bot),
        Route::write(Method::GET, "/bots/{bot_id}/api_key", USER, get_bot_api_key),
        Route::write(Method::POST, "/bots/{bot_id}/api_key/regenerate", USER, regenerate_bot_api_key)
            .on_full_disk(),
    ]
}

/// The reply to `GET /bots`.
#[derive(Serialize)]
struct Bots {
    /// The caller's active bots, the oldest first.
    bots: Vec<OwnBotRecord>,
}

/// `GET /bots`: lists the caller's active bots, the oldest first.
fn get_bots(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<Bots>> {
    read.caller.check_is_member()?;
    let mut bots = bots::list(read, Some(read.caller.user_id))?;
    bots.retain(|(user, _)| user.is_active);
    let viewer = Viewer::new(read.ctx());
    bots.iter_mut().try_for_each(|(_, bot)| default_channels::hide_inaccessible(&viewer, bot))?;
    let bots: Vec<_> = bots.into_iter().map(|(user, bot)| OwnBotRecord::new(&user, bot)).collect();
    Reply::data(&Bots { bots })
}

/// Parameters of `GET /bots/{bot_id}/api_key` and `POST /bots/{bot_id}/api_key/regenerate`.
#[derive(Deserialize)]
pub struct BotKeyParams {
    /// The bot. Users may name their own bots, owners any bot, and administrators any bot except those of owners.
    bot_id: UserId,
}

/// The reply to `GET /bots/{bot_id}/api_key` and `POST /bots/{bot_id}/api_key/regenerate`.
#[derive(Serialize)]
struct BotApiKey {
    /// The key with which the bot authenticates. It works until it is regenerated.
    api_key: String,
}

/// `GET /bots/{bot_id}/api_key`: returns the API key of a bot (feature level 463). Creates a key if the last one was
/// revoked.
fn get_bot_api_key(tx: &mut Tx<'_>, caller: &User, params: BotKeyParams) -> ApiResult<Reply<BotApiKey>> {
    let bot = bots::rules::find_with_key(tx, caller, params.bot_id)?;
    let row = bots::load(tx, bot.user_id)?
        .ok_or_else(|| ApiError::internal("a bot that is a user has no bot row"))?;
    let api_key = match row.api_key {
        Some(api_key) => api_key,
        None => {
            let api_key = bots::change::mint_key(tx, bot.user_id)?;
            bots::events::emit_updated(tx, &bot, BotChange::ApiKey(api_key.clone()))?;
            api_key
        }
    };
    Reply::data(&BotApiKey { api_key })
}

/// `POST /bots/{bot_id}/api_key/regenerate`: creates a key. All other keys of the bot stop working.
fn regenerate_bot_api_key(
    tx: &mut Tx<'_>,
    caller: &User,
    params: BotKeyParams,
) -> ApiResult<Reply<BotApiKey>> {
    let bot = bots::rules::find_with_key(tx, caller, params.bot_id)?;
    let api_key = bots::change::regenerate_key(tx, &bot)?;
    if let Some(owner) = rows::user::owner(tx, bot.bot_owner_id)? {
        notices::ownership::bot_key_regenerated(tx, &owner, &bot, Actor::User(caller.user_id))?;
    }
    Reply::data(&BotApiKey { api_key })
}

/// Adds the `bot` row and a readable API key to bots of databases that are older than both.
fn set_up(tx: &mut Tx<'_>) -> ApiResult<()> {
    for user_id in bots::list_without_row(tx)? {
        bots::insert(tx, &bots::NewBotRow { user_id, ..bots::NewBotRow::default() })?;
        bots::change::mint_key(tx, user_id)?;
    }
    Ok(())
}
