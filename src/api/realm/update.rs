//! `PATCH /realm`.

use crate::api::realm::rules;
use crate::api::setting_params::{self, PermissionParams, SettingParams, settable};
use crate::app::App;
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::realm_settings;
use crate::domain::groups::realm_settings::RealmPermissionUpdated;
use crate::domain::groups::setting::{Owner, SettingChange};
use crate::domain::realm::settings::{MODERATION_REQUEST_CHANNEL_ID, PASSWORD_AUTH_ENABLED, RealmTable};
use crate::domain::realm::user_ids;
use crate::domain::rendering::render_one_description;
use crate::domain::visibility::Scope;
use crate::domain::{access, groups, realm, visibility};
use crate::http::form::Form;
use crate::http::{Administrator, ApiError, ApiResult, Call, Caller, Parameters, Params2, Reply};
use crate::store::Tx;
use crate::types::{ChangedBy, Kind, Origin, Property, StreamId, nearest_name};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Parameters of `PATCH /realm` other than the settings and permissions.
#[derive(Deserialize)]
pub struct RealmParams {
    /// An object with the names of login methods and booleans: whether each is enabled. Only owners may send it, and
    /// only with the present values: the operator configures providers, and passwords stay as they are.
    authentication_methods: Option<BTreeMap<String, bool>>,
    /// Always refused: the new subdomain of a demo organization. This server has no demo organizations.
    string_id: Option<String>,
}

/// The settings of the organization that a request changes.
type RealmSettings = SettingParams<RealmTable>;

/// The permissions of the organization that a request changes.
type RealmGroups = PermissionParams<RealmGroup, SettingChange>;

/// `PATCH /realm`: changes the given settings and permissions of the organization, all or none. Returns the changed
/// values, and for strings `updated`.
pub async fn update(
    call: Call<Administrator>,
    Params2(settings, Params2(permissions, other)): Params2<RealmSettings, Params2<RealmGroups, RealmParams>>,
) -> ApiResult<Reply<RealmUpdate>> {
    let rendered_description = render(&call.app, &call.caller, &call.info.origin, &settings).await?;
    let has_providers = !call.app.options.oidc.is_empty();
    let job = move |tx: &mut Tx<'_>, caller: &Administrator| {
        apply(tx, caller, settings, &permissions, &other, rendered_description, has_providers)
    };
    Reply::data(&call.write(job).await?)
}

/// Renders the description of a request.
async fn render(
    app: &App,
    caller: &Caller,
    origin: &str,
    settings: &RealmSettings,
) -> ApiResult<Option<String>> {
    let description = settings.values.iter().find(|(property, _)| property.name == "description");
    let Some((_, text)) = description else { return Ok(None) };
    Ok(Some(render_one_description(app, caller, origin, text.as_str().unwrap_or_default()).await?))
}

/// Changes a setting for the operator, by the rules of `PATCH /realm` and with the sight of an owner. Returns the settings that
/// changed.
pub async fn change_as_operator(
    app: &App,
    owner: Caller,
    name: &str,
    value: &str,
) -> ApiResult<Map<String, Value>> {
    let read = |value: &str| {
        let query = form_urlencoded::Serializer::new(String::new()).append_pair(name, value).finish();
        let form = Form::new(Some(&query), None, Bytes::new(), Vec::new())?;
        let params = Params2::<RealmSettings, Params2<RealmGroups, RealmParams>>::read(&form)?;
        if form.ignored().is_empty() { Ok(params) } else { Err(unknown(name)) }
    };
    // Some values are JSON in the interface: words such as unlimited are written without quotes here.
    let is_word = serde_json::from_str::<Value>(value).is_err();
    let params = match read(value) {
        Err(error) if is_word => read(&Value::from(value).to_string()).map_err(|_| error),
        params => params,
    };
    let Params2(settings, Params2(permissions, other)) = params?;
    let rendered = render(app, &owner, "", &settings).await?;
    let has_providers = !app.options.oidc.is_empty();
    let changed = app.writer.run(move |tx| {
        tx.set_origin(Origin::OPERATOR);
        apply(tx, &owner, settings, &permissions, &other, rendered, has_providers)
    });
    Ok(changed.await?.0)
}

/// The refusal of a name that is no setting, with the most similar one.
fn unknown(name: &str) -> ApiError {
    let names = settable::<RealmTable>().map(|row| row.name);
    let names = names.chain(RealmGroup::ALL.iter().map(|permission| permission.name()));
    let nearest = nearest_name(name, names);
    let tip = nearest.map(|nearest| format!("; did you mean '{nearest}'?")).unwrap_or_default();
    ApiError::bad_request(format!("There is no setting '{name}'{tip}"))
}

/// The reply to `PATCH /realm`: the settings that changed. Texts are not repeated: their values are `updated`.
#[derive(Serialize)]
#[serde(transparent)]
pub struct RealmUpdate(Map<String, Value>);

fn apply(
    tx: &mut Tx<'_>,
    caller: &Caller,
    settings: RealmSettings,
    permissions: &RealmGroups,
    other: &RealmParams,
    rendered_description: Option<String>,
    has_providers: bool,
) -> ApiResult<RealmUpdate> {
    check_owner(caller, &settings, permissions, other)?;
    if let Some(methods) = &other.authentication_methods {
        let mut present = BTreeMap::from([("Email", PASSWORD_AUTH_ENABLED.get(tx)?)]);
        present.extend(has_providers.then_some(("OpenID Connect", true)));
        rules::check_authentication_methods(methods, &present)?;
    }
    if other.string_id.is_some() {
        return Err(ApiError::bad_request("Must be a demo organization."));
    }
    if let Some(html) = rendered_description {
        realm::settings::set(tx, "rendered_description", &html.into())?;
    }
    let mut answer = Map::new();
    for (property, written) in settings.values {
        let value = check_value(tx, caller, property, written)?;
        if set(tx, property.name, &value)? {
            let shown = if value.is_string() { "updated".into() } else { value };
            answer.insert(property.name.to_owned(), shown);
        }
    }
    for (permission, change) in &permissions.0 {
        if let Some(value) = set_group(tx, *permission, change)? {
            answer.insert(permission.name().to_owned(), value);
        }
    }
    Ok(RealmUpdate(answer))
}

/// Checks that the caller is an owner, if a change requires it.
fn check_owner(
    caller: &Caller,
    settings: &RealmSettings,
    permissions: &RealmGroups,
    other: &RealmParams,
) -> ApiResult<()> {
    let changed_by = settings.values.iter().map(|(row, _)| row.changed_by);
    let mut changed_by =
        changed_by.chain(permissions.0.iter().map(|(group, _)| group.permission().changed_by));
    let needs_owner = other.authentication_methods.is_some()
        || other.string_id.is_some()
        || changed_by.any(|users| users == ChangedBy::Owner);
    if needs_owner { caller.check_is_owner() } else { Ok(()) }
}

/// Checks a value and returns the one to store. Channels have to be accessible to the caller.
fn check_value(tx: &Tx<'_>, caller: &Caller, property: &Property, written: Value) -> ApiResult<Value> {
    if property.kind != Kind::Channel {
        return setting_params::check(property, written);
    }
    let Some(stream_id) = written.as_i64().filter(|id| *id >= 0) else { return Ok((-1).into()) };
    let stream = access::channels::find_for_metadata(tx.ctx(caller), StreamId(stream_id))?;
    if stream.is_archived {
        return Err(access::channels::no_such_channel());
    }
    if property.name == MODERATION_REQUEST_CHANNEL_ID.name()
        && !stream.invite_only
        && MODERATION_REQUEST_CHANNEL_ID.get(tx)? != stream_id
    {
        return Err(ApiError::bad_request("Moderation request channel must be private."));
    }
    Ok(written)
}

/// Sets a setting and dependent ones. Returns true if it changed.
fn set(tx: &mut Tx<'_>, name: &str, value: &Value) -> ApiResult<bool> {
    match name {
        "waiting_period_threshold" => {
            visibility::waiting_period::emit_ended(tx)?;
            visibility::with_events(tx, Scope::WaitingPeriod, |tx| realm::events::set(tx, name, value))
        }
        _ => realm::events::set(tx, name, value),
    }
}

/// Sets the group that holds a permission. Returns the value if it changed.
fn set_group(tx: &mut Tx<'_>, permission: RealmGroup, change: &SettingChange) -> ApiResult<Option<Value>> {
    let before = realm_settings::group(tx, permission)?;
    let Some(after) = change.after(tx, before)? else { return Ok(None) };
    let group = groups::setting::parse(tx, &permission.permission(), &after)?;
    let value = serde_json::to_value(&after)?;
    let changed = Entry::new(Action::PermissionChanged, Subject::setting(permission.name()));
    tx.audit(
        changed.before(serde_json::to_value(groups::setting::to_wire(tx, before)?)?).after(value.clone()),
    )?;
    let set = |tx: &mut Tx<'_>| {
        groups::setting::set(tx, Owner::Realm, permission.name(), group)?;
        let everyone = user_ids::everyone(tx)?;
        tx.emit(RealmPermissionUpdated::new(permission, after), everyone);
        Ok(())
    };
    match permission {
        RealmGroup::CanAccessAllUsers => visibility::with_events(tx, Scope::AccessToUsers, set)?,
        _ => set(tx)?,
    }
    Ok(Some(value))
}
