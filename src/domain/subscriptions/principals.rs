//! The users that a request is about.

use crate::domain::access::user_rows;
use crate::domain::access::user_rows::UserRow;
use crate::domain::users::sql as users_sql;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::UserId;
use rusqlite::Connection;
use serde::Deserialize;

/// `principals`: ids, or API emails.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "{} is not a list")]
pub enum Principals {
    /// Ids, which are preferred.
    Ids(Vec<UserId>),
    /// API emails.
    Emails(Vec<String>),
}

/// The users that are named, each once, by id; the caller when nobody is.
pub fn users(
    connection: &Connection,
    caller: &Caller,
    principals: Option<&Principals>,
) -> ApiResult<Vec<UserRow>> {
    let mut users = match principals {
        Some(Principals::Ids(ids)) => find(ids, |id| user_rows::by_id(connection, *id))?,
        Some(Principals::Emails(emails)) => find(emails, |email| users_sql::by_email(connection, email))?,
        None => Vec::new(),
    };
    if users.is_empty() {
        users = find(&[caller.user_id], |id| user_rows::by_id(connection, *id))?;
    }
    Ok(users)
}

/// The users with these ids, each once; possibly nobody.
pub fn by_ids(connection: &Connection, ids: &[UserId]) -> ApiResult<Vec<UserId>> {
    let users = find(ids, |id| user_rows::by_id(connection, *id))?;
    Ok(users.into_iter().map(|user| user.user_id).collect())
}

fn find<T>(
    wanted: &[T],
    look_up: impl Fn(&T) -> rusqlite::Result<Option<UserRow>>,
) -> ApiResult<Vec<UserRow>> {
    let mut users = Vec::with_capacity(wanted.len());
    for name in wanted {
        let user = look_up(name)?.filter(|user| !user.is_system_bot);
        let user = user.ok_or_else(|| ApiError::bad_request("No such user"))?;
        if !user.is_active {
            return Err(ApiError::bad_request("User is deactivated"));
        }
        users.push(user);
    }
    users.sort_by_key(|user| user.user_id);
    users.dedup_by_key(|user| user.user_id);
    Ok(users)
}
