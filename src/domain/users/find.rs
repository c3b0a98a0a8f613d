//! Looks up the user that a path or parameter identifies.
//!
//! By email, users whom the caller cannot access are not found: any other answer would confirm the email and its owner.

use crate::auth::Caller;
use crate::domain::access::users::Accessible;
use crate::domain::rows::user::UserRow;
use crate::domain::users::emails;
use crate::domain::{rows, users};
use crate::error::{ApiError, ApiResult};
use crate::types::UserId;
use rusqlite::Connection;

/// Loads a user by id, deactivated users and bots included. Fails with 400 `No such user`.
pub fn by_id(connection: &Connection, user_id: UserId) -> ApiResult<UserRow> {
    rows::user::by_id(connection, user_id)?.ok_or_else(no_such_user)
}

/// Loads the user of a path segment that is an id or an email.
///
/// See [`by_email`] for the emails that match.
pub fn by_id_or_email(connection: &Connection, caller: &Caller, name: &str) -> ApiResult<UserRow> {
    if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
        return by_id(connection, UserId(name.parse().map_err(|_| no_such_user())?));
    }
    by_email(connection, caller, &Accessible::to(connection, caller)?, name)?.ok_or_else(no_such_user)
}

/// Loads a user by email, the same one for every parameter and path: by API email, else by the real email if the caller may
/// see it, else by a dummy email, which any user has (feature level 302), with each domain that dummy emails have or had.
/// `accessible` are the users whom the caller can access.
pub fn by_email(
    connection: &Connection,
    caller: &Caller,
    accessible: &Accessible,
    email: &str,
) -> ApiResult<Option<UserRow>> {
    let user = match users::by_email(connection, email)? {
        Some(user) => Some(user),
        None => users::by_delivery_email(connection, email)?.filter(|user| user.shows_email_to(caller)),
    };
    let user = match (user, emails::id_in_dummy(connection, email)?) {
        (None, Some(user_id)) => rows::user::by_id(connection, user_id)?,
        (user, _) => user,
    };
    Ok(user.filter(|user| accessible.contains(user.user_id)))
}

/// The error for a user who does not exist.
pub fn no_such_user() -> ApiError {
    ApiError::bad_request("No such user")
}
