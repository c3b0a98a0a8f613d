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
use crate::types::UserId;
use crate::types::{EmailVisibility, Role};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
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
    /// The user, and what is new about them.
    person: ChangedPerson,
}

#[derive(Serialize, Deserialize)]
struct ChangedPerson {
    /// Identifies the user.
    user_id: UserId,
    #[serde(flatten)]
    change: UserChange,
}

/// What is new about a user.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum UserChange {
    /// The name.
    FullName {
        /// The new one.
        full_name: String,
    },
    /// The role.
    Role {
        /// The new one.
        role: Role,
    },
    /// The image.
    Avatar {
        /// Its address.
        avatar_url: String,
        /// `G` for a generated image, `U` for an uploaded one.
        avatar_source: Cow<'static, str>,
        /// Its address in a medium size.
        avatar_url_medium: String,
        /// Grows with each change.
        avatar_version: i64,
    },
    /// The time zone.
    Timezone {
        /// The API email.
        email: String,
        /// The new one; empty for none.
        timezone: String,
    },
    /// The owner of a bot.
    Owner {
        /// The new one.
        bot_owner_id: UserId,
    },
    /// The API email.
    NewEmail {
        /// The new one.
        new_email: String,
    },
    /// The value of a custom profile field.
    ProfileField {
        /// The field and its value.
        custom_profile_field: ChangedField,
    },
    /// Whether the account is in use.
    Activity {
        /// Whether it is.
        is_active: bool,
    },
    /// The real email, as far as the receivers may see it.
    DeliveryEmail {
        /// The new one; null if they no longer may.
        delivery_email: Option<String>,
    },
}

/// The value of a custom profile field.
#[derive(Serialize, Deserialize)]
pub struct ChangedField {
    /// The field.
    pub id: i64,
    /// The new value; null for none.
    pub value: Option<String>,
    /// The same as HTML, for fields of text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered_value: Option<String>,
}

uniform_event!(UserUpdated: "realm_user", op "update", version 1);

impl UserUpdated {
    /// The event for a change.
    pub fn new(user_id: UserId, change: UserChange) -> Self {
        Self { person: ChangedPerson { user_id, change } }
    }
}

/// `realm_user`, `op: remove`: the receivers can no longer access somebody.
#[derive(Serialize, Deserialize)]
pub struct UserRemoved {
    /// The user who can no longer be accessed.
    person: Removed,
}

uniform_event!(UserRemoved: "realm_user", op "remove", version 1);

#[derive(Serialize, Deserialize)]
struct Removed {
    /// Identifies the user.
    user_id: UserId,
    /// Always `Unknown user`.
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

/// The caller in the answer of `POST /register`.
#[derive(Serialize)]
struct OwnState {
    /// The caller's id.
    user_id: UserId,
    /// The caller's API email.
    email: String,
    /// The caller's real email.
    delivery_email: String,
    /// The caller's name.
    full_name: String,
    /// `G` for a generated image, `U` for an uploaded one.
    avatar_source: &'static str,
    /// The caller's image.
    avatar_url: String,
    /// The caller's image in a medium size.
    avatar_url_medium: String,
    /// Whether the caller is an owner.
    is_owner: bool,
    /// Whether the caller is an administrator or an owner.
    is_admin: bool,
    /// Whether the caller is a moderator.
    is_moderator: bool,
    /// Whether the caller is a guest.
    is_guest: bool,
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
    state.set::<Vec<UserRecord>>("realm_users", &active)?;
    state.set::<Vec<UserRecord>>("realm_non_active_users", &inactive)?;
    state.set::<Vec<UserRecord>>("cross_realm_bots", &bots)?;
    if let Some(own) = user_rows::by_id(request.connection, request.caller.user_id)? {
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
