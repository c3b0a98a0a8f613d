//! Bots: programs with an account, and what those who own them can do (feature levels 222 and 463).
//!
//! - [`make`] and [`change`]: what can happen to a bot, whoever asks for it;
//! - [`events`]: `realm_bot`, which tells owners and administrators what `realm_user` does not tell everybody.

mod create;
mod keys;
mod list;
mod update;

use crate::domain::bots::{change, events, sql};
use crate::domain::images::upload::BODY_LIMIT;
use crate::http::Resource;
use crate::http::{ApiResult, Route, StatePart, USER};
use crate::store::Tx;
use hyper::Method;

/// Bots.
pub const RESOURCE: Resource = Resource { name: "bots", routes, state: STATE, set_up, ..Resource::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "realm_bot", fetch: events::state },
    StatePart { name: "realm_embedded_bots", fetch: events::embedded_bots },
    StatePart { name: "realm_incoming_webhook_bots", fetch: events::incoming_webhook_bots },
];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/bots", USER, list::get_bots),
        Route::call(Method::POST, "/bots", USER, create::create_bot).body_limit(BODY_LIMIT),
        Route::call(Method::PATCH, "/bots/{bot_id}", USER, update::update_bot).body_limit(BODY_LIMIT),
        Route::call(Method::DELETE, "/bots/{bot_id}", USER, update::deactivate_bot),
        Route::write(Method::GET, "/bots/{bot_id}/api_key", USER, keys::get_bot_api_key),
        Route::write(Method::POST, "/bots/{bot_id}/api_key/regenerate", USER, keys::regenerate_bot_api_key),
    ]
}

/// Gives a row and a key that can be read to the bots of a file that is older than both.
fn set_up(tx: &mut Tx<'_>) -> ApiResult<()> {
    for user_id in sql::without_row(tx)? {
        sql::insert(tx, &sql::NewBotRow { user_id, ..sql::NewBotRow::default() })?;
        change::mint_key(tx, user_id)?;
    }
    Ok(())
}
