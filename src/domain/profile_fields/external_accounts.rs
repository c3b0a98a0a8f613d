//! Accounts elsewhere that a field can name without saying where they are.

use serde_json::{Map, Value, json};

/// A site that clients know how to link to.
#[derive(Clone, Copy, Debug)]
pub struct ExternalAccount {
    /// What `field_data` names it by.
    pub subtype: &'static str,
    /// What administrators choose from.
    pub text: &'static str,
    /// The field's name.
    pub name: &'static str,
    /// The field's hint.
    pub hint: &'static str,
    /// An account's address.
    pub url_pattern: &'static str,
}

/// All of them.
pub const ALL: &[ExternalAccount] = &[
    ExternalAccount {
        subtype: "twitter",
        text: "Twitter",
        name: "Twitter username",
        hint: "",
        url_pattern: "https://twitter.com/%(username)s",
    },
    ExternalAccount {
        subtype: "github",
        text: "GitHub",
        name: "GitHub username",
        hint: "",
        url_pattern: "https://github.com/%(username)s",
    },
];

/// The subtype of accounts that a field describes itself.
pub const CUSTOM: &str = "custom";

/// Where the user's name stands in an address.
pub const USERNAME: &str = "%(username)s";

/// The site that a field's data names, if it is one of these.
pub fn default_of(field_data: &Map<String, Value>) -> Option<&'static ExternalAccount> {
    let subtype = field_data.get("subtype")?.as_str()?;
    ALL.iter().find(|account| account.subtype == subtype)
}

/// `realm_default_external_accounts` of `POST /register`.
pub fn state() -> Value {
    let account = |account: &ExternalAccount| {
        let ExternalAccount { subtype, text, name, hint, url_pattern } = *account;
        let value = json!({"name": name, "text": text, "hint": hint, "url_pattern": url_pattern});
        (subtype.to_owned(), value)
    };
    Value::Object(ALL.iter().map(account).collect())
}
