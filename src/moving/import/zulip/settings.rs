//! Settings of people and of the organization, and hashes of passwords.

use crate::domain::realm;
use crate::domain::user_settings::table;
use crate::domain::users::passwords;
use crate::moving::import::error::{ImportError, ImportResult};
use crate::store::Tx;
use crate::types::{ChangedBy, Kind, Property};
use serde_json::{Map, Value, json};

/// Columns of the organization with ids of channels.
pub const CHANNELS: [&str; 4] = [
    "moderation_request_channel",
    "new_stream_announcements_stream",
    "signup_announcements_stream",
    "zulip_update_announcements_stream",
];

/// Columns of people and of the organization with the names that they had before releases 8.0 and 9.0.
const EARLIER_NAMES: [(&str, &str); 4] = [
    ("new_stream_announcements_stream", "notifications_stream"),
    ("signup_announcements_stream", "signup_notifications_stream"),
    ("web_escape_navigates_to_home_view", "escape_navigates_to_default_view"),
    ("web_home_view", "default_view"),
];

/// The value in a column, also under its earlier name.
pub fn column<'a>(row: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    row.get(name).or_else(|| {
        let (_, earlier) = EARLIER_NAMES.iter().find(|(present, _)| *present == name)?;
        row.get(*earlier)
    })
}

/// The settings of a row that differ from the defaults. `unknown` counts values that are not allowed here.
pub fn of_person(row: &Map<String, Value>, unknown: &mut u64) -> ImportResult<Vec<(&'static str, Value)>> {
    let mut settings = Vec::new();
    for property in table::PROPERTIES {
        let Some(value) = column(row, property.name) else { continue };
        if let Some(value) = checked(property, value, unknown)? {
            settings.push((property.name, value));
        }
    }
    Ok(settings)
}

/// The value of a setting as it is stored here, if it is allowed and not the default. Others are counted; a value of another
/// type is an error.
fn checked(property: &Property, given: &Value, unknown: &mut u64) -> ImportResult<Option<Value>> {
    let default = property.default_value();
    let value = match (property.kind, given.as_i64()) {
        // Words are numbers from 1 in the archive.
        (Kind::WordOf(words, _), Some(number)) => {
            let word = usize::try_from(number - 1).ok().and_then(|index| words.get(index));
            word.map_or(Value::Null, |word| Value::from(*word))
        }
        _ => given.clone(),
    };
    if value == default {
        return Ok(None);
    }
    if value.is_null() && !property.allows(&value) {
        // A number that is no word counts, null does not.
        *unknown += u64::from(!given.is_null());
        return Ok(None);
    }
    if property.allows(&value) && property.kind.is_within_limits(&value) {
        return Ok(Some(value));
    }
    let is_like_default = std::mem::discriminant(&value) == std::mem::discriminant(&default);
    if is_like_default || default.is_null() {
        *unknown += 1;
        Ok(None)
    } else {
        Err(ImportError::new(format!("{} has a value of another type", property.name)))
    }
}

/// Reads the settings of the organization. `unknown` counts values that are not allowed here.
pub fn of_realm(row: &Map<String, Value>, unknown: &mut u64) -> ImportResult<Vec<(&'static str, Value)>> {
    let mut settings = Vec::new();
    for property in realm::settings::PROPERTIES {
        // Versions of images go on, because browsers keep images by their version.
        let is_of_server = property.changed_by == ChangedBy::Server && !property.name.ends_with("_version");
        let value = match (property.name, property.kind) {
            ("topics_policy", _) => topics_policy(row),
            ("message_edit_history_visibility_policy", _) => edit_history_policy(row),
            // The archive has the name without the ending.
            (name, Kind::Channel) => column(row, name.trim_end_matches("_id")).cloned(),
            (name, _) => row.get(name).cloned(),
        };
        let Some(value) = value.filter(|_| !is_of_server) else { continue };
        if let Some(value) = checked(property, &value, unknown)? {
            settings.push((property.name, value));
        }
    }
    Ok(settings)
}

/// The policy for the empty topic: a number since 11, before that a switch.
fn topics_policy(row: &Map<String, Value>) -> Option<Value> {
    let disables = match (row.get("topics_policy"), row.get("mandatory_topics")) {
        (Some(policy), _) => policy == &json!(3),
        (None, Some(mandatory)) => mandatory == &json!(true),
        (None, None) => return None,
    };
    Some(if disables { "disable_empty_topic" } else { "allow_empty_topic" }.into())
}

/// The visibility of earlier versions of messages: a number since 10.0, before that a switch.
fn edit_history_policy(row: &Map<String, Value>) -> Option<Value> {
    const NONE: i64 = 3;
    let is_off = row.get("allow_edit_history") == Some(&json!(false));
    row.get("message_edit_history_visibility_policy").cloned().or(is_off.then(|| NONE.into()))
}

/// Sets settings of the organization.
pub fn set_of_realm(tx: &Tx<'_>, settings: &[(&'static str, Value)]) -> ImportResult<()> {
    for (name, value) in settings {
        realm::settings::set(tx, name, value)?;
    }
    Ok(())
}

/// The hash of a password as it is stored here; `None` if no password matches it. Fails for other methods.
pub fn password_hash(stored: &str) -> Result<Option<String>, ()> {
    if stored.is_empty() || stored.starts_with('!') {
        return Ok(None);
    }
    // Django writes the name of its method before the usual form.
    let hash = stored.strip_prefix("argon2$").map_or_else(
        || stored.to_owned(),
        |rest| if rest.starts_with('$') { rest.to_owned() } else { format!("${rest}") },
    );
    if passwords::is_verifiable(&hash) { Ok(Some(hash)) } else { Err(()) }
}
