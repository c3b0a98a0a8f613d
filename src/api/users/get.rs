//! `GET /users/me`, `GET /users`, `GET /users/{user_id}` and `GET /users/{email}`.

use crate::domain::access::users::Accessible;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::narrow::executor::newest_received;
use crate::domain::profile_fields::values;
use crate::domain::users::record::UserRecord;
use crate::domain::{access, users};
use crate::http::params::NoParams;
use crate::http::{ApiResult, Read, Reply, User, Visitor};
use crate::types::UserId;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Parameters of `GET /users`.
#[derive(Deserialize)]
pub struct UsersParams {
    /// Accepted and ignored: URLs of avatars do not depend on it.
    #[serde(rename = "client_gravatar")]
    _client_gravatar: Option<bool>,
    /// True to include `profile_data`. False by default.
    #[serde(default)]
    include_custom_profile_fields: bool,
    /// The ids of the users to list; by default all.
    user_ids: Option<Vec<UserId>>,
}

/// Parameters of `GET /users/{user_id_or_email}`.
#[derive(Deserialize)]
pub struct UserParams {
    /// The user's id or email.
    user_id_or_email: String,
    /// Accepted and ignored: URLs of avatars do not depend on it.
    #[serde(rename = "client_gravatar")]
    _client_gravatar: Option<bool>,
    /// True to include `profile_data`. False by default.
    #[serde(default)]
    include_custom_profile_fields: bool,
}

/// The reply to `GET /users/me`.
#[derive(Serialize)]
pub struct OwnUser {
    #[serde(flatten)]
    user: UserRecord,
    /// Deprecated: the id of the newest message that the caller received; -1 if there is none.
    max_message_id: i64,
}

/// `GET /users/me`: returns the caller's account (spec, "get own user").
pub fn own_user(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<OwnUser>> {
    let user = users::find::by_id(read, read.caller.user_id)?;
    let max_message_id = newest_received(&MessageViewer::new(read.ctx()))?;
    let user = UserRecord::for_caller(&user, read.caller).with_profile_data(values::of(read, user.user_id)?);
    Reply::data(&OwnUser { user, max_message_id })
}

/// The reply to `GET /users`.
#[derive(Serialize)]
pub struct Users {
    /// The users, by id.
    pub members: Vec<UserRecord>,
}

/// `GET /users`: lists all users. Users whom the caller cannot access have the name `Unknown user`. Visitors get no
/// `profile_data`.
pub fn list_users(read: &Read<'_, Visitor>, params: UsersParams) -> ApiResult<Reply<Users>> {
    access::visitors::check(read, read.caller)?;
    let accessible = Accessible::to(read, read.caller)?;
    let with_profiles = params.include_custom_profile_fields && !read.caller.is_visitor();
    let mut profiles = if with_profiles { Some(values::all(read)?) } else { None };
    let wanted: Option<HashSet<UserId>> = params.user_ids.map(HashSet::from_iter);
    let members: Vec<UserRecord> = users::all(read)?
        .iter()
        .filter(|user| wanted.as_ref().is_none_or(|ids| ids.contains(&user.user_id)))
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
    Reply::data(&Users { members })
}

/// The reply to `GET /users/{user_id}`.
#[derive(Serialize)]
pub struct OneUser {
    /// The account of the user.
    pub user: UserRecord,
}

/// `GET /users/{user_id}` and `GET /users/{email}`: returns an account.
pub fn user(read: &Read<'_, User>, params: UserParams) -> ApiResult<Reply<OneUser>> {
    let user = users::find::by_id_or_email(read, read.caller, &params.user_id_or_email)?;
    access::users::check(read, read.caller, &user)?;
    let mut record = UserRecord::for_caller(&user, read.caller);
    if params.include_custom_profile_fields {
        record = record.with_profile_data(values::of(read, user.user_id)?);
    }
    Reply::data(&OneUser { user: record })
}
