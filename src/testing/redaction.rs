//! Replaces secrets in what test servers record.

use crate::types::pattern;
use hyper::header::HeaderMap;
use regex::Regex;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::LazyLock;

/// Replacement of a secret.
pub const REDACTED: &str = "REDACTED";

/// Parts of the names of headers with secrets: cookies, tokens against forged requests, signatures of webhooks.
const SECRET_HEADERS: &[&str] = &["authorization", "cookie", "csrf", "key", "secret", "signature", "token"];

/// Parameters and members of JSON whose values are secrets.
const SECRETS: &[&str] = &[
    "api_key",
    "password",
    "new_password",
    "old_password",
    "otp_encrypted_api_key",
    "mobile_flow_otp",
    "desktop_flow_otp",
    "multiuse_object_key",
    "token",
    "csrfmiddlewaretoken",
    // The secret part of a link, in the forms of its page.
    "key",
    "invite",
    "secret",
    "queue_id",
];

/// The paths of links with secrets, up to the secret.
static SECRET_PATHS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?x)(/join/(?:password/)?|/user_uploads/temporary/|[?&]invite=
            |/accounts/(?:login/subdomain|do_confirm|confirm_new_email|unsubscribe/[a-z_]+)/)[A-Za-z0-9_=.~%-]{8,}",
    )
});

/// The names and values of headers. Those of secrets are replaced.
pub fn headers_without_secrets(headers: &HeaderMap) -> impl Iterator<Item = (&str, String)> {
    headers.iter().map(|(name, value)| {
        let is_secret = SECRET_HEADERS.iter().any(|secret| name.as_str().contains(secret));
        let value = String::from_utf8_lossy(value.as_bytes());
        let value = if is_secret { REDACTED.to_owned() } else { redact_paths(&value) };
        (name.as_str(), value)
    })
}

/// The value of a parameter, unless it is a secret. Tests follow ids of queues, which give no access without an API key.
pub fn redact_parameter(name: &str, value: &str) -> String {
    let is_secret = SECRETS.contains(&name) && name != "queue_id";
    if is_secret { REDACTED.to_owned() } else { value.to_owned() }
}

/// JSON in which secrets are replaced. `None` for other texts.
pub fn json_without_secrets(text: &str) -> Option<Value> {
    let mut value = serde_json::from_str(&redact_paths(text)).ok()?;
    redact(&mut value);
    Some(value)
}

/// Names and values. Those of secrets are replaced.
pub fn redact_pairs<'a>(pairs: impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)>) -> Vec<(String, String)> {
    let redacted = pairs.map(|(name, value)| {
        let is_secret = SECRETS.contains(&name.as_ref());
        let value = if is_secret { REDACTED.to_owned() } else { redact_paths(&value) };
        (name.into_owned(), value)
    });
    redacted.collect()
}

/// A text without the secrets in the paths in it.
pub fn redact_paths(text: &str) -> String {
    SECRET_PATHS.replace_all(text, format!("${{1}}{REDACTED}")).into_owned()
}

/// The text of a response without the secrets in it.
pub fn redact_json(text: &str) -> String {
    let text = &redact_paths(text);
    if !SECRETS.iter().any(|secret| text.contains(secret)) {
        return text.clone();
    }
    match serde_json::from_str::<Value>(text) {
        Ok(mut value) => {
            redact(&mut value);
            value.to_string()
        }
        Err(_) => text.clone(),
    }
}

fn redact(value: &mut Value) {
    match value {
        Value::Object(members) => {
            let members: &mut Map<String, Value> = members;
            for (name, value) in members {
                if SECRETS.contains(&name.as_str()) && value.is_string() {
                    *value = REDACTED.into();
                } else {
                    redact(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact),
        // Its slashes may have been escaped.
        Value::String(text) => *text = redact_paths(text),
        _ => {}
    }
}
