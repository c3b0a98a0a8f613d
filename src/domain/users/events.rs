//! Events about users, and the users in the answer of `POST /register`.

use crate::domain::access::users::UNKNOWN_USER;
use crate::domain::profile_fields::values;
use crate::domain::rows::user::UserRow;
use crate::domain::users;
use crate::domain::users::record::UserRecord;
use crate::error::ApiResult;
use crate::events::{Audience, Receiver, Routed, uniform_event};
use crate::store::Tx;
use crate::types::{EmailVisibility, Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// `realm_user`, `op: add`: a user joined, or the receiver can access them now.
#[derive(Serialize, Deserialize)]
pub struct UserAdded {
    person: UserRecord,
}

/// Routing of a [`UserAdded`].
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

/// `realm_user`, `op: update`: a property of a user changed. `person` has one of nine forms.
#[derive(Serialize, Deserialize)]
pub struct UserUpdated {
    /// The user's `user_id` and the changed property.
    person: ChangedPerson,
}

#[derive(Serialize, Deserialize)]
struct ChangedPerson {
    /// The user's id.
    user_id: UserId,
    #[serde(flatten)]
    change: UserChange,
}

/// A changed property of a user.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub enum UserChange {
    /// The name.
    FullName {
        /// The new display name.
        full_name: String,
    },
    /// The role.
    Role {
        /// The new role: 100 for owners, 200 for administrators, 300 for moderators, 400 for members, 600 for guests.
        role: Role,
    },
    /// The image.
    Avatar {
        /// The new URL of the image.
        avatar_url: String,
        /// `G` for a generated image, `U` for an uploaded one.
        avatar_source: Cow<'static, str>,
        /// The URL of the image in a medium size.
        avatar_url_medium: String,
        /// The version of the image, which grows with each change.
        avatar_version: i64,
    },
    /// The time zone.
    Timezone {
        /// Deprecated: the user's API email.
        email: String,
        /// The new time zone, as IANA identifier; empty for none.
        timezone: String,
    },
    /// The owner of a bot.
    Owner {
        /// The user id of the new owner of the bot.
        bot_owner_id: UserId,
    },
    /// The API email.
    NewEmail {
        /// The new API email.
        new_email: String,
    },
    /// The value of a custom profile field.
    ProfileField {
        /// The field and its new value.
        custom_profile_field: ChangedField,
    },
    /// Activation of the account.
    Activity {
        /// False if the account was deactivated, true if it was reactivated.
        is_active: bool,
    },
    /// The real email, as far as the receivers may see it.
    DeliveryEmail {
        /// The new real email; null if the receiver may no longer see it.
        delivery_email: Option<String>,
    },
}

/// The value of a custom profile field.
#[derive(Serialize, Deserialize)]
pub struct ChangedField {
    /// The id of the field.
    pub id: i64,
    /// The new value; null if it was deleted.
    pub value: Option<String>,
    /// The new value as HTML, for short and long text.
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

/// `realm_user`, `op: remove`: the receiver can no longer access a user.
#[derive(Serialize, Deserialize)]
pub struct UserRemoved {
    /// The user, by the `user_id`.
    person: Removed,
}

uniform_event!(UserRemoved: "realm_user", op "remove", version 1);

#[derive(Serialize, Deserialize)]
struct Removed {
    /// The user's id.
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

/// Splits users who can access `user` into those who may see the real email, `user` included, and the others.
pub fn split_by_visibility(
    connection: &Connection,
    user: &UserRow,
    all: &RoaringBitmap,
) -> ApiResult<(RoaringBitmap, RoaringBitmap)> {
    if user.email_visibility == EmailVisibility::Everyone {
        return Ok((all.clone(), RoaringBitmap::new()));
    }
    let mut who_see: RoaringBitmap = users::active_roles(connection)?
        .into_iter()
        .filter(|(user_id, role)| *user_id == user.user_id || user.email_visibility.admits(*role))
        .filter_map(|(user_id, _)| user_id.bit())
        .collect();
    who_see &= all;
    let others = all - &who_see;
    Ok((who_see, others))
}
