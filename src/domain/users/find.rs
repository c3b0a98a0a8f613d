//! Looks up the user that a path or parameter identifies.

use crate::domain::access::user_rows;
use crate::domain::access::user_rows::UserRow;
use crate::domain::users::{emails, sql as users_sql};
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::UserId;
use rusqlite::Connection;

/// Loads a user by id, deactivated users and bots included. Fails with 400 `No such user`.
pub fn by_id(connection: &Connection, user_id: UserId) -> ApiResult<UserRow> {
    user_rows::by_id(connection, user_id)?.ok_or_else(no_such_user)
}

/// Loads the user of a path segment that is an id or an email.
///
/// A real email matches only if the caller may see it. The dummy email of any user matches (feature level 302);
/// `domain` is the domain of dummy emails.
pub fn by_id_or_email(
    connection: &Connection,
    caller: &Caller,
    name: &str,
    domain: &str,
) -> ApiResult<UserRow> {
    if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
        return by_id(connection, UserId(name.parse().map_err(|_| no_such_user())?));
    }
    if let Some(user_id) = emails::parse_dummy(name, domain) {
        return by_id(connection, user_id);
    }
    if let Some(user) = users_sql::by_email(connection, name)? {
        return Ok(user);
    }
    let user = users_sql::by_delivery_email(connection, name)?;
    user.filter(|user| user.shows_email_to(caller)).ok_or_else(no_such_user)
}

/// The error for a user who does not exist.
pub fn no_such_user() -> ApiError {
    ApiError::bad_request("No such user")
}
