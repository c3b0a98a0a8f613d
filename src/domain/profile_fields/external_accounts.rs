//! The built-in external accounts: sites whose URL pattern a profile field does not have to define.

use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// A site that external accounts can link to.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ExternalAccount {
    /// The `subtype` in `field_data`.
    #[serde(skip)]
    pub subtype: &'static str,
    /// The name of the site, for people.
    pub text: &'static str,
    /// The name of a profile field for such accounts.
    pub name: &'static str,
    /// The hint of a profile field for such accounts.
    pub hint: &'static str,
    /// The URL of an account, with `%(username)s` in place of the user name.
    pub url_pattern: &'static str,
}

/// All built-in external accounts.
const ALL: &[ExternalAccount] = &[
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

/// The subtype of fields that define their own URL pattern.
pub const CUSTOM: &str = "custom";

/// The placeholder for the user's name in a URL pattern.
pub const USERNAME: &str = "%(username)s";

/// Returns the built-in account that a field's data refers to.
pub fn find_built_in(field_data: &Map<String, Value>) -> Option<&'static ExternalAccount> {
    let subtype = field_data.get("subtype")?.as_str()?;
    ALL.iter().find(|account| account.subtype == subtype)
}

/// `realm_default_external_accounts` of `POST /register`: by subtype.
pub fn by_subtype() -> BTreeMap<&'static str, ExternalAccount> {
    ALL.iter().map(|account| (account.subtype, *account)).collect()
}
