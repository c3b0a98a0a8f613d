//! Commands on bots: keys, owner, and what a person's role changes.

use crate::domain::access::user_rows::UserRow;
use crate::domain::access::users as access;
use crate::domain::bots::events::BotChange;
use crate::domain::bots::{events, rules, sql};
use crate::domain::keys;
use crate::domain::users::events::{UserChange, UserUpdated};
use crate::domain::users::sql as users;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{Role, UserId};

/// The client of a bot's key in lists of keys.
const CLIENT: &str = "bot";

/// Creates a bot's API key and stores it where the owner can read it.
pub fn mint_key(tx: &Tx<'_>, bot_id: UserId) -> ApiResult<String> {
    let api_key = keys::mint(tx, bot_id, CLIENT)?;
    sql::set_api_key(tx, bot_id, Some(&api_key))?;
    Ok(api_key)
}

/// Gives a bot a key that was chosen by somebody else, for fixtures.
pub fn insert_key(tx: &Tx<'_>, bot_id: UserId, api_key: &str) -> ApiResult<()> {
    keys::insert(tx, bot_id, CLIENT, api_key)?;
    Ok(sql::set_api_key(tx, bot_id, Some(api_key))?)
}

/// Replaces all keys of a bot with a new one, and emits it to those who administer the bot.
pub fn regenerate_key(tx: &mut Tx<'_>, bot: &UserRow) -> ApiResult<String> {
    keys::delete_all(tx, bot.user_id)?;
    let api_key = mint_key(tx, bot.user_id)?;
    events::emit_updated(tx, bot, BotChange::ApiKey(api_key.clone()))?;
    Ok(api_key)
}

/// Clears the readable copy of a bot's key if that key has been revoked.
pub fn clear_revoked_key(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    if let Some(api_key) = sql::load(tx, user_id)?.and_then(|bot| bot.api_key)
        && !keys::is_valid(tx, user_id, &api_key)?
    {
        sql::set_api_key(tx, user_id, None)?;
    }
    Ok(())
}

/// Sets a bot's owner and emits it to the users who can access the bot.
pub fn set_owner(tx: &mut Tx<'_>, bot: &UserRow, owner_id: UserId) -> ApiResult<()> {
    users::set_bot_owner(tx, bot.user_id, owner_id)?;
    let after = UserRow { bot_owner_id: Some(owner_id), ..bot.clone() };
    events::emit_owner_changed(tx, &after, bot.bot_owner_id)?;
    let audience = access::audience(tx, &after)?;
    tx.emit(UserUpdated::new(bot.user_id, UserChange::Owner { bot_owner_id: owner_id }), audience);
    Ok(())
}

/// Emits to a person whose role changed the bots that they may administer from now on, or no longer.
pub fn role_changed(tx: &mut Tx<'_>, user: &UserRow, role: Role) -> ApiResult<()> {
    if !user.is_active {
        return Ok(());
    }
    let concerns_all = user.role.is_administrator() != role.is_administrator();
    for (bot, _) in sql::list(tx, (!concerns_all).then_some(user.user_id))? {
        let is_owner = bot.bot_owner_id == Some(user.user_id);
        match (rules::may_administer(user.role, is_owner), rules::may_administer(role, is_owner)) {
            (false, true) => events::emit_added_to(tx, &bot, user.user_id.bit().into_iter().collect())?,
            (true, false) => events::emit_deleted_to(tx, bot.user_id, user.user_id),
            _ => {}
        }
    }
    Ok(())
}
