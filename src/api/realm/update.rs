//! `PATCH /realm`.

use crate::api::realm::params::RealmChanges;
use crate::api::realm::rules;
use crate::auth::Ctx;
use crate::domain::access::channels;
use crate::domain::groups::realm_settings::{RealmGroup, RealmPermissionUpdated};
use crate::domain::groups::setting::{Owner, SettingChange};
use crate::domain::groups::{realm_settings, setting};
use crate::domain::realm::settings::MODERATION_REQUEST_CHANNEL_ID;
use crate::domain::realm::{events, settings, user_ids as users};
use crate::domain::rendering::render_one_description;
use crate::domain::visibility;
use crate::domain::visibility::Scope;
use crate::http::{Administrator, ApiError, ApiResult, Call, Caller, Params2, Reply};
use crate::store::Tx;
use crate::types::{Role, StreamId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Parameters of `PATCH /realm` other than the settings and permissions.
#[derive(Deserialize)]
pub struct RealmParams {
    /// Login methods and whether each is enabled. Only owners may change them, and `Email` has to stay enabled.
    authentication_methods: Option<Map<String, Value>>,
    /// A new subdomain for a demo organization. Always refused, since this server has none.
    string_id: Option<String>,
}

/// `PATCH /realm`: changes any of the settings, all or none. Returns the values that changed, with `updated` in place
/// of strings.
pub async fn update(
    call: Call<Administrator>,
    Params2(changes, other): Params2<RealmChanges, RealmParams>,
) -> ApiResult<Reply<RealmUpdate>> {
    let description = changes.values.iter().find(|(property, _)| property.name == "description");
    let rendered_description = match description {
        Some((_, text)) => Some(render_one_description(&call, text.as_str().unwrap_or_default()).await?),
        None => None,
    };
    call.write(move |tx, caller| apply(tx, caller, changes, &other, rendered_description)).await
}

/// The reply to `PATCH /realm`: the settings that changed. Texts are not repeated: their values are `updated`.
#[derive(Serialize)]
#[serde(transparent)]
pub struct RealmUpdate(Map<String, Value>);

fn apply(
    tx: &mut Tx<'_>,
    caller: &Administrator,
    changes: RealmChanges,
    other: &RealmParams,
    rendered_description: Option<String>,
) -> ApiResult<Reply<RealmUpdate>> {
    check_owner(caller, &changes, other)?;
    if let Some(methods) = &other.authentication_methods {
        rules::check_authentication_methods(methods)?;
    }
    if other.string_id.is_some() {
        return Err(ApiError::bad_request("Must be a demo organization."));
    }
    if let Some(html) = rendered_description {
        settings::set(tx, "rendered_description", &html.into())?;
    }
    let mut answer = Map::new();
    for (property, written) in changes.values {
        let value = check_value(tx, caller, property.name, written)?;
        if set(tx, property.name, &value)? {
            let shown = if value.is_string() { "updated".into() } else { value };
            answer.insert(property.name.to_owned(), shown);
        }
    }
    for (permission, change) in &changes.groups {
        if let Some(value) = set_group(tx, *permission, change)? {
            answer.insert(permission.name().to_owned(), value);
        }
    }
    Reply::data(&RealmUpdate(answer))
}

/// Checks that the caller is an owner, if a change requires it.
fn check_owner(caller: &Caller, changes: &RealmChanges, other: &RealmParams) -> ApiResult<()> {
    let needs_owner = other.authentication_methods.is_some()
        || other.string_id.is_some()
        || changes.values.iter().any(|(property, _)| rules::requires_owner(property.name))
        || changes.groups.iter().any(|(permission, _)| rules::permission_requires_owner(*permission));
    if needs_owner && caller.role != Role::Owner { Err(ApiError::owners_only()) } else { Ok(()) }
}

/// Checks a value and returns the one to store. Channels have to be accessible to the caller.
fn check_value(tx: &Tx<'_>, caller: &Caller, name: &str, written: Value) -> ApiResult<Value> {
    let is_channel = name.ends_with("_stream_id") || name.ends_with("_channel_id");
    if !is_channel {
        return rules::value(name, written);
    }
    let Some(stream_id) = written.as_i64().filter(|id| *id >= 0) else { return Ok((-1).into()) };
    let stream = channels::find_for_metadata(Ctx::in_job(tx, caller), StreamId(stream_id))?;
    if stream.is_archived {
        return Err(channels::no_such_channel());
    }
    if name == MODERATION_REQUEST_CHANNEL_ID.name()
        && !stream.invite_only
        && MODERATION_REQUEST_CHANNEL_ID.get(tx)? != stream_id
    {
        return Err(ApiError::bad_request("Moderation request channel must be private."));
    }
    Ok(written)
}

/// Sets a setting and what depends on it. Returns whether it changed.
fn set(tx: &mut Tx<'_>, name: &str, value: &Value) -> ApiResult<bool> {
    match name {
        "waiting_period_threshold" => {
            visibility::waiting_period::emit_ended(tx)?;
            visibility::with_events(tx, Scope::WaitingPeriod, |tx| events::set(tx, name, value))
        }
        _ => events::set(tx, name, value),
    }
}

/// Sets the group that holds a permission. Returns the value if it changed.
fn set_group(tx: &mut Tx<'_>, permission: RealmGroup, change: &SettingChange) -> ApiResult<Option<Value>> {
    let before = realm_settings::group(tx, permission)?;
    let Some(after) = change.after(tx, before)? else { return Ok(None) };
    let group = setting::parse(tx, permission.name(), &permission.permission(), &after)?;
    let value = serde_json::to_value(&after)?;
    tracing::info!(setting = permission.name(), "a permission of the organization was changed");
    let set = |tx: &mut Tx<'_>| {
        setting::set(tx, Owner::Realm, permission.name(), group)?;
        let everyone = users::everyone(tx)?;
        tx.emit(RealmPermissionUpdated::new(permission, after), everyone);
        Ok(())
    };
    match permission {
        RealmGroup::CanAccessAllUsers => visibility::with_events(tx, Scope::AccessToUsers, set)?,
        _ => set(tx)?,
    }
    Ok(Some(value))
}
