//! Rules for the definition of a profile field. Error texts are the published ones.

use crate::domain::limits;
use crate::domain::limits::MAX_FIELD_DATA_LENGTH;
use crate::domain::profile_fields::external_accounts;
use crate::domain::profile_fields::external_accounts::{CUSTOM, USERNAME};
use crate::domain::profile_fields::field::{FieldType, is_url};
use crate::error::{ApiError, ApiResult};
use crate::types::find_forbidden_in_name;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The maximum length of a name, in characters.
const MAX_NAME_LENGTH: usize = 40;

/// The maximum length of a hint, in characters.
const MAX_HINT_LENGTH: usize = 80;

/// Maximum number of fields in the summary of a profile.
pub const MAX_IN_SUMMARY: i64 = 2;

/// The definition of a new or changed field, before it is checked.
#[derive(Clone, Copy, Debug)]
pub struct FieldDefinition<'a> {
    /// The name, at most 40 characters.
    pub name: &'a str,
    /// The hint, at most 80 characters.
    pub hint: &'a str,
    /// The type; `None` for an unknown code.
    pub kind: Option<FieldType>,
    /// The `field_data` object.
    pub data: &'a Map<String, Value>,
    /// True if clients show the field in the summary of a profile.
    pub display_in_profile_summary: bool,
}

/// Checks the definition of a new or changed field.
pub fn check(field: &FieldDefinition<'_>) -> ApiResult<()> {
    limits::check_json_length("field_data", &serde_json::to_string(field.data)?, MAX_FIELD_DATA_LENGTH)?;
    let mut is_default = false;
    match field.kind {
        Some(FieldType::Select) => check_options(field.data)?,
        Some(FieldType::ExternalAccount) => {
            check_external_account(field.data)?;
            is_default = external_accounts::find_built_in(field.data).is_some();
        }
        _ => {}
    }
    if !is_default {
        check_texts(field.name, field.hint)?;
    }
    let kind = field.kind.ok_or_else(|| ApiError::bad_request("Invalid field type."))?;
    if field.display_in_profile_summary && !kind.fits_in_summary() {
        return Err(ApiError::bad_request("Field type not supported for display in profile summary."));
    }
    Ok(())
}

fn check_texts(name: &str, hint: &str) -> ApiResult<()> {
    if name.trim().is_empty() {
        return Err(ApiError::bad_request("Label cannot be blank."));
    }
    if find_forbidden_in_name(name).is_some() {
        return Err(ApiError::bad_request("Invalid characters in label."));
    }
    limits::check_length("hint", hint, MAX_HINT_LENGTH)?;
    limits::check_length("name", name, MAX_NAME_LENGTH)
}

/// Checks the options of a list: `{key: {text, order}}`.
fn check_options(data: &Map<String, Value>) -> ApiResult<()> {
    if data.is_empty() {
        return Err(ApiError::bad_request("Field must have at least one choice."));
    }
    let mut texts = HashSet::new();
    for (key, choice) in data {
        if key.trim().is_empty() {
            return Err(ApiError::bad_request("'value' cannot be blank."));
        }
        let Value::Object(choice) = choice else {
            return Err(ApiError::bad_request("field_data is not a dict"));
        };
        texts.insert(required_text(choice, "text")?);
        required_text(choice, "order")?;
        check_no_other_keys(choice, &["text", "order"])?;
    }
    if texts.len() < data.len() {
        return Err(ApiError::bad_request("Field must not have duplicate choices."));
    }
    Ok(())
}

/// Checks the data of an external account: `{subtype, url_pattern?}`.
fn check_external_account(data: &Map<String, Value>) -> ApiResult<()> {
    let subtype = required_text(data, "subtype")?;
    if let Some(pattern) = data.get("url_pattern") {
        let Value::String(pattern) = pattern else { return Err(not_text("url_pattern")) };
        if pattern.matches(USERNAME).count() != 1 {
            return Err(ApiError::bad_request("URL pattern must contain '%(username)s'."));
        }
        if !is_url(&pattern.replace(USERNAME, "username")) {
            return Err(ApiError::bad_request("field_data[\"url_pattern\"] is not a URL"));
        }
    }
    check_no_other_keys(data, &["subtype", "url_pattern"])?;
    if subtype == CUSTOM {
        if !data.contains_key("url_pattern") {
            return Err(ApiError::bad_request("Custom external account must define URL pattern"));
        }
    } else if external_accounts::find_built_in(data).is_none() {
        return Err(ApiError::bad_request("Invalid external account type"));
    }
    Ok(())
}

fn required_text<'a>(object: &'a Map<String, Value>, key: &str) -> ApiResult<&'a str> {
    match object.get(key) {
        None => Err(ApiError::bad_request(format!("{key} key is missing from field_data"))),
        Some(Value::String(text)) if text.trim().is_empty() => {
            Err(ApiError::bad_request(format!("field_data[\"{key}\"] cannot be blank.")))
        }
        Some(Value::String(text)) => Ok(text),
        Some(_) => Err(not_text(key)),
    }
}

fn not_text(key: &str) -> ApiError {
    ApiError::bad_request(format!("field_data[\"{key}\"] is not a string"))
}

fn check_no_other_keys(object: &Map<String, Value>, known: &[&str]) -> ApiResult<()> {
    let mut others = object.keys().filter(|key| !known.contains(&key.as_str())).cloned().collect::<Vec<_>>();
    if others.is_empty() {
        return Ok(());
    }
    others.sort();
    Err(ApiError::bad_request(format!("Unexpected arguments: {}", others.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refusal(kind: Option<FieldType>, data: &Value, name: &str, hint: &str) -> Option<String> {
        let data = data.as_object().unwrap();
        let field = FieldDefinition { name, hint, kind, data, display_in_profile_summary: true };
        check(&field).err().map(|error| error.msg().to_owned())
    }

    #[test]
    fn names_and_hints_have_limits() {
        let kind = Some(FieldType::ShortText);
        let (name, hint) = ("é".repeat(40), "é".repeat(80));
        let cases = [
            (name.as_str(), hint.as_str(), None),
            (" ", "", Some("Label cannot be blank.")),
            (&"é".repeat(41), "", Some("name is too long (limit: 40 characters)")),
            ("x", &"é".repeat(81), Some("hint is too long (limit: 80 characters)")),
        ];
        for (name, hint, expected) in cases {
            assert_eq!(refusal(kind, &json!({}), name, hint).as_deref(), expected, "{name}");
        }
        assert_eq!(refusal(None, &json!({}), "x", "").as_deref(), Some("Invalid field type."));
    }

    #[test]
    fn two_types_do_not_fit_in_the_summary() {
        let msg = "Field type not supported for display in profile summary.";
        for kind in FieldType::ALL {
            let data = match kind {
                FieldType::Select => json!({"a": {"text": "A", "order": "1"}}),
                FieldType::ExternalAccount => json!({"subtype": "github"}),
                _ => json!({}),
            };
            let expected = matches!(kind, FieldType::LongText | FieldType::User).then_some(msg);
            assert_eq!(refusal(Some(kind), &data, "x", "").as_deref(), expected, "{kind:?}");
        }
    }

    #[test]
    fn policies_are_distinguished() {
        let cases = [
            (json!({"a": {"text": "A", "order": "1"}, "b": {"text": "B", "order": "2"}}), None),
            (json!({}), Some("Field must have at least one choice.")),
            (json!({" ": {"text": "A", "order": "1"}}), Some("'value' cannot be blank.")),
            (json!({"a": "A"}), Some("field_data is not a dict")),
            (json!({"a": {"order": "1"}}), Some("text key is missing from field_data")),
            (json!({"a": {"text": "A"}}), Some("order key is missing from field_data")),
            (json!({"a": {"text": " ", "order": "1"}}), Some("field_data[\"text\"] cannot be blank.")),
            (json!({"a": {"text": "A", "order": 1}}), Some("field_data[\"order\"] is not a string")),
            (json!({"a": {"text": "A", "order": "1", "x": "y"}}), Some("Unexpected arguments: x")),
            (
                json!({"a": {"text": "A", "order": "1"}, "b": {"text": "A", "order": "2"}}),
                Some("Field must not have duplicate choices."),
            ),
        ];
        for (data, expected) in cases {
            let found = refusal(Some(FieldType::Select), &data, "x", "");
            assert_eq!(found.as_deref(), expected, "{data}");
        }
    }

    #[test]
    fn external_accounts_are_known_or_custom() {
        let pattern = "https://example.com/%(username)s";
        let cases = [
            (json!({"subtype": "github"}), None),
            (json!({"subtype": "custom", "url_pattern": pattern}), None),
            (json!({}), Some("subtype key is missing from field_data")),
            (json!({"subtype": ""}), Some("field_data[\"subtype\"] cannot be blank.")),
            (json!({"subtype": "fax"}), Some("Invalid external account type")),
            (json!({"subtype": "custom"}), Some("Custom external account must define URL pattern")),
            (
                json!({"subtype": "custom", "url_pattern": 1}),
                Some("field_data[\"url_pattern\"] is not a string"),
            ),
            (
                json!({"subtype": "custom", "url_pattern": "https://example.com"}),
                Some("URL pattern must contain '%(username)s'."),
            ),
            (
                json!({"subtype": "custom", "url_pattern": "example: %(username)s"}),
                Some("field_data[\"url_pattern\"] is not a URL"),
            ),
            (json!({"subtype": "github", "x": "y"}), Some("Unexpected arguments: x")),
        ];
        for (data, expected) in cases {
            let found = refusal(Some(FieldType::ExternalAccount), &data, "x", "");
            assert_eq!(found.as_deref(), expected, "{data}");
        }
    }
}
