//! The wire form of a user (spec, "User").

use crate::auth::Caller;
use crate::domain::access;
use crate::domain::rows::user::UserRow;
use crate::types::{BotType, Role, UserId, nullable, timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A person or a bot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UserRecord {
    /// The user's id.
    user_id: UserId,
    /// The real email; null if the caller may not see it.
    delivery_email: Option<String>,
    /// The API email, for authentication: the real email, or a placeholder if not all users may see the real email.
    email: String,
    /// The display name.
    full_name: String,
    /// When the account was created: ISO 8601 to the minute, in UTC.
    date_joined: String,
    /// True unless the account is deactivated. Absent in `POST /register`, where active and deactivated users are
    /// separate lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    is_active: Option<bool>,
    /// True if the role is owner.
    is_owner: bool,
    /// True if the role is administrator or owner.
    is_admin: bool,
    /// True if the role is guest.
    is_guest: bool,
    /// True if it is a bot.
    is_bot: bool,
    /// True if the user is one of the server's own bots; absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    is_system_bot: bool,
    /// 1 for a generic bot, 2 for an incoming webhook, 3 for an outgoing webhook, 4 for an embedded bot. Absent for
    /// people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bot_type: Option<BotType>,
    /// The user id of the bot's owner; null for the server's own bots. Absent for people.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "nullable")]
    bot_owner_id: Option<Option<UserId>>,
    /// 100 for owners, 200 for administrators, 300 for moderators, 400 for members, 600 for guests.
    role: Role,
    /// The time zone, as IANA identifier; empty for none.
    timezone: String,
    /// The URL of the image, relative to the organization's URL.
    avatar_url: String,
    /// The version of the image, which grows with each change.
    avatar_version: i64,
    /// The values of custom profile fields by field id, as objects with `value` and, for text, `rendered_value`. Only
    /// for people, and only if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile_data: Option<Map<String, Value>>,
}

impl UserRecord {
    /// Returns the record as the caller may see it, without profile data.
    pub fn for_caller(user: &UserRow, caller: &Caller) -> Self {
        let record = Self::new(user);
        if caller.is_visitor() {
            return record.for_visitor();
        }
        if user.shows_email_to(caller) { record } else { record.without_delivery_email() }
    }

    /// Hides emails, the time zone, and the time of joining but for the day.
    fn for_visitor(mut self) -> Self {
        self.email = access::users::unknown_email(self.user_id);
        self.timezone.clear();
        self.date_joined.truncate("2026-01-01".len());
        self.without_delivery_email()
    }

    /// Hides the real email.
    #[must_use]
    pub fn without_delivery_email(mut self) -> Self {
        self.delivery_email = None;
        self
    }

    /// Returns the record with the real email, without profile data.
    pub fn new(user: &UserRow) -> Self {
        Self {
            user_id: user.user_id,
            delivery_email: Some(user.delivery_email.clone()),
            email: user.email.clone(),
            full_name: user.full_name.clone(),
            date_joined: iso_minutes(user.date_joined),
            is_active: Some(user.is_active),
            is_owner: user.role == Role::Owner,
            is_admin: user.role.is_administrator(),
            is_guest: user.role == Role::Guest,
            is_bot: user.is_bot(),
            is_system_bot: user.is_system_bot,
            bot_type: user.bot_type,
            bot_owner_id: user.is_bot().then_some(user.bot_owner_id),
            role: user.role,
            timezone: user.timezone.clone(),
            avatar_url: user.avatar.url(),
            avatar_version: user.avatar.version,
            profile_data: None,
        }
    }

    /// Returns the placeholder for a user whom the receiver cannot access.
    pub fn unknown(user_id: UserId) -> Self {
        Self {
            user_id,
            delivery_email: None,
            email: access::users::unknown_email(user_id),
            full_name: access::users::UNKNOWN_USER.to_owned(),
            date_joined: iso_minutes(0),
            is_active: Some(true),
            is_owner: false,
            is_admin: false,
            is_guest: false,
            is_bot: false,
            is_system_bot: false,
            bot_type: None,
            bot_owner_id: None,
            role: Role::Member,
            timezone: String::new(),
            avatar_url: access::users::UNKNOWN_AVATAR_URL.to_owned(),
            avatar_version: 1,
            profile_data: Some(Map::new()),
        }
    }

    /// Leaves out `is_active`, for lists of only active or only deactivated users.
    #[must_use]
    pub fn without_is_active(mut self) -> Self {
        self.is_active = None;
        self
    }

    /// Adds the values of the custom profile fields, for people.
    #[must_use]
    pub fn with_profile_data(mut self, data: Map<String, Value>) -> Self {
        self.profile_data = (!self.is_bot).then_some(data);
        self
    }
}

/// Formats a time as `date_joined` does: ISO 8601 to the minute, in UTC.
fn iso_minutes(seconds: i64) -> String {
    let time = timestamp(seconds);
    time.strftime("%Y-%m-%dT%H:%M+00:00").to_string()
}

#[cfg(test)]
mod tests {
    #[test]
    fn joining_dates_are_in_the_published_form() {
        assert_eq!(super::iso_minutes(1_600_000_000), "2020-09-13T12:26+00:00");
    }
}
