//! `organization get`, `set` and `deactivate`.

use crate::api::realm::change_as_operator;
use crate::api::setting_params::settable;
use crate::app::App;
use crate::commands::user::first_owner;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::realm_settings;
use crate::domain::groups::setting::to_wire;
use crate::domain::groups::system::SystemGroup;
use crate::domain::realm::settings::RealmTable;
use crate::domain::{groups, mail, realm, rows};
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::Kind;
use rusqlite::Connection;
use serde_json::{Map, Value, json};

/// The settings and permissions of the organization, by their names in the interface.
pub(super) fn get(connection: &Connection) -> ApiResult<Value> {
    let all = realm::settings::all(connection)?;
    let mut values: Map<String, Value> =
        settable::<RealmTable>().map(|row| (row.name.to_owned(), all.value(row.name).clone())).collect();
    for permission in RealmGroup::ALL {
        let group = to_wire(connection, realm_settings::group(connection, permission)?)?;
        values.insert(permission.name().to_owned(), serde_json::to_value(group)?);
    }
    values.insert("deactivated".to_owned(), realm::is_deactivated(connection)?.into());
    Ok(values.into())
}

/// Sets a setting or a permission, by the rules of `PATCH /realm`. A permission is the name of a group, its id, or the object of the
/// interface.
pub(super) async fn set(app: &App, name: String, value: String) -> ApiResult<Value> {
    let read = app.readers.read(|snapshot| {
        let owner = first_owner(snapshot)?.ok_or_else(|| ApiError::bad_request("no owner exists yet"))?;
        let is_permission = RealmGroup::ALL.iter().any(|permission| permission.name() == name);
        let written = if is_permission { permission(snapshot, &value)? } else { value.clone() };
        check_form(&name, &value)?;
        Ok::<_, ApiError>((rows::user::caller(snapshot, owner.user_id)?, written))
    });
    let (owner, written) = read.await?;
    let changed = change_as_operator(app, owner, &name, &written).await?;
    Ok(json!({ "name": name, "changed": !changed.is_empty() }))
}

/// Refuses a word for a setting that is a number, or true or false. The interface would call it invalid JSON.
fn check_form(name: &str, value: &str) -> ApiResult<()> {
    let row = settable::<RealmTable>().find(|row| row.name == name);
    let form = match row.map(|row| row.kind) {
        Some(Kind::Bool(_)) => "true or false",
        Some(Kind::Number { .. } | Kind::NumberOf(..) | Kind::Channel) => "a number",
        _ => return Ok(()),
    };
    if serde_json::from_str::<Value>(value).is_ok() {
        return Ok(());
    }
    Err(ApiError::bad_request(format!("{name} must be {form}, not '{value}'")))
}

/// The parameter for a permission.
fn permission(connection: &Connection, value: &str) -> ApiResult<String> {
    let parsed: Option<Value> = serde_json::from_str(value).ok();
    let new = match parsed {
        Some(value) if value.is_object() || value.is_i64() => value,
        _ => {
            let group = groups::with_name(connection, value)?;
            let roles = SystemGroup::ALL.map(SystemGroup::name).join(", ");
            let unknown = || {
                let msg = format!("There is no group '{value}'; the groups of roles are {roles}");
                ApiError::bad_request(msg)
            };
            json!(group.ok_or_else(unknown)?)
        }
    };
    Ok(json!({ "new": new }).to_string())
}

/// Deactivates or reactivates the organization. Returns its previous state.
pub(super) fn set_deactivated(tx: &mut Tx<'_>, deactivated: bool) -> ApiResult<Value> {
    let was_deactivated = realm::is_deactivated(tx)?;
    if was_deactivated != deactivated {
        if deactivated {
            mail::letters::organization_deactivated(tx, None)?;
        }
        realm::events::set_deactivated(tx, deactivated)?;
    }
    Ok(json!({ "deactivated": deactivated, "was_deactivated": was_deactivated }))
}
