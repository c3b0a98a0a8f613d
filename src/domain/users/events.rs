//! Events about users, and the users in the answer of `POST /register`.

use crate::domain::access::user_rows;
use crate::domain::access::user_rows::UserRow;
use crate::domain::access::users::{Accessible, UNKNOWN_USER};
use crate::domain::profile_fields::values;
use crate::domain::realm::user_ids;
use crate::domain::users::record::UserRecord;
use crate::domain::users::{emails, sql as users_sql};
use crate::events::{Audience, Event, EventType, Receiver, Verdict};
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use crate::types::UserId;
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde::Serialize;
use serde_json::{Value, json};

/// `realm_user`, `op: add`: somebody joined, or the receivers can access them now.
#[derive(Serialize)]
pub struct UserAdded {
    r#type: &'static str,
    op: &'static str,
    person: UserRecord,
    /// The receivers cannot access them: clients that know of such users need no stand-in. Never sent.
    #[serde(rename = "_unknown", skip_serializing_if = "std::ops::Not::not")]
    is_unknown: bool,
}

impl UserAdded {
    /// The event for a user whom the receivers can access.
    pub fn new(person: UserRecord) -> Self {
        Self { r#type: Self::TYPE, op: "add", person, is_unknown: false }
    }

    /// The event for a new user whom the receivers cannot access.
    pub fn unknown(user_id: UserId) -> Self {
        Self { is_unknown: true, ..Self::new(UserRecord::unknown(user_id)) }
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

/// `realm_user`, `op: remove`: the receivers can no longer access somebody.
#[derive(Serialize)]
pub struct UserRemoved {
    r#type: &'static str,
    op: &'static str,
    person: Removed,
}

#[derive(Serialize)]
struct Removed {
    user_id: UserId,
    full_name: &'static str,
}

impl UserRemoved {
    /// The event for one user.
    pub fn new(user_id: UserId) -> Self {
        Self { r#type: Self::TYPE, op: "remove", person: Removed { user_id, full_name: UNKNOWN_USER } }
    }
}

impl Event for UserRemoved {
    const TYPE: &'static str = "realm_user";
}

/// Everybody with an account in use: for what is not about one user. That has [`crate::domain::access::users::audience`].
pub fn everyone(connection: &Connection) -> ApiResult<Audience> {
    Ok(Audience::set(user_ids::active_ids(connection)?))
}

/// Introduces a user to others who can access them, with the real email or without.
pub fn announce(tx: &mut Tx<'_>, user: &UserRow, to: &RoaringBitmap) -> ApiResult<()> {
    let whole = UserRecord::new(user).with_profile_data(values::of(tx, user.user_id)?);
    let (who_see, others) = emails::split(tx, user, to)?;
    tx.emit(&UserAdded::new(whole.clone()), Audience::set(who_see));
    tx.emit(&UserAdded::new(whole.without_delivery_email()), Audience::set(others));
    Ok(())
}

/// How `realm_user` events differ between receivers: stand-ins are for clients that cannot do without.
pub fn event_types() -> Vec<EventType> {
    vec![EventType { name: UserAdded::TYPE, verdict, form, personal: EventType::nothing_personal }]
}

const PLAIN: u8 = 0;

const STAND_IN: u8 = 1;

fn verdict(event: &Value, receiver: &Receiver<'_>) -> Verdict {
    if event.get("_unknown").is_none() {
        return Verdict::Form(PLAIN);
    }
    let does_without = receiver.registration.client_capabilities.user_list_incomplete;
    if does_without { Verdict::Skip } else { Verdict::Form(STAND_IN) }
}

fn form(event: &Value, number: u8) -> String {
    if number == PLAIN {
        return event.to_string();
    }
    let mut event = event.clone();
    if let Some(members) = event.as_object_mut() {
        members.remove("_unknown");
    }
    event.to_string()
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
