//! Settings and permissions among the parameters of a request: every row of a table is one, unless the server sets it.

use crate::domain::groups::permission::PermissionTable;
use crate::domain::user_settings::languages;
use crate::http::form::Form;
use crate::http::params::ParamError;
use crate::http::{ApiError, ApiResult, Parameters};
use crate::types::{ChangedBy, JsonOrText, Kind, LIMITS, Property, SettingTable, find_forbidden_in_name};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::marker::PhantomData;

/// The settings of a table that a request changes, in the order of the table, with values as written.
pub struct SettingParams<T> {
    /// Each value has the type of its setting. JSON `null` leaves a setting unchanged.
    pub values: Vec<(&'static Property, Value)>,
    table: PhantomData<fn() -> T>,
}

/// The settings of a table that are parameters.
pub fn settable<T: SettingTable>() -> impl Iterator<Item = &'static Property> {
    T::rows().filter(|row| row.changed_by != ChangedBy::Server)
}

impl<T: SettingTable> Parameters for SettingParams<T> {
    fn read(form: &Form) -> Result<Self, ParamError> {
        let mut values = Vec::new();
        for row in settable::<T>() {
            values.extend(read(form, row)?.map(|value| (row, value)));
        }
        Ok(Self { values, table: PhantomData })
    }
}

/// The permissions of a table that a request names, in the order of the table. `V` is the type of a value: a group, or a
/// change of one.
#[derive(Clone, Debug)]
pub struct PermissionParams<P, V>(pub Vec<(P, V)>);

impl<P: PermissionTable, V: DeserializeOwned> Parameters for PermissionParams<P, V> {
    fn read(form: &Form) -> Result<Self, ParamError> {
        let mut values = Vec::new();
        for (permission, row) in P::rows() {
            values.extend(form.parameter(row.name)?.map(|value| (permission, value)));
        }
        Ok(Self(values))
    }
}

/// Reads a value, and checks the limits of its kind. A refusal with a text of its own waits for [`check`].
fn read(form: &Form, row: &Property) -> Result<Option<Value>, ParamError> {
    let name = row.name;
    let value = match row.kind {
        Kind::Bool(_) => form.parameter::<bool>(name)?.map(Value::from),
        Kind::Number { .. } | Kind::NumberOf(..) | Kind::Channel => {
            form.parameter::<i64>(name)?.map(Value::from)
        }
        Kind::Text { .. } | Kind::Name { .. } | Kind::WordOf(..) | Kind::Language(_) => {
            form.parameter::<String>(name)?.map(Value::from)
        }
        Kind::LimitSeconds(_) | Kind::Days => {
            read_json(form, name, "{} is not an integer", |value| value.is_i64() || value.is_string())?
        }
        Kind::Url { .. } => read_json(form, name, "{} is not a string", Value::is_string)?,
    };
    let problem = match (row.kind, &value) {
        (Kind::Text { max, .. } | Kind::Name { max, .. }, Some(Value::String(text)))
            if text.chars().count() > max =>
        {
            format!("{{}} is too long (limit: {max} characters)")
        }
        (Kind::Number { min, max, .. }, Some(Value::Number(number))) if row.refusal.is_none() => {
            match number.as_i64() {
                Some(number) if number < min => "{} is too small".to_owned(),
                Some(number) if number > max => "{} is too large".to_owned(),
                _ => return Ok(value),
            }
        }
        (Kind::NumberOf(..) | Kind::WordOf(..), Some(other))
            if row.refusal.is_none() && !row.allows(other) =>
        {
            "Invalid {}".to_owned()
        }
        _ => return Ok(value),
    };
    Err(ParamError::invalid(name, &problem))
}

/// Reads a JSON value for which `is_right` holds; `None` for `null`.
fn read_json(
    form: &Form,
    name: &'static str,
    otherwise: &str,
    is_right: fn(&Value) -> bool,
) -> Result<Option<Value>, ParamError> {
    match form.parameter(name)? {
        None | Some(JsonOrText::Json(Value::Null)) => Ok(None),
        Some(JsonOrText::Json(value)) if is_right(&value) => Ok(Some(value)),
        Some(JsonOrText::Json(_)) => Err(ParamError::invalid(name, otherwise)),
        Some(JsonOrText::Text(_)) => Err(ParamError::invalid(name, "{} is not valid JSON")),
    }
}

/// Checks a value as written, and returns the one to store.
///
/// # Errors
/// `BAD_REQUEST` with the published text of the setting; `REQUEST_VARIABLE_INVALID` for limits in seconds or days.
pub fn check(row: &Property, written: Value) -> ApiResult<Value> {
    let text = written.as_str().unwrap_or_default();
    let is_right = match row.kind {
        Kind::LimitSeconds(_) => return limit(row.name, &written, Value::Null),
        Kind::Days => return limit(row.name, &written, (-1).into()),
        // The server has no Jitsi server of its own.
        Kind::Url { .. } if text == "default" => return Ok(Value::Null),
        Kind::Language(_) => languages::name(text).is_some(),
        Kind::Name { .. } => find_forbidden_in_name(text).is_none(),
        Kind::Number { .. } | Kind::Url { .. } => row.kind.is_within_limits(&written),
        _ => row.allows(&written),
    };
    if is_right {
        return Ok(written);
    }
    let shown = written.as_str().map_or_else(|| written.to_string(), str::to_owned);
    let refusal = row.refusal.map(|refusal| refusal.replace("{}", &shown));
    Err(ApiError::bad_request(refusal.unwrap_or_else(|| format!("Invalid {}", row.name))))
}

/// Reads a positive number or `unlimited`.
fn limit(name: &str, written: &Value, unlimited: Value) -> ApiResult<Value> {
    match written {
        Value::String(word) if word == "unlimited" => Ok(unlimited),
        Value::String(word) => Err(ApiError::bad_value(name, word)),
        number if number.as_i64().is_some_and(|number| LIMITS.contains(&number)) => Ok(number.clone()),
        number => Err(ApiError::bad_value(name, &number.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::realm::settings::RealmTable;
    use crate::domain::user_settings::table::UserTable;
    use serde_json::json;

    #[test]
    fn settings_of_the_organization_are_refused_as_published() {
        let edit = "message_content_edit_limit_seconds";
        let jitsi = "jitsi_server_url is not an allowed_type";
        let long = format!("https://example.com/{}", "a".repeat(200));
        for (name, written, expected) in [
            (edit, json!(60), Ok(json!(60))),
            (edit, json!("unlimited"), Ok(Value::Null)),
            (edit, json!(0), Err("Bad value for 'message_content_edit_limit_seconds': 0")),
            (edit, json!("ever"), Err("Bad value for 'message_content_edit_limit_seconds': ever")),
            ("message_retention_days", json!("unlimited"), Ok(json!(-1))),
            ("message_retention_days", json!(30), Ok(json!(30))),
            ("message_retention_days", json!(-1), Err("Bad value for 'message_retention_days': -1")),
            (
                "message_retention_days",
                json!(1_i64 << 40),
                Err("Bad value for 'message_retention_days': 1099511627776"),
            ),
            ("default_language", json!("de"), Ok(json!("de"))),
            ("default_language", json!("klingon"), Err("Invalid language 'klingon'")),
            ("giphy_rating", json!(5), Ok(json!(5))),
            ("giphy_rating", json!(6), Err("Invalid giphy_rating 6")),
            ("video_chat_provider", json!(3), Err("Invalid video_chat_provider 3")),
            ("jitsi_server_url", json!("default"), Ok(Value::Null)),
            ("jitsi_server_url", json!("https://meet.example.com"), Ok(json!("https://meet.example.com"))),
            ("jitsi_server_url", json!("javascript:alert(1)"), Err(jitsi)),
            ("jitsi_server_url", json!(""), Err(jitsi)),
            ("jitsi_server_url", json!(long), Err(jitsi)),
            ("name", json!("any"), Ok(json!("any"))),
            ("name", json!("a\nb"), Err("Invalid characters in organization name!")),
            ("name", json!("a\u{202e}b"), Err("Invalid characters in organization name!")),
        ] {
            let row = RealmTable::rows().find(|row| row.name == name).unwrap();
            let found = check(row, written.clone());
            assert_eq!(
                found.as_ref().map_err(ApiError::msg),
                expected.as_ref().map_err(|msg| *msg),
                "{name} {written}"
            );
        }
    }

    fn read(query: &str) -> Result<Vec<(&'static str, Value)>, String> {
        let form = Form::new(Some(query), None, bytes::Bytes::new(), vec![]).unwrap();
        let params = SettingParams::<UserTable>::read(&form).map_err(|error| error.to_string())?;
        let checked = |(row, value): (&'static Property, Value)| Ok((row.name, check(row, value)?));
        let values = params.values.into_iter().map(checked).collect::<ApiResult<_>>();
        values.map_err(|error| error.msg().to_owned())
    }

    #[test]
    fn settings_of_users_are_read_by_their_kind_and_refused_as_published() {
        let good = [
            ("enter_sends=true", json!({"enter_sends": true})),
            ("color_scheme=2&emojiset=text", json!({"color_scheme": 2, "emojiset": "text"})),
            ("enter_sends=null&unknown=1", json!({})),
            ("notification_sound=none", json!({"notification_sound": "none"})),
            ("default_language=de", json!({"default_language": "de"})),
        ];
        for (query, expected) in good {
            let found: serde_json::Map<String, Value> =
                read(query).unwrap().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            assert_eq!(Value::Object(found), expected, "{query}");
        }
        let bad = [
            ("enter_sends=maybe", "enter_sends is not valid JSON"),
            ("enter_sends=1", "enter_sends is not a boolean"),
            ("color_scheme=4", "Invalid color_scheme"),
            ("color_scheme=%22dark%22", "color_scheme is not an integer"),
            ("emojiset=apple", "Invalid emojiset"),
            ("web_home_view=nowhere", "Invalid web_home_view"),
            ("default_language=klingon", "Invalid default_language"),
            ("notification_sound=bang", "Invalid notification sound 'bang'"),
            ("email_notifications_batching_period_seconds=0", "Invalid email batching period: 0 seconds"),
            (
                "email_notifications_batching_period_seconds=604801",
                "Invalid email batching period: 604801 seconds",
            ),
            ("web_font_size_px=-1", "Invalid web_font_size_px"),
        ];
        for (query, msg) in bad {
            assert_eq!(read(query).unwrap_err(), msg, "{query}");
        }
    }
}
