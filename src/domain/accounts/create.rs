//! Creating people and bots, for the command line, administrators, owners of bots and invitations.

use crate::domain::audit::{Action, Entry};
use crate::domain::bots::NewBotRow;
use crate::domain::channel_commands::subscribe;
use crate::domain::realm::{DUMMY_DOMAIN, user_ids};
use crate::domain::rows::user::UserRow;
use crate::domain::users::events::{UserAdded, emit_added};
use crate::domain::users::{emails, names};
use crate::domain::{access, bots, channels, groups, realm, rows, user_settings, users};
use crate::error::{ApiError, ApiResult};
use crate::events::Audience;
use crate::store::Tx;
use crate::types::{BotType, Role, UserId};
use rusqlite::Connection;
use serde_json::json;

/// The user to create.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// The real email, also the API email unless the organization hides it.
    pub email: String,
    /// The display name.
    pub full_name: String,
    /// The role in the organization.
    pub role: Role,
    /// The type and the owner, for bots.
    pub bot: Option<(BotType, UserId)>,
    /// The argon2id hash of the password. Without one the user has only API keys.
    pub password_hash: Option<String>,
}

/// Checks the name and the real email of a new user, and returns them in this order without surrounding white space.
pub fn check_new_user(
    connection: &Connection,
    email: &str,
    full_name: &str,
    is_bot: bool,
) -> ApiResult<(String, String)> {
    let full_name = names::check_full_name(full_name)?;
    names::check_available(connection, &full_name, None)?;
    let email = email.trim();
    let is_valid = if is_bot { names::is_new_bot_email(email) } else { names::is_new_email(email) };
    if !is_valid {
        return Err(ApiError::bad_request("Enter a valid email address."));
    }
    if emails::is_taken(connection, email)? {
        return Err(ApiError::bad_request("Email is already in use."));
    }
    Ok((full_name, email.to_owned()))
}

/// Creates a user like [`create_with_domain`], where the domain of the server is not known.
pub fn create(tx: &mut Tx<'_>, new: &NewUser) -> ApiResult<UserRow> {
    create_with_domain(tx, new, DUMMY_DOMAIN)
}

/// Creates a user and subscribes members to the default channels. `domain` is the domain of dummy emails. Callers greet people
/// with `notices::welcome::greet`.
pub fn create_with_domain(tx: &mut Tx<'_>, new: &NewUser, domain: &str) -> ApiResult<UserRow> {
    let user = create_without_channels(tx, new, domain)?;
    if !user.is_bot() && user.role != Role::Guest {
        subscribe_to_defaults(tx, user.user_id)?;
    }
    Ok(user)
}

/// Creates a user without subscriptions and welcome message, and emits `realm_user` events to everyone.
pub fn create_without_channels(tx: &mut Tx<'_>, new: &NewUser, domain: &str) -> ApiResult<UserRow> {
    let (full_name, email) = check_new_user(tx, &new.email, &new.full_name, new.bot.is_some())?;
    let row = users::NewUserRow {
        email: &email,
        full_name: &full_name,
        role: new.role,
        bot_type: new.bot.map(|(kind, _)| kind),
        bot_owner_id: new.bot.map(|(_, owner)| owner),
        is_system_bot: false,
        password_hash: new.password_hash.as_deref(),
        date_joined: tx.now(),
    };
    let user_id = users::insert(tx, &row)?;
    let facts = json!({ "role": new.role.name(), "is_bot": new.bot.is_some() });
    tx.audit(Entry::new(Action::AccountCreated, user_id).after(facts))?;
    user_settings::copy_defaults(tx, user_id)?;
    let language: String = realm::settings::DEFAULT_LANGUAGE.get(tx)?;
    let name = user_settings::DEFAULT_LANGUAGE.name();
    if new.bot.is_none() && language != "en" && user_settings::get(tx, user_id, name)?.is_none() {
        user_settings::set(tx, user_id, name, &language.into())?;
    }
    let user = hide_email(tx, user_id, domain)?;
    let who = access::users::users_with_access_to(tx, &user)?;
    emit_added(tx, &user, &who)?;
    let others = user_ids::active_ids(tx)? - who;
    tx.emit(UserAdded::unknown(user_id), Audience::set(others));
    groups::events::emit_role_given(tx, user.user_id, user.role, user.date_joined)?;
    Ok(user)
}

/// Returns the new user's row, after setting a dummy email if the organization's defaults hide the real one.
fn hide_email(tx: &Tx<'_>, user_id: UserId, domain: &str) -> ApiResult<UserRow> {
    let mut user = rows::user::existing(tx, user_id)?;
    let api_email = emails::api_email(tx, &user, domain)?;
    if api_email != user.email {
        users::set_emails(tx, user_id, &api_email, &user.delivery_email)?;
        user.email = api_email;
    }
    Ok(user)
}

fn subscribe_to_defaults(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<()> {
    let mut streams = Vec::new();
    for stream_id in channels::default_streams(tx)? {
        streams.extend(rows::channel::by_id(tx, stream_id)?);
    }
    if !streams.is_empty() {
        subscribe::subscribe_users(tx, &streams, &[user_id], &subscribe::Colors::new())?;
    }
    Ok(())
}

/// Creates a bot with its first API key, emits `realm_user` and `realm_bot` events, and returns the bot and the key.
/// `user.bot` has its type and owner.
pub fn create_bot(
    tx: &mut Tx<'_>,
    user: &NewUser,
    domain: &str,
    bot: &NewBotRow,
) -> ApiResult<(UserRow, String)> {
    bots::rules::check_role(tx, user.role, user.bot.map(|(_, owner)| owner))?;
    bots::rules::check_name(tx, user.full_name.trim(), None)?;
    let user = create_with_domain(tx, user, domain)?;
    bots::insert(tx, &NewBotRow { user_id: user.user_id, ..bot.clone() })?;
    let api_key = bots::change::mint_key(tx, user.user_id)?;
    bots::events::emit_added(tx, &user)?;
    Ok((user, api_key))
}
