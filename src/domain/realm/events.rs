//! Events about the organization.

use crate::domain::realm::{settings, user_ids as users};
use crate::events::{Audience, Event};
use crate::http::ApiResult;
use crate::store::Tx;
use serde::Serialize;
use serde_json::{Map, Value};

/// `realm`, `op: update`: the older form, for one setting.
#[derive(Serialize)]
struct RealmUpdated<'a> {
    r#type: &'static str,
    op: &'static str,
    property: &'a str,
    value: &'a Value,
}

impl Event for RealmUpdated<'_> {
    const TYPE: &'static str = "realm";
}

/// `realm`, `op: update_dict`: the newer form, for settings that come in company.
#[derive(Serialize)]
struct RealmUpdatedDict {
    r#type: &'static str,
    op: &'static str,
    /// Always this word, for clients from before this form.
    property: &'static str,
    data: Map<String, Value>,
}

impl Event for RealmUpdatedDict {
    const TYPE: &'static str = "realm";
}

/// `realm`, `op: deactivated`: nobody can log in any more. What waits is answered with this.
#[derive(Serialize)]
struct RealmDeactivated {
    r#type: &'static str,
    op: &'static str,
    realm_id: i64,
}

impl Event for RealmDeactivated {
    const TYPE: &'static str = "realm";
}

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
            let event = RealmUpdated { r#type: RealmUpdated::TYPE, op: "update", property: name, value };
            let everybody = everybody(tx)?;
            tx.emit(&event, everybody);
        }
    }
    Ok(true)
}

/// Tells everybody of settings that are different now.
fn tell_dict<'a>(tx: &mut Tx<'_>, data: impl IntoIterator<Item = (&'a str, Value)>) -> ApiResult<()> {
    let event = RealmUpdatedDict {
        r#type: RealmUpdatedDict::TYPE,
        op: "update_dict",
        property: "default",
        data: data.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    };
    let everybody = everybody(tx)?;
    tx.emit(&event, everybody);
    Ok(())
}

/// Tells everybody that the organization is closed.
pub fn tell_deactivated(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = RealmDeactivated { r#type: RealmDeactivated::TYPE, op: "deactivated", realm_id: REALM_ID };
    let everybody = everybody(tx)?;
    tx.emit(&event, everybody);
    Ok(())
}

fn everybody(tx: &Tx<'_>) -> ApiResult<Audience> {
    Ok(Audience::set(users::active_ids(tx)?))
}
