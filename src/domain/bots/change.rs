//! Commands on bots: keys, owner, and effects of a person's role.

use crate::domain::audit::{Action, Entry};
use crate::domain::bots::administrators::{Administrators, RealmAdministrators};
use crate::domain::bots::events::BotChange;
use crate::domain::bots::{events, sql};
use crate::domain::rows::user::UserRow;
use crate::domain::users::events::{UserChange, UserUpdated};
use crate::domain::{access, keys, mail_addresses, rows, users};
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::UserId;
use serde_json::json;

/// The client of a bot's key in lists of keys.
const CLIENT: &str = "bot";

/// Creates a bot's API key and stores it where the owner can read it.
pub fn mint_key(tx: &Tx<'_>, bot_id: UserId) -> ApiResult<String> {
    let api_key = keys::mint(tx, bot_id, CLIENT)?;
    sql::set_api_key(tx, bot_id, Some(&api_key))?;
    Ok(api_key)
}

/// Sets a given key of a bot, for fixtures.
pub fn insert_key(tx: &Tx<'_>, bot_id: UserId, api_key: &str) -> ApiResult<()> {
    keys::insert(tx, bot_id, CLIENT, api_key)?;
    Ok(sql::set_api_key(tx, bot_id, Some(api_key))?)
}

/// Deletes all keys of a bot, and the addresses of channels that were requested with them.
fn end_keys(tx: &Tx<'_>, bot_id: UserId) -> ApiResult<()> {
    mail_addresses::forget_channels(tx, bot_id)?;
    keys::revoke_others(tx, bot_id, None)
}

/// Replaces all keys of a bot with a new one, and emits it to those who administer the bot.
pub fn regenerate_key(tx: &mut Tx<'_>, bot: &UserRow) -> ApiResult<String> {
    end_keys(tx, bot.user_id)?;
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

/// Sets a bot's owner and replaces all its keys, and emits both to the users who can access the bot or administer it.
/// Returns the bot as it is afterwards.
pub fn set_owner(tx: &mut Tx<'_>, bot: &UserRow, owner_id: UserId) -> ApiResult<UserRow> {
    let from = json!({ "owner_id": bot.bot_owner_id });
    let given = Entry::new(Action::BotOwnerChanged, bot.user_id);
    tx.audit(given.before(from).after(json!({ "owner_id": owner_id })))?;
    let before = Administrators::of(tx, bot)?;
    end_keys(tx, bot.user_id)?;
    mint_key(tx, bot.user_id)?;
    users::set_bot_owner(tx, bot.user_id, owner_id)?;
    let after = UserRow { bot_owner_id: Some(owner_id), ..bot.clone() };
    events::emit_owner_changed(tx, &after, &before)?;
    let audience = access::users::audience(tx, &after)?;
    tx.emit(UserUpdated::new(bot.user_id, UserChange::Owner { bot_owner_id: owner_id }), audience);
    Ok(after)
}

/// Emits the bots that a person's new role shows and hides: to the person, and for the person's own bots to
/// administrators. `user` has the previous role; the new one is stored.
pub fn role_changed(tx: &mut Tx<'_>, user: &UserRow) -> ApiResult<()> {
    let after = RealmAdministrators::load(tx)?;
    let before = after.with_role_of(user);
    let concerns_all = after != before;
    for (bot, _) in sql::list(tx, (!concerns_all).then_some(user.user_id))? {
        let owner = rows::user::owner(tx, bot.bot_owner_id)?;
        let role_before =
            |owner: &UserRow| if owner.user_id == user.user_id { user.role } else { owner.role };
        let owner_before = owner.as_ref().map(|owner| (owner.user_id, role_before(owner)));
        let before = before.of_bot(owner_before);
        let after = after.of_bot(owner.map(|owner| (owner.user_id, owner.role)));
        if before != after {
            events::emit_administrators_changed(tx, &bot, &before, &after)?;
        }
    }
    Ok(())
}
