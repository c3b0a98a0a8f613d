//! Events about the organization.

use crate::domain::realm::{settings, user_ids as users};
use crate::events::uniform_event;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::version::{FEATURE_LEVEL, VERSION};
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

/// `restart`: the server is of another version than before, so that clients may have to load their state again.
#[derive(Serialize, Deserialize)]
pub struct Restarted {
    zulip_version: String,
    zulip_merge_base: String,
    zulip_feature_level: i64,
    /// The time of the start, in UNIX seconds.
    server_generation: i64,
}

uniform_event!(Restarted: "restart", version 1);

/// Emits that the server is of another version now, if it is.
pub fn emit_version(tx: &mut Tx<'_>) -> ApiResult<()> {
    let statement = "UPDATE realm SET server_version = ?1 WHERE server_version <> ?1";
    if tx.prepare_cached(statement)?.execute([VERSION])? > 0 {
        let event = Restarted {
            zulip_version: VERSION.to_owned(),
            zulip_merge_base: VERSION.to_owned(),
            zulip_feature_level: FEATURE_LEVEL,
            server_generation: tx.now(),
        };
        let everyone = users::everyone(tx)?;
        tx.emit(event, everyone);
    }
    Ok(())
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
            emit_dict(tx, [(name, value.clone())])?;
        }
        "topics_policy" => {
            let mandatory = (*value == "disable_empty_topic").into();
            emit_dict(tx, [(name, value.clone()), ("mandatory_topics", mandatory)])?;
        }
        _ => {
            let event = RealmUpdated { property: name.to_owned(), value: value.clone() };
            let everyone = users::everyone(tx)?;
            tx.emit(event, everyone);
        }
    }
    Ok(true)
}

/// Emits `realm/update_dict` with these settings to everyone.
fn emit_dict<'a>(tx: &mut Tx<'_>, data: impl IntoIterator<Item = (&'a str, Value)>) -> ApiResult<()> {
    let data = data.into_iter().map(|(name, value)| (name.to_owned(), value));
    let event = RealmUpdatedDict::new("default", data);
    let everyone = users::everyone(tx)?;
    tx.emit(event, everyone);
    Ok(())
}

/// Emits `realm/deactivated` to everyone.
pub fn emit_deactivated(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = RealmDeactivated { realm_id: REALM_ID };
    let everyone = users::everyone(tx)?;
    tx.emit(event, everyone);
    Ok(())
}
