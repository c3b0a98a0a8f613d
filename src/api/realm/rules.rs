//! Rules for the organization's settings: who may change which, and their values.

use crate::api::realm::params::is_limit;
use crate::domain::groups::realm_settings::RealmGroup;
use crate::domain::realm::settings;
use crate::domain::user_settings::languages;
use crate::http::{ApiError, ApiResult};
use crate::types::find_forbidden_in_name;
use serde_json::{Map, Value};
use url::Url;

/// Settings that only owners may change: who can join, and what is kept.
const OWNER_SETTINGS: &[&str] = &[
    "disallow_disposable_email_addresses",
    "emails_restricted_to_domains",
    "invite_required",
    "message_retention_days",
    "waiting_period_threshold",
];

/// The maximum length of the URL of a Jitsi server, in characters.
const MAX_URL_LENGTH: usize = 200;

/// Whether only owners may change a setting. Administrators may change the others.
pub fn requires_owner(name: &str) -> bool {
    OWNER_SETTINGS.contains(&name)
}

/// Whether only owners may change who has a permission.
pub fn permission_requires_owner(permission: RealmGroup) -> bool {
    matches!(
        permission,
        RealmGroup::CanCreateGroups
            | RealmGroup::CanInviteUsers
            | RealmGroup::CanManageAllGroups
            | RealmGroup::CanManageBilling
            | RealmGroup::CreateMultiuseInvite
    )
}

/// Checks the rules of single settings beyond their kind, and returns the value to store.
///
/// # Errors
/// `BAD_REQUEST` with the published text of the setting; `REQUEST_VARIABLE_INVALID` for limits in seconds or days.
pub fn value(name: &str, written: Value) -> ApiResult<Value> {
    if is_limit(name) {
        return limit(name, &written);
    }
    let text = written.as_str().unwrap_or_default();
    match name {
        "default_language" if languages::name(text).is_none() => {
            Err(ApiError::bad_request(format!("Invalid language '{text}'")))
        }
        "giphy_rating" | "video_chat_provider" if !settings::property(name)?.allows(&written) => {
            Err(ApiError::bad_request(format!("Invalid {name} {written}")))
        }
        "name" if find_forbidden_in_name(text).is_some() => {
            Err(ApiError::bad_request("Invalid characters in organization name!"))
        }
        // The server has no Jitsi server of its own.
        "jitsi_server_url" if text == "default" => Ok(Value::Null),
        "jitsi_server_url" if !is_url(text) => {
            Err(ApiError::bad_request("jitsi_server_url is not an allowed_type"))
        }
        _ => Ok(written),
    }
}

/// Reads a positive number or `unlimited`.
fn limit(name: &str, written: &Value) -> ApiResult<Value> {
    match written {
        Value::String(word) if word == "unlimited" && name == "message_retention_days" => Ok((-1).into()),
        Value::String(word) if word == "unlimited" => Ok(Value::Null),
        Value::String(word) => Err(ApiError::bad_value(name, word)),
        // A 32-bit column on the published server.
        number => match number.as_i64() {
            Some(1..=2_147_483_647) => Ok(number.clone()),
            _ => Err(ApiError::bad_value(name, &number.to_string())),
        },
    }
}

fn is_url(text: &str) -> bool {
    let scheme = Url::parse(text).ok().map(|url| url.scheme().to_owned());
    let is_known = matches!(scheme.as_deref(), Some("http" | "https"));
    is_known && text.chars().count() <= MAX_URL_LENGTH && !text.contains(char::is_whitespace)
}

/// Checks `authentication_methods`. Passwords are the only method of this server and cannot be disabled.
pub fn check_authentication_methods(methods: &Map<String, Value>) -> ApiResult<()> {
    if let Some(name) = methods.keys().find(|name| *name != "Email") {
        let msg = format!("Invalid authentication method: {name}. Valid methods are: ['Email']");
        return Err(ApiError::bad_request(msg));
    }
    if !methods.values().any(|enabled| *enabled == true) {
        return Err(ApiError::bad_request("At least one authentication method must be enabled."));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_read_and_refused_in_the_published_words() {
        let edit = "message_content_edit_limit_seconds";
        let jitsi = "jitsi_server_url is not an allowed_type";
        let long = format!("https://example.com/{}", "a".repeat(MAX_URL_LENGTH));
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
            let found = value(name, written.clone());
            assert_eq!(
                found.as_ref().map_err(ApiError::msg),
                expected.as_ref().map_err(|msg| *msg),
                "{name} {written}"
            );
        }
    }

    #[test]
    fn passwords_are_the_one_method() {
        let check = |methods: Value| {
            let methods = methods.as_object().unwrap().clone();
            check_authentication_methods(&methods).map_err(|error| error.msg().to_owned())
        };
        assert_eq!(check(json!({"Email": true})), Ok(()));
        let none = Err("At least one authentication method must be enabled.".to_owned());
        assert_eq!(check(json!({"Email": false})), none);
        assert_eq!(check(json!({})), none);
        let msg = "Invalid authentication method: LDAP. Valid methods are: ['Email']";
        assert_eq!(check(json!({"Email": true, "LDAP": true})), Err(msg.to_owned()));
    }
}
