//! `GET /users/me`, `GET /users`, `GET /users/{user_id}` and `GET /users/{email}`.

use super::access::Accessible;
use super::record::{UserRecord, UserRow};
use super::{find, sql};
use crate::api::realm;
use crate::http::{ApiResult, Caller, Read, Reply, User};
use crate::types::UserId;
use serde::{Deserialize, Serialize};
use serde_json::Map;

/// `GET /users/me` has no parameters.
#[derive(Deserialize)]
pub struct NoParams {}

/// Parameters of `GET /users` and `GET /users/{user_id_or_email}`.
#[derive(Deserialize)]
pub struct UserParams {
    /// Which user: an id, or an API email.
    #[serde(default)]
    user_id_or_email: String,
    /// Accepted for older clients; our image addresses do not depend on it.
    #[serde(default, rename = "client_gravatar")]
    _client_gravatar: Option<bool>,
    /// Whether to add the values of the custom profile fields.
    #[serde(default)]
    include_custom_profile_fields: bool,
    /// Only these users; all when absent.
    #[serde(default)]
    user_ids: Option<Vec<UserId>>,
}

#[derive(Serialize)]
struct OwnUser {
    #[serde(flatten)]
    user: UserRecord,
    /// Deprecated, and still read by the terminal client.
    max_message_id: i64,
}

/// `GET /users/me` (spec, "get own user").
pub fn own_user(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    let user = find::by_id(read, read.caller.user_id)?;
    let max_message_id =
        read.prepare_cached("SELECT coalesce(max(id), -1) FROM message")?.query_row([], |row| row.get(0))?;
    let user = UserRecord::for_caller(&user, read.caller).with_profile_data(Map::new());
    Reply::data(&OwnUser { user, max_message_id })
}

/// `GET /users`: all users; stand-ins for those whom the caller cannot access.
pub fn users(read: &Read<'_, User>, params: UserParams) -> ApiResult<Reply> {
    let accessible = Accessible::to(read, read.caller)?;
    let members: Vec<UserRecord> = sql::all(read)?
        .iter()
        .filter(|user| params.user_ids.as_ref().is_none_or(|ids| ids.contains(&user.user_id)))
        .map(|user| {
            if accessible.contains(user.user_id) {
                record(user, read.caller, params.include_custom_profile_fields)
            } else {
                UserRecord::unknown(user.user_id)
            }
        })
        .collect();
    Reply::field("members", &members)
}

/// `GET /users/{user_id}` and `GET /users/{email}`: one user.
pub fn user(read: &Read<'_, User>, params: UserParams) -> ApiResult<Reply> {
    let domain = realm::state::bot_domain(&read.info.origin);
    let user = find::named(read, read.caller, &params.user_id_or_email, &domain)?;
    let user = find::accessible(read, read.caller, user)?;
    Reply::field("user", &record(&user, read.caller, params.include_custom_profile_fields))
}

fn record(user: &UserRow, caller: &Caller, with_profile_data: bool) -> UserRecord {
    let record = UserRecord::for_caller(user, caller);
    if with_profile_data { record.with_profile_data(Map::new()) } else { record }
}
