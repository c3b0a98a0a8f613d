//! The `principals` parameter: the users to subscribe or unsubscribe.

use crate::auth::Caller;
use crate::domain::access::users::Accessible;
use crate::domain::rows::user::UserRow;
use crate::domain::{rows, users};
use crate::error::ApiResult;
use crate::types::UserId;
use rusqlite::Connection;
use serde::Deserialize;

/// A list of user ids or of emails.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "{} is not a list")]
pub enum Principals {
    Ids(Vec<UserId>),
    /// Emails, as [`users::find::by_email`] reads them.
    Emails(Vec<String>),
}

impl Principals {
    /// The number of users in the list.
    pub fn count(&self) -> usize {
        match self {
            Self::Ids(ids) => ids.len(),
            Self::Emails(emails) => emails.len(),
        }
    }
}

/// Loads the users, without duplicates and sorted by id; the caller if none are given. Fails if one of them does not
/// exist or is deactivated.
pub fn resolve(
    connection: &Connection,
    caller: &Caller,
    principals: Option<&Principals>,
) -> ApiResult<Vec<UserRow>> {
    let mut users = match principals {
        Some(Principals::Ids(ids)) => load_active(ids, |id| Ok(rows::user::by_id(connection, *id)?))?,
        Some(Principals::Emails(emails)) => {
            let accessible = Accessible::to(connection, caller)?;
            load_active(emails, |email| users::find::by_email(connection, caller, &accessible, email))?
        }
        None => Vec::new(),
    };
    if users.is_empty() {
        users = load_active(&[caller.user_id], |id| Ok(rows::user::by_id(connection, *id)?))?;
    }
    Ok(users)
}

/// Checks that these users exist and are active. Returns their ids without duplicates, ascending; possibly none.
pub fn resolve_ids(connection: &Connection, ids: &[UserId]) -> ApiResult<Vec<UserId>> {
    let users = load_active(ids, |id| Ok(rows::user::by_id(connection, *id)?))?;
    Ok(users.into_iter().map(|user| user.user_id).collect())
}

fn load_active<T>(keys: &[T], load: impl Fn(&T) -> ApiResult<Option<UserRow>>) -> ApiResult<Vec<UserRow>> {
    let mut users = Vec::with_capacity(keys.len());
    for key in keys {
        let user = load(key)?.filter(|user| !user.is_system_bot);
        let user = user.ok_or_else(users::find::no_such_user)?;
        user.check_is_active()?;
        users.push(user);
    }
    users.sort_by_key(|user| user.user_id);
    users.dedup_by_key(|user| user.user_id);
    Ok(users)
}
