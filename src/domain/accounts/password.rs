//! Passwords that somebody else than their owner resets: administrators by a link, the operator by a command.

use crate::auth::credentials::digest;
use crate::domain::access::user_rows;
use crate::domain::access::user_rows::UserRow;
use crate::domain::invites::record::random_key;
use crate::domain::logins;
use crate::domain::notices::security;
use crate::domain::notices::security::PasswordSetBy;
use crate::domain::users::sql as users;
use crate::domain::{realm, users as users_domain};
use crate::http::{ApiError, ApiResult, Caller, allowed};
use crate::store::Tx;
use crate::types::{Role, UserId};
use rusqlite::{Connection, OptionalExtension};

/// How long a link is valid: a day, in seconds.
pub const RESET_VALIDITY: i64 = 24 * 60 * 60;

/// Checks that a caller may reset the password of a user: an administrator, of people, and only an owner that of an owner.
pub fn check_may_reset(caller: &Caller, user: &UserRow) -> ApiResult<()> {
    if user.is_bot() {
        return Err(users_domain::find::no_such_user());
    }
    if !user.is_active {
        return Err(ApiError::bad_request("User is deactivated"));
    }
    if !caller.role.is_administrator() {
        return Err(ApiError::administrators_only());
    }
    if user.role == Role::Owner && caller.role != Role::Owner {
        return Err(ApiError::owners_only());
    }
    Ok(())
}

/// Creates the secret part of a link with which a user sets a new password, and returns it with the time of its expiry.
/// An earlier link of the user stops working.
pub fn create_reset(tx: &Tx<'_>, caller: &Caller, user: &UserRow) -> ApiResult<(String, i64)> {
    check_may_reset(caller, user)?;
    tracing::info!(user_id = user.user_id.0, "a link to set a new password was made");
    let key = random_key();
    let expires = tx.now() + RESET_VALIDITY;
    tx.prepare_cached(
        "INSERT OR REPLACE INTO password_reset (user_id, digest, created_by, expires) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute((user.user_id, digest(&key), caller.user_id, expires))?;
    Ok((key, expires))
}

/// What a link does.
pub struct Reset {
    /// The user whose password it sets.
    pub user: UserRow,
    /// The administrator who made it.
    pub created_by: UserId,
}

/// Loads what a link does: whose password it sets. The link works once, until it expires, while the organization is open and
/// while the administrator who created it may reset the password.
pub fn find_by_reset_key(connection: &Connection, key: &str, now: i64) -> ApiResult<Option<Reset>> {
    let found: Option<(UserId, UserId)> = connection
        .prepare_cached("SELECT user_id, created_by FROM password_reset WHERE digest = ?1 AND expires > ?2")?
        .query_row((digest(key), now), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((user_id, created_by)) = found else { return Ok(None) };
    if realm::is_deactivated(connection)? {
        return Ok(None);
    }
    let Some(user) = user_rows::by_id(connection, user_id)? else { return Ok(None) };
    let Some(creator) = allowed(user_rows::caller(connection, created_by))? else { return Ok(None) };
    Ok(allowed(check_may_reset(&creator, &user))?.map(|()| Reset { user, created_by }))
}

/// Whether a user's stored hash is still the one that a password was verified against. Passwords are verified before a job,
/// and the job asks this: another job may have set a new password meanwhile.
pub fn is_current(connection: &Connection, user_id: UserId, verified_hash: Option<&str>) -> ApiResult<bool> {
    Ok(users::password_hash(connection, user_id)?.as_deref() == verified_hash)
}

/// Sets a password that somebody else than the user asked for. Ends all API keys and sessions of the user, and the link that
/// there may be, and tells the user.
pub fn set(tx: &mut Tx<'_>, user: &UserRow, hash: &str, by: PasswordSetBy) -> ApiResult<()> {
    users::set_password(tx, user.user_id, hash)?;
    delete_reset(tx, user.user_id)?;
    logins::end_all(tx, user.user_id)?;
    logins::known::forget(tx, user.user_id)?;
    tracing::info!(user_id = user.user_id.0, ?by, "a password was set");
    security::password_set(tx, user.user_id, by)
}

/// Sets the password that a user chose, which ends all API keys and sessions but the one that asked, and tells the user.
pub fn change_own(tx: &mut Tx<'_>, caller: &Caller, hash: &str) -> ApiResult<()> {
    users::set_password(tx, caller.user_id, hash)?;
    delete_reset(tx, caller.user_id)?;
    logins::end_others(tx, caller)?;
    logins::known::forget(tx, caller.user_id)?;
    tracing::info!(user_id = caller.user_id.0, by = ?PasswordSetBy::Oneself, "a password was set");
    security::password_set(tx, caller.user_id, PasswordSetBy::Oneself)
}

/// Ends the link with which a user may set a new password, if there is one.
pub fn delete_reset(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    tx.prepare_cached("DELETE FROM password_reset WHERE user_id = ?1")?.execute([user_id])?;
    Ok(())
}
