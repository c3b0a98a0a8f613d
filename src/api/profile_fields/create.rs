//! `POST /realm/profile_fields`.

use crate::domain::profile_fields::external_accounts::ExternalAccount;
use crate::domain::profile_fields::field::{FieldType, ProfileField};
use crate::domain::profile_fields::rules::Draft;
use crate::domain::profile_fields::{external_accounts, rules, sql};
use crate::domain::profile_values::events;
use crate::http::params::Trimmed;
use crate::http::{Administrator, ApiError, ApiResult, Reply};
use crate::store::Tx;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Parameters of `POST /realm/profile_fields`.
#[derive(Deserialize)]
pub struct CreateParams {
    /// What it is called. The built-in external accounts have their own name.
    #[serde(default)]
    name: Trimmed,
    /// What people are told about filling it in.
    #[serde(default)]
    hint: String,
    /// The type, 1 to 8.
    field_type: i64,
    /// The choices of a list, or where an external account is.
    #[serde(default)]
    field_data: Map<String, Value>,
    /// Whether it is shown where there is little room.
    #[serde(default)]
    display_in_profile_summary: bool,
    /// Whether people are urged to fill it in.
    #[serde(default)]
    required: bool,
    /// Whether people may change their own.
    #[serde(default = "yes")]
    editable_by_user: bool,
}

fn yes() -> bool {
    true
}

/// `POST /realm/profile_fields`: a new field, after all others.
pub fn create_profile_field(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    params: CreateParams,
) -> ApiResult<Reply> {
    if params.display_in_profile_summary {
        check_summary_has_room(tx, None)?;
    }
    let kind = FieldType::from_code(params.field_type);
    rules::check(&Draft {
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
    if let Some(account) = external_accounts::default_of(&params.field_data)
        && kind == FieldType::ExternalAccount
    {
        describe(&mut field, account);
    }
    check_name_is_free(tx, &field.name, None)?;
    let id = sql::insert(tx, &field)?;
    events::fields_changed(tx)?;
    Reply::field("id", &id)
}

/// The server says what the field of a built-in external account looks like.
fn describe(field: &mut ProfileField, account: &ExternalAccount) {
    account.name.clone_into(&mut field.name);
    account.hint.clone_into(&mut field.hint);
    field.field_data = json!({"subtype": account.subtype}).to_string();
}

/// Refuses one more field where there is little room; `but` is the field that is changed.
pub fn check_summary_has_room(tx: &Tx<'_>, but: Option<i64>) -> ApiResult<()> {
    if sql::in_summary(tx, but)? >= rules::MAX_IN_SUMMARY {
        return Err(ApiError::bad_request(
            "Only 2 custom profile fields can be displayed in the profile summary.",
        ));
    }
    Ok(())
}

/// Refuses a name that another field has.
pub fn check_name_is_free(tx: &Tx<'_>, name: &str, but: Option<i64>) -> ApiResult<()> {
    if sql::is_taken(tx, name, but)? {
        return Err(ApiError::bad_request("A field with that label already exists."));
    }
    Ok(())
}
