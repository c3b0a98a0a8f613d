//! Events about the organization.

use crate::domain::realm::{settings, user_ids as users};
use crate::events::{Audience, uniform_event};
use crate::http::ApiResult;
use crate::store::Tx;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// `realm`, `op: update`: the older form, for one setting.
#[derive(Serialize, Deserialize)]
pub struct RealmUpdated {
    property: String,
    value: Value,
}

uniform_event!(RealmUpdated: "realm", op "update", version 1);

/// `realm`, `op: update_dict`: the newer form, for settings that come in company.
#[derive(Serialize, Deserialize)]
pub struct RealmUpdatedDict {
    /// `icon`, `logo` or `night_logo`; for other settings always `default`, for clients from before this form.
    property: Cow<'static, str>,
    data: Map<String, Value>,
}

uniform_event!(RealmUpdatedDict: "realm", op "update_dict", version 1);

impl RealmUpdatedDict {
    /// The event for settings and their new values.
    pub fn new(property: &'static str, data: impl IntoIterator<Item = (String, Value)>) -> Self {
        Self { property: property.into(), data: data.into_iter().collect() }
    }
}

/// `realm`, `op: deactivated`: nobody can log in any more. What waits is answered with this.
#[derive(Serialize, Deserialize)]
pub struct RealmDeactivated {
    realm_id: i64,
}

uniform_event!(RealmDeactivated: "realm", op "deactivated", version 1);

/// The organization's id: a file holds one.
const REALM_ID: i64 = 1;

/// Sets a plain setting and tells everybody; answers whether the value is another one now.
pub fn set(tx: &mut Tx<'_>, name: &str, value: &Value) -> ApiResult<bool> {
    if !settings::set(tx, name, value)? {
        return Ok(false);
    }
    match name {
        "allow_message_editing" | "message_content_edit_limit_seconds" => {
            tell_dict(tx, [(name, value.clone())])?;
        }
        "topics_policy" => {
            let mandatory = (*value == "disable_empty_topic").into();
            tell_dict(tx, [(name, value.clone()), ("mandatory_topics", mandatory)])?;
        }
        _ => {
            let event = RealmUpdated { property: name.to_owned(), value: value.clone() };
            let everybody = everybody(tx)?;
            tx.emit(event, everybody);
        }
    }
    Ok(true)
}

/// Tells everybody of settings that are different now.
fn tell_dict<'a>(tx: &mut Tx<'_>, data: impl IntoIterator<Item = (&'a str, Value)>) -> ApiResult<()> {
    let data = data.into_iter().map(|(name, value)| (name.to_owned(), value));
    let event = RealmUpdatedDict::new("default", data);
    let everybody = everybody(tx)?;
    tx.emit(event, everybody);
    Ok(())
}

/// Tells everybody that the organization is closed.
pub fn tell_deactivated(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = RealmDeactivated { realm_id: REALM_ID };
    let everybody = everybody(tx)?;
    tx.emit(event, everybody);
    Ok(())
}

fn everybody(tx: &Tx<'_>) -> ApiResult<Audience> {
    Ok(Audience::set(users::active_ids(tx)?))
}
