//! Making a user, whoever asks for it: the command line, an administrator, an invitation.

use crate::domain::access::channel_rows;
use crate::domain::access::user_rows::UserRow;
use crate::domain::access::{user_rows, users};
use crate::domain::membership::subscribe;
use crate::domain::realm::{DUMMY_DOMAIN, user_ids};
use crate::domain::users::events::{UserAdded, announce};
use crate::domain::users::{names, sql as users_sql};
use crate::domain::{channels, groups, notices, user_settings};
use crate::events::Audience;
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{BotType, Role, UserId};
use rusqlite::Connection;

/// Who is to be made.
#[derive(Clone, Debug)]
pub struct NewUser {
    /// The real email.
    pub email: String,
    /// The name shown.
    pub full_name: String,
    /// The role.
    pub role: Role,
    /// For bots: the kind, and the owner.
    pub bot: Option<(BotType, UserId)>,
    /// argon2id hash; without one the user logs in with keys only.
    pub password_hash: Option<String>,
}

/// Checks what a new user is to be called, and answers it stripped: the name shown, and the real email.
pub fn check(connection: &Connection, email: &str, full_name: &str) -> ApiResult<(String, String)> {
    let full_name = names::full_name(full_name)?;
    names::check_unique(connection, &full_name, None)?;
    let email = email.trim();
    if !names::is_email(email) {
        return Err(ApiError::bad_request("Bad name or username"));
    }
    if users_sql::by_delivery_email(connection, email)?.is_some() {
        return Err(ApiError::bad_request("Email is already in use."));
    }
    Ok((full_name, email.to_owned()))
}

/// Makes a user in the default channels, and tells everybody.
pub fn create(tx: &mut Tx<'_>, new: &NewUser) -> ApiResult<UserRow> {
    create_at(tx, new, DUMMY_DOMAIN)
}

/// The same where the domain of the server is known: hidden emails get a stand-in there.
pub fn create_at(tx: &mut Tx<'_>, new: &NewUser, domain: &str) -> ApiResult<UserRow> {
    let user = create_outside_channels(tx, new, domain)?;
    if !user.is_bot() && user.role != Role::Guest {
        subscribe_to_defaults(tx, user.user_id)?;
    }
    if !user.is_bot() {
        notices::welcome::greet(tx, user.user_id)?;
    }
    Ok(user)
}

/// The same, in no channel yet.
pub fn create_outside_channels(tx: &mut Tx<'_>, new: &NewUser, domain: &str) -> ApiResult<UserRow> {
    let (full_name, email) = check(tx, &new.email, &new.full_name)?;
    let row = users_sql::NewUserRow {
        email: &email,
        full_name: &full_name,
        role: new.role,
        bot_type: new.bot.map(|(kind, _)| kind),
        bot_owner_id: new.bot.map(|(_, owner)| owner),
        is_system_bot: false,
        password_hash: new.password_hash.as_deref(),
        date_joined: tx.now(),
    };
    let user_id = users_sql::insert(tx, &row)?;
    user_settings::sql::copy_defaults(tx, user_id)?;
    let user = hide_email(tx, user_id, domain)?;
    let who = users::who_can_access(tx, &user)?;
    announce(tx, &user, &who)?;
    let others = user_ids::active_ids(tx)? - who;
    tx.emit(UserAdded::unknown(user_id), Audience::set(others));
    groups::events::emit_role_given(tx, user.user_id, user.role, user.date_joined)?;
    Ok(user)
}

/// The new user's row, with a stand-in for the real email if the organization's defaults hide it.
fn hide_email(tx: &Tx<'_>, user_id: UserId, domain: &str) -> ApiResult<UserRow> {
    let mut user = user_rows::by_id(tx, user_id)?
        .ok_or_else(|| ApiError::internal("the user who was just made has no row"))?;
    let api_email = user.email_visibility.api_email(user_id, &user.delivery_email, domain);
    if api_email != user.email {
        users_sql::set_emails(tx, user_id, &api_email, &user.delivery_email)?;
        user.email = api_email;
    }
    Ok(user)
}

/// New members begin in the default channels.
fn subscribe_to_defaults(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<()> {
    let mut streams = Vec::new();
    for stream_id in channels::sql::default_streams(tx)? {
        streams.extend(channel_rows::by_id(tx, stream_id)?);
    }
    if !streams.is_empty() {
        subscribe::subscribe(tx, &streams, &[user_id], &subscribe::Colors::new())?;
    }
    Ok(())
}
