//! `GET /users/me`, `GET /users`, `GET /users/{user_id}` and `GET /users/{email}`.

use crate::domain::access::users::Accessible;
use crate::domain::messages::access::Sight;
use crate::domain::messages::plan::newest_received;
use crate::domain::profile_fields::values;
use crate::domain::realm::bot_domain;
use crate::domain::users::record::UserRecord;
use crate::domain::users::{find, sql};
use crate::http::params::NoParams;
use crate::http::{ApiResult, Read, Reply, User};
use crate::types::UserId;
use serde::{Deserialize, Serialize};

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
    let max_message_id = newest_received(&Sight::new(read, read.caller, read.app.clock.seconds()))?;
    let user = UserRecord::for_caller(&user, read.caller).with_profile_data(values::of(read, user.user_id)?);
    Reply::data(&OwnUser { user, max_message_id })
}

/// `GET /users`: all users; stand-ins for those whom the caller cannot access.
pub fn users(read: &Read<'_, User>, params: UserParams) -> ApiResult<Reply> {
    let accessible = Accessible::to(read, read.caller)?;
    let mut profiles = if params.include_custom_profile_fields { Some(values::all(read)?) } else { None };
    let members: Vec<UserRecord> = sql::all(read)?
        .iter()
        .filter(|user| params.user_ids.as_ref().is_none_or(|ids| ids.contains(&user.user_id)))
        .map(|user| {
            if !accessible.contains(user.user_id) {
                return UserRecord::unknown(user.user_id);
            }
            let record = UserRecord::for_caller(user, read.caller);
            match &mut profiles {
                Some(profiles) => {
                    record.with_profile_data(profiles.remove(&user.user_id).unwrap_or_default())
                }
                None => record,
            }
        })
        .collect();
    Reply::field("members", &members)
}

/// `GET /users/{user_id}` and `GET /users/{email}`: one user.
pub fn user(read: &Read<'_, User>, params: UserParams) -> ApiResult<Reply> {
    let domain = bot_domain(&read.info.origin);
    let user = find::named(read, read.caller, &params.user_id_or_email, &domain)?;
    let user = find::accessible(read, read.caller, user)?;
    let mut record = UserRecord::for_caller(&user, read.caller);
    if params.include_custom_profile_fields {
        record = record.with_profile_data(values::of(read, user.user_id)?);
    }
    Reply::field("user", &record)
}
