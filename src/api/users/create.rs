//! Making a user, whoever asks for it: the command line, an administrator, an invitation.

use super::events::UserAdded;
use super::record::{UserRecord, UserRow};
use super::{emails, names, sql};
use crate::api::{channels, groups, subscriptions::join, user_settings};
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{Role, UserId};
use serde_json::Map;

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
    pub bot: Option<(i64, UserId)>,
    /// argon2id hash; without one the user logs in with keys only.
    pub password_hash: Option<String>,
}

/// Tells everybody, with the real email or without.
fn announce(tx: &mut Tx<'_>, user: &UserRow) -> ApiResult<()> {
    let whole = UserRecord::new(user).with_profile_data(Map::new());
    let own = user.user_id;
    let sees = |user_id, role| user_id == own || user.email_visibility.admits(role);
    let who_see = emails::audience(tx, sees)?;
    let others = emails::audience(tx, |user_id, role| !sees(user_id, role))?;
    tx.emit(&UserAdded::new(whole.clone()), who_see);
    tx.emit(&UserAdded::new(whole.without_delivery_email()), others);
    Ok(())
}

/// Makes a user in the default channels, and tells everybody.
pub fn create(tx: &mut Tx<'_>, new: &NewUser) -> ApiResult<UserRow> {
    let user = create_outside_channels(tx, new)?;
    if !user.is_bot() && user.role != Role::Guest {
        subscribe_to_defaults(tx, user.user_id)?;
    }
    Ok(user)
}

/// Makes a user who is in no channel yet, and tells everybody.
pub fn create_outside_channels(tx: &mut Tx<'_>, new: &NewUser) -> ApiResult<UserRow> {
    let email = new.email.trim();
    if !names::is_email(email) {
        return Err(ApiError::bad_request("Invalid format!"));
    }
    let full_name = names::full_name(&new.full_name)?;
    names::check_unique(tx, &full_name, None)?;
    if sql::by_delivery_email(tx, email)?.is_some() {
        return Err(ApiError::bad_request(format!("Email '{email}' already in use")));
    }
    let row = sql::NewUserRow {
        email,
        full_name: &full_name,
        role: new.role,
        bot_type: new.bot.map(|(kind, _)| kind),
        bot_owner_id: new.bot.map(|(_, owner)| owner),
        is_system_bot: false,
        password_hash: new.password_hash.as_deref(),
        date_joined: tx.now(),
    };
    let user_id = sql::insert(tx, &row)?;
    user_settings::sql::copy_defaults(tx, user_id)?;
    let user = sql::by_id(tx, user_id)?.ok_or_else(ApiError::internal)?;
    announce(tx, &user)?;
    groups::events::role_given(tx, &user)?;
    Ok(user)
}

/// New members begin in the default channels.
fn subscribe_to_defaults(tx: &mut Tx<'_>, user_id: UserId) -> ApiResult<()> {
    let mut streams = Vec::new();
    for stream_id in channels::sql::default_streams(tx)? {
        streams.extend(channels::sql::by_id(tx, stream_id)?);
    }
    if !streams.is_empty() {
        join::subscribe(tx, &streams, &[user_id], &join::Colors::new())?;
    }
    Ok(())
}
