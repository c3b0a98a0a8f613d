//! The organization's settings. The file holds those that differ from the defaults here.

use crate::http::{ApiError, ApiResult};
use rusqlite::{Connection, OptionalExtension};
use serde::de::DeserializeOwned;

/// Properties and their defaults as JSON, by the name that follows `realm_` in `POST /register`
/// (`semantics.md` section 10).
pub const DEFAULTS: &[(&str, &str)] = &[
    ("name", "\"Team chat\""),
    ("description", "\"\""),
    ("password_auth_enabled", "true"),
    ("waiting_period_threshold", "0"),
    ("enable_spectator_access", "false"),
    ("new_stream_announcements_stream_id", "-1"),
    ("moderation_request_channel_id", "-1"),
];

/// A setting's value.
pub fn get<T: DeserializeOwned>(connection: &Connection, property: &str) -> ApiResult<T> {
    let stored: Option<String> = connection
        .prepare_cached("SELECT value FROM realm_setting WHERE property = ?1")?
        .query_row([property], |row| row.get(0))
        .optional()?;
    let default = || DEFAULTS.iter().find(|(name, _)| *name == property).map(|(_, value)| *value);
    let text = match &stored {
        Some(text) => text.as_str(),
        None => default().ok_or_else(|| {
            tracing::error!(property, "the organization has no such setting");
            ApiError::internal()
        })?,
    };
    Ok(serde_json::from_str(text)?)
}
