//! Making a bot, whoever asks for it: its owner, or the command line.

use crate::domain::access::user_rows::UserRow;
use crate::domain::accounts::create::{NewUser, create_at};
use crate::domain::bots::sql::NewBotRow;
use crate::domain::bots::{change, events, sql};
use crate::http::ApiResult;
use crate::store::Tx;

/// Makes a bot and its key, and tells everybody. `user.bot` says its kind and its owner.
pub fn create(
    tx: &mut Tx<'_>,
    user: &NewUser,
    domain: &str,
    bot: &NewBotRow,
) -> ApiResult<(UserRow, String)> {
    let user = create_at(tx, user, domain)?;
    sql::insert(tx, &NewBotRow { user_id: user.user_id, ..bot.clone() })?;
    let api_key = change::mint_key(tx, user.user_id)?;
    events::added(tx, &user)?;
    Ok((user, api_key))
}
