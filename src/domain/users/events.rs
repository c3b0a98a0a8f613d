//! Events about users, and the users in the answer of `POST /register`.

use crate::domain::access::user_rows;
use crate::domain::access::user_rows::UserRow;
use crate::domain::access::users::{Accessible, UNKNOWN_USER};
use crate::domain::profile_fields::values;
use crate::domain::users::record::UserRecord;
use crate::domain::users::sql as users_sql;
use crate::events::{Audience, Receiver, Routed, uniform_event};
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use crate::types::EmailVisibility;
use crate::types::UserId;
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

/// `realm_user`, `op: add`: somebody joined, or the receivers can access them now.
#[derive(Serialize, Deserialize)]
pub struct UserAdded {
    person: UserRecord,
}

/// Who gets a [`UserAdded`].
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum UserAddedRouting {
    /// The receivers can access the user.
    Accessible,
    /// The receivers cannot: the record is a stand-in for clients that cannot do without.
    StandIn,
}

impl UserAddedRouting {
    /// Checks whether a client gets the event.
    pub fn reaches(&self, receiver: &Receiver<'_>) -> bool {
        match self {
            Self::Accessible => true,
            Self::StandIn => !receiver.registration.client_capabilities.user_list_incomplete,
        }
    }
}

uniform_event!(
    UserAdded: "realm_user", op "add", version 1, routing UserAddedRouting, if UserAddedRouting::reaches
);

impl UserAdded {
    /// The event for a user whom the receivers can access.
    pub fn new(person: UserRecord) -> Routed<Self> {
        Routed { event: Self { person }, routing: UserAddedRouting::Accessible }
    }

    /// The event for a new user whom the receivers cannot access.
    pub fn unknown(user_id: UserId) -> Routed<Self> {
        Routed { event: Self { person: UserRecord::unknown(user_id) }, routing: UserAddedRouting::StandIn }
    }
}

/// `realm_user`, `op: update`: something about somebody changed. `person` has `user_id` and what is new, in one of the
/// nine forms of the spec.
#[derive(Serialize, Deserialize)]
pub struct UserUpdated {
    person: Value,
}

uniform_event!(UserUpdated: "realm_user", op "update", version 1);

impl UserUpdated {
    /// The event for a change.
    pub fn new(person: Value) -> Self {
        Self { person }
    }
}

/// `realm_user`, `op: remove`: the receivers can no longer access somebody.
#[derive(Serialize, Deserialize)]
pub struct UserRemoved {
    person: Removed,
}

uniform_event!(UserRemoved: "realm_user", op "remove", version 1);

#[derive(Serialize, Deserialize)]
struct Removed {
    user_id: UserId,
    full_name: Cow<'static, str>,
}

impl UserRemoved {
    /// The event for one user.
    pub fn new(user_id: UserId) -> Self {
        Self { person: Removed { user_id, full_name: UNKNOWN_USER.into() } }
    }
}

/// Emits `realm_user/add` to users who can access the user, with or without the real email.
pub fn emit_added(tx: &mut Tx<'_>, user: &UserRow, to: &RoaringBitmap) -> ApiResult<()> {
    let whole = UserRecord::new(user).with_profile_data(values::of(tx, user.user_id)?);
    let (who_see, others) = split_by_visibility(tx, user, to)?;
    tx.emit(UserAdded::new(whole.clone()), Audience::set(who_see));
    tx.emit(UserAdded::new(whole.without_delivery_email()), Audience::set(others));
    Ok(())
}

/// The users in the answer of `POST /register`: `realm_users`, `realm_non_active_users`, `cross_realm_bots`, and the
/// caller's own fields.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let mut active = Vec::new();
    let mut inactive = Vec::new();
    let accessible = Accessible::to(request.connection, request.caller)?;
    let mut profiles = values::all(request.connection)?;
    for user in users_sql::all(request.connection)? {
        if accessible.contains(user.user_id) {
            let profile = profiles.remove(&user.user_id).unwrap_or_default();
            let list = if user.is_active { &mut active } else { &mut inactive };
            let record = UserRecord::for_caller(&user, request.caller);
            list.push(record.with_profile_data(profile).without_is_active());
        } else if !request.registration.client_capabilities.user_list_incomplete {
            active.push(UserRecord::unknown(user.user_id).without_is_active());
        }
    }
    let bots: Vec<_> = users_sql::system_bots(request.connection)?.iter().map(UserRecord::new).collect();
    state.insert_large("realm_users", &active)?;
    state.insert_large("realm_non_active_users", &inactive)?;
    state.insert("cross_realm_bots".into(), json!(bots));
    if let Some(own) = user_rows::by_id(request.connection, request.caller.user_id)? {
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

/// Splits users who can access `user` into those who may see the real email, `user` included, and the others.
pub fn split_by_visibility(
    connection: &Connection,
    user: &UserRow,
    all: &RoaringBitmap,
) -> ApiResult<(RoaringBitmap, RoaringBitmap)> {
    if user.email_visibility == EmailVisibility::Everyone {
        return Ok((all.clone(), RoaringBitmap::new()));
    }
    let mut who_see: RoaringBitmap = users_sql::active_roles(connection)?
        .into_iter()
        .filter(|(user_id, role)| *user_id == user.user_id || user.email_visibility.admits(*role))
        .filter_map(|(user_id, _)| user_id.bit())
        .collect();
    who_see &= all;
    let others = all - &who_see;
    Ok((who_see, others))
}
