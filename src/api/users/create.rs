//! Making a user, whoever asks for it: the command line, an administrator, an invitation.

use super::events::{UserAdded, everyone};
use super::record::{UserRecord, UserRow};
use super::{names, sql};
use crate::api::{channels, subscriptions::join};
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

/// Makes a user and tells everybody.
pub fn create(tx: &mut Tx<'_>, new: &NewUser) -> ApiResult<UserRow> {
    let email = new.email.trim();
    if !names::is_email(email) {
        return Err(ApiError::bad_request("Invalid format!"));
    }
    let full_name = names::full_name(&new.full_name)?;
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
    let user = sql::by_id(tx, user_id)?.ok_or_else(ApiError::internal)?;
    let audience = everyone(tx)?;
    tx.emit(&UserAdded::new(UserRecord::new(&user).with_profile_data(Map::new())), audience);
    if !user.is_bot() && user.role != Role::Guest {
        subscribe_to_defaults(tx, user_id)?;
    }
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
