//! `GET /users/{user_id_or_email}/presence` and `GET /realm/presence`, for those who are no chat clients.

use crate::domain::access::{user_rows, users as access};
use crate::domain::limits::PRESENCE_OFFLINE_THRESHOLD_SECONDS;
use crate::domain::presence::state::Wanted;
use crate::domain::presence::{sql, state};
use crate::domain::realm;
use crate::domain::users::sql as users;
use crate::http::params::NoParams;
use crate::http::{ApiError, ApiResult, Read, Reply, User};
use crate::types::UserId;
use serde::Deserialize;
use serde_json::json;

/// Parameters of `GET /users/{user_id_or_email}/presence`.
#[derive(Deserialize)]
pub struct UserParams {
    /// Which user: an id, or an API email.
    user_id_or_email: String,
}

/// `GET /users/{user_id_or_email}/presence`: one person's, in the older form. `aggregated` also says `offline`.
pub fn get_user_presence(read: &Read<'_, User>, params: UserParams) -> ApiResult<Reply> {
    let name = &params.user_id_or_email;
    let user = match name.parse() {
        Ok(id) => user_rows::by_id(read, UserId(id))?,
        Err(_) => users::by_email(read, name)?,
    };
    let user = user.filter(|user| user.is_active).ok_or_else(|| ApiError::bad_request("No such user"))?;
    access::check(read, read.caller, &user)?;
    if user.is_bot() || user.is_system_bot {
        return Err(ApiError::bad_request("Presence is not supported for bot users."));
    }
    let is_hidden = realm::settings::get(read, "presence_disabled")?;
    let presence = if is_hidden { None } else { sql::of(read, user.user_id)? };
    let presence = presence.ok_or_else(|| ApiError::bad_request(format!("No presence data for {name}")))?;
    let (status, timestamp) = presence.status();
    let is_offline = read.app.clock.seconds() - timestamp > PRESENCE_OFFLINE_THRESHOLD_SECONDS;
    let now = if is_offline { "offline" } else { status };
    let presence = json!({
        "aggregated": {"status": now, "timestamp": timestamp},
        "website": {"status": status, "timestamp": timestamp},
    });
    Reply::field("presence", &presence)
}

/// `GET /realm/presence`: everybody's, in the older form.
pub fn get_presence(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply> {
    let loaded = state::load(read, read.caller, Wanted::default(), read.app.clock.milliseconds())?;
    Reply::data(&json!({"presences": loaded.presences, "server_timestamp": loaded.server_timestamp}))
}
