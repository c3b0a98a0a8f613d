//! What can happen to a bot, whoever asks for it.

use crate::domain::access::user_rows::UserRow;
use crate::domain::access::users as access;
use crate::domain::bots::{events, sql};
use crate::domain::keys;
use crate::domain::users::events::UserUpdated;
use crate::domain::users::sql as users;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{Role, UserId};
use serde_json::json;

/// What a bot's own key is called in the list of keys.
const CLIENT: &str = "bot";

/// Makes a key for a bot, the one that its owner can read.
pub fn mint_key(tx: &Tx<'_>, bot_id: UserId) -> ApiResult<String> {
    let api_key = keys::mint(tx, bot_id, CLIENT)?;
    sql::set_api_key(tx, bot_id, Some(&api_key))?;
    Ok(api_key)
}

/// A new key for a bot: all others stop working. Tells those who administer it.
pub fn regenerate_key(tx: &mut Tx<'_>, bot: &UserRow) -> ApiResult<String> {
    keys::delete_all(tx, bot.user_id)?;
    let api_key = mint_key(tx, bot.user_id)?;
    events::updated(tx, bot, "api_key", api_key.as_str())?;
    Ok(api_key)
}

/// Forgets a bot's key if it is the one that was revoked.
pub fn key_revoked(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    if let Some(api_key) = sql::by_id(tx, user_id)?.and_then(|bot| bot.api_key)
        && !keys::works(tx, user_id, &api_key)?
    {
        sql::set_api_key(tx, user_id, None)?;
    }
    Ok(())
}

/// Gives a bot to another owner, and tells everybody.
pub fn owner(tx: &mut Tx<'_>, bot: &UserRow, owner_id: UserId) -> ApiResult<()> {
    users::set_bot_owner(tx, bot.user_id, owner_id)?;
    let after = UserRow { bot_owner_id: Some(owner_id), ..bot.clone() };
    events::owner_changed(tx, &after, bot.bot_owner_id)?;
    let audience = access::audience(tx, &after)?;
    tx.emit(UserUpdated::new(json!({"user_id": bot.user_id, "bot_owner_id": owner_id})), audience);
    Ok(())
}

/// Tells a person whose role changed of the bots that they can administer now, or can no longer.
pub fn role_changed(tx: &mut Tx<'_>, user: &UserRow, role: Role) -> ApiResult<()> {
    if user.role.is_administrator() == role.is_administrator() || !user.is_active {
        return Ok(());
    }
    for (bot, _) in sql::all(tx, None)? {
        if bot.bot_owner_id == Some(user.user_id) {
            continue;
        }
        if role.is_administrator() {
            events::added_for(tx, &bot, user.user_id.bit().into_iter().collect())?;
        } else {
            events::deleted_for(tx, bot.user_id, user.user_id);
        }
    }
    Ok(())
}
