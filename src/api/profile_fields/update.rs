//! `PATCH /realm/profile_fields/{field_id}`.

use crate::api::profile_fields::create::{check_name_is_free, check_summary_has_room};
use crate::domain::profile_fields::field::{FieldType, ProfileField};
use crate::domain::profile_fields::rules::Draft;
use crate::domain::profile_fields::{external_accounts, rules, sql};
use crate::domain::profile_values::events;
use crate::http::params::Trimmed;
use crate::http::{Administrator, ApiError, ApiResult, Reply};
use crate::store::Tx;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Parameters of `PATCH /realm/profile_fields/{field_id}`. The type of a field never changes.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// Which field.
    field_id: i64,
    /// What it is called from now on.
    #[serde(default)]
    name: Option<Trimmed>,
    /// What people are told about filling it in.
    #[serde(default)]
    hint: Option<String>,
    /// The choices of a list, or where an external account is. Whoever had a choice that is gone has none.
    #[serde(default)]
    field_data: Option<Map<String, Value>>,
    /// Whether it is shown where there is little room.
    #[serde(default)]
    display_in_profile_summary: Option<bool>,
    /// Whether people are urged to fill it in.
    #[serde(default)]
    required: Option<bool>,
    /// Whether people may change their own.
    #[serde(default)]
    editable_by_user: Option<bool>,
}

/// `PATCH /realm/profile_fields/{field_id}`: changes what is given.
pub fn update_profile_field(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    params: UpdateParams,
) -> ApiResult<Reply> {
    let before = sql::find(tx, params.field_id)?;
    if params.display_in_profile_summary == Some(true) {
        check_summary_has_room(tx, Some(before.id))?;
    }
    let data_before = before.data();
    let field = changed(&before, params);
    let data = field.data();
    let is_default =
        before.r#type == FieldType::ExternalAccount && external_accounts::default_of(&data_before).is_some();
    let is_same = field.name == before.name && field.hint == before.hint && data == data_before;
    if is_default && !is_same {
        return Err(ApiError::bad_request("Default custom field cannot be updated."));
    }
    rules::check(&Draft {
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
    if field.r#type == FieldType::Select {
        drop_choices(tx, &field, &data)?;
    }
    sql::update(tx, &field)?;
    events::fields_changed(tx)?;
    Ok(Reply::ok())
}

/// The field with what was given.
fn changed(before: &ProfileField, params: UpdateParams) -> ProfileField {
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

/// Takes away the values that are no longer a choice.
fn drop_choices(tx: &mut Tx<'_>, field: &ProfileField, choices: &Map<String, Value>) -> ApiResult<()> {
    for (user_id, value) in sql::holders(tx, field.id)? {
        if !choices.contains_key(&value) {
            sql::remove_value(tx, user_id, field.id)?;
            events::value_changed(tx, user_id, field.id, None, None)?;
        }
    }
    Ok(())
}
