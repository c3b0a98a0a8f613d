//! Users in the reply of `POST /register`.

use crate::api::resource::{State, StateRequest};
use crate::auth::Caller;
use crate::domain::access::users::Accessible;
use crate::domain::images::avatar::Avatar;
use crate::domain::profile_fields::values;
use crate::domain::users::record::UserRecord;
use crate::domain::{rows, users};
use crate::error::ApiResult;
use crate::types::{Role, UserId};
use serde::Serialize;

/// The caller in the answer of `POST /register`.
#[derive(Serialize)]
struct OwnState {
    /// The caller's user id.
    user_id: UserId,
    /// The caller's API email.
    email: String,
    /// The caller's real email.
    delivery_email: String,
    /// The caller's display name.
    full_name: String,
    /// `G` for a generated image, `U` for an uploaded one.
    avatar_source: &'static str,
    /// The URL of the caller's image.
    avatar_url: String,
    /// The URL of the caller's image in a medium size.
    avatar_url_medium: String,
    /// True if the caller is an owner.
    is_owner: bool,
    /// True if the caller is an administrator or an owner.
    is_admin: bool,
    /// True if the caller is a moderator, an administrator or an owner.
    is_moderator: bool,
    /// True if the caller is a guest.
    is_guest: bool,
}

impl OwnState {
    /// The caller without an account, as published.
    fn visitor() -> Self {
        let avatar = Avatar { user_id: Caller::VISITOR.user_id, version: 1, key: None };
        let email = "username@example.com";
        Self {
            user_id: Caller::VISITOR.user_id,
            email: email.to_owned(),
            delivery_email: email.to_owned(),
            full_name: "Anonymous User".to_owned(),
            avatar_source: avatar.source(),
            avatar_url: avatar.url(),
            avatar_url_medium: avatar.medium_url(),
            is_owner: false,
            is_admin: false,
            is_moderator: false,
            is_guest: true,
        }
    }
}

/// The users of `POST /register`: `realm_users` for active ones, `realm_non_active_users` for deactivated ones, and
/// `cross_realm_bots` for the server's own bots.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let mut active = Vec::new();
    let mut inactive = Vec::new();
    let accessible = Accessible::to(request.connection, request.caller)?;
    let mut profiles = values::all(request.connection)?;
    for user in users::all(request.connection)? {
        if accessible.contains(user.user_id) {
            let profile = profiles.remove(&user.user_id).unwrap_or_default();
            let list = if user.is_active { &mut active } else { &mut inactive };
            let record = UserRecord::for_caller(&user, request.caller).without_is_active();
            let is_visitor = request.caller.is_visitor();
            list.push(if is_visitor { record } else { record.with_profile_data(profile) });
        } else if !request.registration.client_capabilities.user_list_incomplete {
            active.push(UserRecord::unknown(user.user_id).without_is_active());
        }
    }
    let bots: Vec<_> = users::system_bots(request.connection)?.iter().map(UserRecord::new).collect();
    state.set::<Vec<UserRecord>>("realm_users", &active)?;
    state.set::<Vec<UserRecord>>("realm_non_active_users", &inactive)?;
    state.set::<Vec<UserRecord>>("cross_realm_bots", &bots)?;
    if request.caller.is_visitor() {
        return state.add::<OwnState>(&OwnState::visitor());
    }
    if let Some(own) = rows::user::by_id(request.connection, request.caller.user_id)? {
        state.add(&OwnState {
            user_id: own.user_id,
            avatar_source: own.avatar.source(),
            avatar_url: own.avatar.url(),
            avatar_url_medium: own.avatar.medium_url(),
            is_owner: own.role == Role::Owner,
            is_admin: own.role.is_administrator(),
            is_moderator: own.role.is_moderator(),
            is_guest: own.role == Role::Guest,
            email: own.email,
            delivery_email: own.delivery_email,
            full_name: own.full_name,
        })?;
    }
    Ok(())
}
