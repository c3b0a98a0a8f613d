//! Events about users, and the users in the answer of `POST /register`.

use super::record::UserRecord;
use super::sql;
use crate::api::profile_fields::values;
use crate::api::register::StateRequest;
use crate::events::{Audience, Event};
use crate::http::ApiResult;
use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// `realm_user`, `op: add`: somebody joined.
#[derive(Serialize)]
pub struct UserAdded {
    r#type: &'static str,
    op: &'static str,
    person: UserRecord,
}

impl UserAdded {
    /// The event for a new user.
    pub fn new(person: UserRecord) -> Self {
        Self { r#type: Self::TYPE, op: "add", person }
    }
}

impl Event for UserAdded {
    const TYPE: &'static str = "realm_user";
}

/// `realm_user`, `op: update`: something about somebody changed. `person` has `user_id` and what is new, in one of the
/// nine forms of the spec.
#[derive(Serialize)]
pub struct UserUpdated {
    r#type: &'static str,
    op: &'static str,
    person: Value,
}

impl UserUpdated {
    /// The event for a change.
    pub fn new(person: Value) -> Self {
        Self { r#type: Self::TYPE, op: "update", person }
    }
}

impl Event for UserUpdated {
    const TYPE: &'static str = "realm_user";
}

/// Everybody with an account in use.
pub fn everyone(connection: &Connection) -> ApiResult<Audience> {
    Ok(Audience::set(sql::active_ids(connection)?))
}

/// The users in the answer of `POST /register`: `realm_users`, `realm_non_active_users`, `cross_realm_bots`, and the
/// caller's own fields.
pub fn state(request: &StateRequest<'_>, state: &mut Map<String, Value>) -> ApiResult<()> {
    let mut active = Vec::new();
    let mut inactive = Vec::new();
    let mut profiles = values::all(request.connection)?;
    for user in sql::all(request.connection)? {
        let profile = profiles.remove(&user.user_id).unwrap_or_default();
        let list = if user.is_active { &mut active } else { &mut inactive };
        list.push(UserRecord::for_caller(&user, request.caller).with_profile_data(profile));
    }
    let bots: Vec<_> = sql::system_bots(request.connection)?.iter().map(UserRecord::new).collect();
    state.insert("realm_users".into(), json!(active));
    state.insert("realm_non_active_users".into(), json!(inactive));
    state.insert("cross_realm_bots".into(), json!(bots));
    if let Some(own) = sql::by_id(request.connection, request.caller.user_id)? {
        for (name, value) in [
            ("user_id", json!(own.user_id)),
            ("email", json!(own.email)),
            ("delivery_email", json!(own.delivery_email)),
            ("full_name", json!(own.full_name)),
            ("avatar_source", json!(own.avatar.source())),
            ("avatar_url", json!(own.avatar.url())),
            ("avatar_url_medium", json!(own.avatar.medium_url())),
            ("is_owner", json!(own.role == crate::types::Role::Owner)),
            ("is_admin", json!(own.role.is_administrator())),
            ("is_moderator", json!(own.role.is_moderator())),
            ("is_guest", json!(own.role == crate::types::Role::Guest)),
        ] {
            state.insert(name.into(), value);
        }
    }
    Ok(())
}
