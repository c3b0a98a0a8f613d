//! Custom profile fields, which the organization defines, and their values, which people set (spec, "Custom profile
//! field").

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::limits::{MAX_PROFILE_FIELDS, organization};
use crate::domain::profile_fields::external_accounts;
use crate::domain::profile_fields::external_accounts::ExternalAccount;
use crate::domain::profile_fields::field::{FieldType, ProfileField};
use crate::domain::profile_fields::rules::FieldDefinition;
use crate::domain::profile_values::change::{RemovedOptions, ValueChange};
use crate::domain::{profile_fields, profile_values};
use crate::http::params::{NoParams, Order, Trimmed};
use crate::http::{ADMINISTRATOR, Administrator, ApiError, ApiResult, Call, Read, Reply, Route, USER, User};
use crate::store::{FollowUp, FollowUpKind, Tx};
use hyper::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub const RESOURCE: Resource =
    Resource { name: "profile_fields", routes, state: STATE, follow_ups: FOLLOW_UPS, ..Resource::EMPTY };

const FOLLOW_UPS: &[FollowUpKind] = &[FollowUpKind::of::<RemovedOptions>()];

const STATE: &[StatePart] = &[StatePart { name: "custom_profile_fields", fetch: state }];

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/realm/profile_fields", USER, get_profile_fields),
        Route::write(Method::POST, "/realm/profile_fields", ADMINISTRATOR, create_profile_field),
        Route::write(Method::PATCH, "/realm/profile_fields", ADMINISTRATOR, reorder_profile_fields),
        Route::write(Method::PATCH, "/realm/profile_fields/{field_id}", ADMINISTRATOR, update_profile_field),
        Route::write(Method::DELETE, "/realm/profile_fields/{field_id}", ADMINISTRATOR, delete_profile_field),
        Route::call(Method::PATCH, "/users/me/profile_data", USER, update_profile_data),
        Route::write(Method::DELETE, "/users/me/profile_data", USER, delete_profile_data),
    ]
}

/// The reply to `GET /realm/profile_fields`.
#[derive(Serialize)]
struct ProfileFields {
    /// The fields, in display order.
    custom_fields: Vec<ProfileField>,
}

/// `GET /realm/profile_fields`: lists all custom profile fields in display order.
fn get_profile_fields(read: &Read<'_, User>, _params: NoParams) -> ApiResult<Reply<ProfileFields>> {
    Reply::data(&ProfileFields { custom_fields: profile_fields::list(read)? })
}

/// Parameters of `POST /realm/profile_fields`.
#[derive(Deserialize)]
pub struct CreateParams {
    /// The name, at most 40 characters, which no other field may have. Ignored for built-in external accounts.
    #[serde(default)]
    name: Trimmed,
    /// A hint for people who fill in the field, at most 80 characters; empty by default.
    #[serde(default)]
    hint: String,
    /// The type: 1 short text, 2 long text, 3 list of options, 4 date, 5 URL, 6 people, 7 external account, 8 pronouns.
    field_type: i64,
    /// For type 3, an object of options: each key has an object with `text` and `order`. For type 7, an object with
    /// `subtype` and, for the subtype `custom`, `url_pattern`.
    #[serde(default)]
    field_data: Map<String, Value>,
    /// True if clients show the field in the summary of a profile; false by default. At most two fields, and not of
    /// types 2 and 6.
    #[serde(default)]
    display_in_profile_summary: bool,
    /// True if clients ask people to fill in the field; false by default. The server accepts profiles without it.
    #[serde(default)]
    required: bool,
    /// True, the default, if people may change their own value. Administrators always may.
    #[serde(default = "crate::types::default_true")]
    editable_by_user: bool,
}

/// The reply to `POST /realm/profile_fields`.
#[derive(Serialize)]
struct CreatedField {
    /// The id of the new field.
    id: i64,
}

/// `POST /realm/profile_fields`: adds a custom profile field after all others and returns its id.
fn create_profile_field(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    params: CreateParams,
) -> ApiResult<Reply<CreatedField>> {
    let statement = "SELECT count(*) FROM profile_field";
    organization::check_few(tx, "profile fields", statement, MAX_PROFILE_FIELDS)?;
    if params.display_in_profile_summary {
        check_summary_has_room(tx, None)?;
    }
    let kind = FieldType::from_code(params.field_type);
    profile_fields::rules::check(&FieldDefinition {
        name: &params.name,
        hint: &params.hint,
        kind,
        data: &params.field_data,
        display_in_profile_summary: params.display_in_profile_summary,
    })?;
    let kind = kind.ok_or_else(|| ApiError::internal("a field type passed its check and is unknown"))?;
    let mut field = ProfileField {
        id: 0,
        name: params.name.into_inner(),
        r#type: kind,
        hint: params.hint,
        field_data: if kind.has_data() { json!(params.field_data).to_string() } else { String::new() },
        order: 0,
        required: params.required,
        editable_by_user: params.editable_by_user,
        display_in_profile_summary: params.display_in_profile_summary,
    };
    if let Some(account) = external_accounts::find_built_in(&params.field_data)
        && kind == FieldType::ExternalAccount
    {
        apply_external_account(&mut field, account);
    }
    check_name_is_free(tx, &field.name, None)?;
    let id = profile_fields::insert(tx, &field)?;
    tx.audit(Entry::new(Action::ItemCreated, subject(id, &field)).after(serde_json::to_value(&field)?))?;
    profile_values::events::emit_fields_changed(tx)?;
    Reply::data(&CreatedField { id })
}

/// A field as the subject of an entry of the audit log.
fn subject(id: i64, field: &ProfileField) -> Subject {
    Subject::with_id("profile field", id).with_name(&field.name)
}

/// Sets the name, the hint and the data of a built-in external account.
fn apply_external_account(field: &mut ProfileField, account: &ExternalAccount) {
    account.name.clone_into(&mut field.name);
    account.hint.clone_into(&mut field.hint);
    field.field_data = json!({"subtype": account.subtype}).to_string();
}

/// Checks that another field besides `except` fits in the summary of a profile.
fn check_summary_has_room(tx: &Tx<'_>, except: Option<i64>) -> ApiResult<()> {
    if profile_fields::count_in_summary(tx, except)? >= profile_fields::rules::MAX_IN_SUMMARY {
        return Err(ApiError::bad_request(
            "Only 2 custom profile fields can be displayed in the profile summary.",
        ));
    }
    Ok(())
}

/// Checks that no field besides `except` has this name.
fn check_name_is_free(tx: &Tx<'_>, name: &str, except: Option<i64>) -> ApiResult<()> {
    if profile_fields::is_name_in_use(tx, name, except)? {
        return Err(ApiError::bad_request("A field with that label already exists."));
    }
    Ok(())
}

/// Parameters of `PATCH /realm/profile_fields/{field_id}`. The type of a field never changes.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// The id of the field.
    field_id: i64,
    /// The new name, at most 40 characters, which no other field may have.
    name: Option<Trimmed>,
    /// The new hint, at most 80 characters.
    hint: Option<String>,
    /// The new options or account, as in `POST /realm/profile_fields`. Values whose option is removed are deleted.
    field_data: Option<Map<String, Value>>,
    /// True if clients show the field in the summary of a profile. At most two fields, and not of types 2 and 6.
    display_in_profile_summary: Option<bool>,
    /// True if clients ask people to fill in the field. The server accepts profiles without it.
    required: Option<bool>,
    /// True if people may change their own value. Administrators always may.
    editable_by_user: Option<bool>,
}

/// `PATCH /realm/profile_fields/{field_id}`: changes the given properties of a custom profile field. The type cannot be
/// changed.
fn update_profile_field(tx: &mut Tx<'_>, _caller: &Administrator, params: UpdateParams) -> ApiResult<Reply> {
    let before = profile_fields::load(tx, params.field_id)?;
    if params.display_in_profile_summary == Some(true) {
        check_summary_has_room(tx, Some(before.id))?;
    }
    let data_before = before.data();
    let field = with_changes(&before, params);
    let data = field.data();
    let is_default = before.r#type == FieldType::ExternalAccount
        && external_accounts::find_built_in(&data_before).is_some();
    let is_same = field.name == before.name && field.hint == before.hint && data == data_before;
    if is_default && !is_same {
        return Err(ApiError::bad_request("Default custom field cannot be updated."));
    }
    profile_fields::rules::check(&FieldDefinition {
        name: &field.name,
        hint: &field.hint,
        kind: Some(field.r#type),
        data: &data,
        display_in_profile_summary: field.display_in_profile_summary,
    })?;
    check_name_is_free(tx, &field.name, Some(field.id))?;
    if field == before {
        return Ok(Reply::ok());
    }
    profile_fields::update(tx, &field)?;
    let removes_options = data_before.keys().any(|option| !data.contains_key(option));
    if field.r#type == FieldType::Select && removes_options {
        RemovedOptions::of(field.id).run(tx)?;
    }
    let changed = Entry::new(Action::ItemChanged, subject(field.id, &before));
    tx.audit(changed.before(serde_json::to_value(&before)?).after(serde_json::to_value(&field)?))?;
    profile_values::events::emit_fields_changed(tx)?;
    Ok(Reply::ok())
}

/// Returns the field with the given properties changed.
fn with_changes(before: &ProfileField, params: UpdateParams) -> ProfileField {
    let mut field = before.clone();
    if let Some(name) = params.name {
        field.name = name.into_inner();
    }
    if let Some(hint) = params.hint {
        field.hint = hint;
    }
    if let Some(data) = params.field_data
        && field.r#type.has_data()
        && data != before.data()
    {
        field.field_data = json!(data).to_string();
    }
    field.display_in_profile_summary =
        params.display_in_profile_summary.unwrap_or(field.display_in_profile_summary);
    field.required = params.required.unwrap_or(field.required);
    field.editable_by_user = params.editable_by_user.unwrap_or(field.editable_by_user);
    field
}

/// Parameters of `DELETE /realm/profile_fields/{field_id}`.
#[derive(Deserialize)]
pub struct DeleteParams {
    /// The id of the field.
    field_id: i64,
}

/// `DELETE /realm/profile_fields/{field_id}`: deletes a custom profile field and all values of it.
fn delete_profile_field(tx: &mut Tx<'_>, _caller: &Administrator, params: DeleteParams) -> ApiResult<Reply> {
    let field = profile_fields::load(tx, params.field_id)?;
    profile_fields::delete(tx, field.id)?;
    tx.audit(Entry::new(Action::ItemDeleted, subject(field.id, &field)))?;
    profile_values::events::emit_fields_changed(tx)?;
    Ok(Reply::ok())
}

/// Parameters of `PATCH /realm/profile_fields`.
#[derive(Deserialize)]
pub struct ReorderParams {
    /// The ids of all fields, in the new order. A missing id is an error; unknown ids are ignored.
    order: Order,
}

/// `PATCH /realm/profile_fields`: changes the display order of the custom profile fields.
fn reorder_profile_fields(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    params: ReorderParams,
) -> ApiResult<Reply> {
    let changes =
        params.order.changes(profile_fields::list(tx)?.into_iter().map(|field| (field.id, field.order)))?;
    for (id, position) in &changes {
        profile_fields::set_position(tx, *id, *position)?;
    }
    if !changes.is_empty() {
        tx.audit(Entry::new(Action::ItemChanged, Subject::named("profile field", "order")))?;
        profile_values::events::emit_fields_changed(tx)?;
    }
    Ok(Reply::ok())
}

/// Parameters of `PATCH /users/me/profile_data`.
#[derive(Deserialize)]
pub struct UpdateDataParams {
    /// The new values, at most 100. Fields that are not named keep their values.
    data: Vec<ValueChange>,
}

/// `PATCH /users/me/profile_data`: sets values of the caller's custom profile fields, all or none.
async fn update_profile_data(call: Call<User>, params: UpdateDataParams) -> ApiResult<Reply> {
    call.caller.check_is_person()?;
    let changes = profile_values::change::render(&call.app, &call.caller, params.data).await?;
    call.write(move |tx, caller| profile_values::change::set(tx, caller, caller.user_id, changes)).await?;
    Ok(Reply::ok())
}

/// Parameters of `DELETE /users/me/profile_data`.
#[derive(Deserialize)]
pub struct DeleteDataParams {
    /// The ids of the fields whose values are deleted, at most 100.
    data: Vec<i64>,
}

/// `DELETE /users/me/profile_data`: deletes values of the caller's custom profile fields.
fn delete_profile_data(tx: &mut Tx<'_>, caller: &User, params: DeleteDataParams) -> ApiResult<Reply> {
    caller.check_is_person()?;
    profile_values::change::delete(tx, caller, caller.user_id, &params.data)?;
    Ok(Reply::ok())
}

/// A type of custom profile fields.
#[derive(Serialize)]
struct FieldTypeRecord {
    /// The number of the type, as in `field_type`.
    id: FieldType,
    /// The name of the type, for people.
    name: &'static str,
}

/// The custom profile fields of `POST /register`: `custom_profile_fields`, in display order, and
/// `custom_profile_field_types`, the types by name.
fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let kind = |kind: FieldType| {
        let (key, name) = kind.names();
        (key, FieldTypeRecord { id: kind, name })
    };
    let types: BTreeMap<&str, FieldTypeRecord> = FieldType::ALL.into_iter().map(kind).collect();
    let is_visitor = request.caller.is_visitor();
    let fields = if is_visitor { Vec::new() } else { profile_fields::list(request.connection)? };
    state.set::<Vec<ProfileField>>("custom_profile_fields", &fields)?;
    state.set::<BTreeMap<&str, FieldTypeRecord>>("custom_profile_field_types", &types)
}
