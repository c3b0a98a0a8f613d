//! Rules for the values of profile fields, by type.

use crate::auth::Caller;
use crate::domain::access::users::Accessible;
use crate::domain::limits::MAX_PROFILE_FIELD_USERS;
use crate::domain::profile_fields::field::{FieldType, ProfileField, is_url};
use crate::domain::{limits, rows};
use crate::error::{ApiError, ApiResult};
use crate::types::UserId;
use rusqlite::Connection;
use serde::de;
use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

/// A new value as clients send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewValue {
    /// `null`: deletes the value, as an empty text or list does.
    Null,
    /// Text. For fields of type [`FieldType::User`], user ids as JSON.
    Text(String),
    /// The ids of people.
    UserIds(Vec<UserId>),
}

impl<'de> Deserialize<'de> for NewValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self::Null),
            Value::String(text) => Ok(Self::Text(text)),
            list @ Value::Array(_) => serde_json::from_value(list)
                .map(Self::UserIds)
                .map_err(|_| de::Error::custom("{} is not a list of integers")),
            _ => Err(de::Error::custom("{} is not a string")),
        }
    }
}

/// The maximum length of one-line values, in characters.
const MAX_SHORT_LENGTH: usize = 50;

/// The maximum length of [`FieldType::LongText`] values, in characters.
const MAX_LONG_LENGTH: usize = 500;

/// The maximum length of [`FieldType::Url`] values, in characters.
const MAX_URL_LENGTH: usize = 2000;

/// Checks a value and returns the text to store; `None` if it is empty, which deletes the value.
pub fn check(
    connection: &Connection,
    caller: &Caller,
    field: &ProfileField,
    value: &NewValue,
) -> ApiResult<Option<String>> {
    let text = match value {
        NewValue::Null => return Ok(None),
        NewValue::Text(text) if text.trim().is_empty() => return Ok(None),
        NewValue::UserIds(ids) if ids.is_empty() => return Ok(None),
        NewValue::UserIds(ids) if field.r#type == FieldType::User => {
            return check_people(connection, caller, ids).map(Some);
        }
        NewValue::UserIds(_) => return Err(invalid(field, "is not a string")),
        NewValue::Text(text) => text,
    };
    match field.r#type {
        FieldType::ShortText | FieldType::ExternalAccount | FieldType::Pronouns => {
            check_length(field, text, MAX_SHORT_LENGTH)?;
        }
        FieldType::LongText => check_length(field, text, MAX_LONG_LENGTH)?,
        FieldType::Select => {
            if !field.data().contains_key(text) {
                let msg = format!("'{text}' is not a valid choice for '{}'.", field.name);
                return Err(ApiError::bad_request(msg));
            }
        }
        FieldType::Date => {
            if !is_date(text) {
                return Err(invalid(field, "is not a date"));
            }
        }
        FieldType::Url => {
            check_length(field, text, MAX_URL_LENGTH)?;
            if !is_url(text) {
                return Err(invalid(field, "is not a URL"));
            }
        }
        FieldType::User => {
            let ids: Vec<UserId> =
                serde_json::from_str(text).map_err(|_| ApiError::bad_request("User IDs is not a list"))?;
            return if ids.is_empty() { Ok(None) } else { check_people(connection, caller, &ids).map(Some) };
        }
    }
    Ok(Some(text.clone()))
}

fn check_length(field: &ProfileField, text: &str, limit: usize) -> ApiResult<()> {
    if text.chars().count() > limit {
        return Err(invalid(field, &format!("is too long (limit: {limit} characters)")));
    }
    Ok(())
}

fn invalid(field: &ProfileField, what: &str) -> ApiError {
    ApiError::bad_request(format!("{} {what}", field.name))
}

/// Checks that the ids are of active people whom the caller can access, and returns them as JSON.
fn check_people(connection: &Connection, caller: &Caller, ids: &[UserId]) -> ApiResult<String> {
    limits::check("users in a profile field", ids.len(), MAX_PROFILE_FIELD_USERS)?;
    let accessible = Accessible::to(connection, caller)?;
    let mut unknown = Vec::new();
    let mut found = Vec::new();
    for id in ids {
        let user = rows::user::by_id(connection, *id)?;
        match user.filter(|user| !user.is_system_bot && accessible.contains(*id)) {
            Some(user) => found.push(user),
            None => unknown.push(id.to_string()),
        }
    }
    if !unknown.is_empty() {
        return Err(ApiError::bad_request(format!("Invalid user IDs: {}", unknown.join(", "))));
    }
    for user in found {
        let id = user.user_id;
        if !user.is_active {
            return Err(ApiError::bad_request(format!("User with ID {id} is deactivated")));
        }
        if user.is_bot() {
            return Err(ApiError::bad_request(format!("User with ID {id} is a bot")));
        }
    }
    Ok(serde_json::to_string(ids)?)
}

/// True if a text is a date of the form `2026-09-21`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |text: &str, digits| {
        let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<i16>().ok()).flatten()
    };
    let [year, month, day] = parts.as_slice() else { return false };
    let (Some(year), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2)) else {
        return false;
    };
    let (Ok(month), Ok(day)) = (i8::try_from(month), i8::try_from(day)) else { return false };
    year > 0 && jiff::civil::Date::new(year, month, day).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_one_form() {
        for good in ["2026-09-21", "1909-04-05", "2024-02-29"] {
            assert!(is_date(good), "{good}");
        }
        for bad in [
            "",
            "2026",
            "2026-9-21",
            "2025-02-29",
            "2026-13-01",
            "0000-01-01",
            "26-09-21",
            "2026-09-21 ",
            "-2026-09-21",
            "2026-+9-21",
        ] {
            assert!(!is_date(bad), "{bad}");
        }
    }

    #[test]
    fn addresses_are_not_split() {
        for good in
            ["https://example.com", "http://localhost:9991/x?y#z", "ftp://192.0.2.1/", "https://[::1]/"]
        {
            assert!(is_url(good), "{good}");
        }
        for bad in [
            "",
            "example.com",
            "https://",
            "https:example.com",
            "javascript:alert(1)",
            "mailto:a@b.example",
            "https://example",
            "https://exam ple.com",
        ] {
            assert!(!is_url(bad), "{bad}");
        }
    }
}
