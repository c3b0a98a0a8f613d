//! The user that a path or parameter names.

use crate::domain::access::user_rows::UserRow;
use crate::domain::access::{user_rows, users};
use crate::domain::users::{emails, sql as users_sql};
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::UserId;
use rusqlite::Connection;

/// The user with an id, who may be deactivated or a bot.
pub fn by_id(connection: &Connection, user_id: UserId) -> ApiResult<UserRow> {
    user_rows::by_id(connection, user_id)?.ok_or_else(no_such_user)
}

/// The user of `{user_id}` or `{email}` in a path: digits are an id; of emails those that the caller may see, and the
/// stand-in of any user (feature level 302). `domain` is that of stand-ins.
pub fn named(connection: &Connection, caller: &Caller, name: &str, domain: &str) -> ApiResult<UserRow> {
    if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
        return by_id(connection, UserId(name.parse().map_err(|_| no_such_user())?));
    }
    if let Some(user_id) = emails::dummy(name, domain) {
        return by_id(connection, user_id);
    }
    if let Some(user) = users_sql::by_email(connection, name)? {
        return Ok(user);
    }
    let user = users_sql::by_delivery_email(connection, name)?;
    user.filter(|user| user.shows_email_to(caller)).ok_or_else(no_such_user)
}

/// A user whom the caller can access.
pub fn accessible(connection: &Connection, caller: &Caller, user: UserRow) -> ApiResult<UserRow> {
    users::check(connection, caller, &user)?;
    Ok(user)
}

/// The refusal of a user who is not there.
pub fn no_such_user() -> ApiError {
    ApiError::bad_request("No such user")
}
