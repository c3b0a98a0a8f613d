//! Events about fields and values, and the fields in the answer of `POST /register`.

use crate::domain::profile_fields::field::ProfileField;
use crate::domain::realm::user_ids::{active_ids, everyone};
use crate::domain::users::events::{ChangedField, UserChange, UserUpdated};
use crate::domain::{access, profile_fields, users};
use crate::error::ApiResult;
use crate::events::{Audience, uniform_event};
use crate::store::Tx;
use crate::types::UserId;
use serde::{Deserialize, Serialize};

/// `custom_profile_fields`: a field was added, changed, moved or deleted. The event has all fields. Values of fields
/// that are not in it are deleted.
#[derive(Serialize, Deserialize)]
pub struct FieldsChanged {
    fields: Vec<ProfileField>,
}

uniform_event!(FieldsChanged: "custom_profile_fields", version 1);

/// Emits all custom profile fields to everyone.
pub fn emit_fields_changed(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = FieldsChanged { fields: profile_fields::list(tx)? };
    let audience = everyone(tx)?;
    tx.emit(event, audience);
    Ok(())
}

/// Emits a changed value to all who can access the user; `None` for a removed value.
pub fn emit_value_changed(
    tx: &mut Tx<'_>,
    user_id: UserId,
    field_id: i64,
    value: Option<&str>,
    rendered_value: Option<&str>,
) -> ApiResult<()> {
    let custom_profile_field = ChangedField {
        id: field_id,
        value: value.map(str::to_owned),
        rendered_value: rendered_value.map(str::to_owned),
    };
    let user = users::find::by_id(tx, user_id)?;
    let audience = access::users::audience(tx, &user)?;
    tx.emit(UserUpdated::new(user_id, UserChange::ProfileField { custom_profile_field }), audience);
    Ok(())
}

/// Emits that values of a field were deleted, each to all who can access its user. The users of the organization are loaded once.
pub fn emit_values_deleted(tx: &mut Tx<'_>, field_id: i64, user_ids: &[UserId]) -> ApiResult<()> {
    if user_ids.is_empty() {
        return Ok(());
    }
    let active = active_ids(tx)?;
    let all = Audience::set(active.clone());
    for user_id in user_ids {
        let user = users::find::by_id(tx, *user_id)?;
        let unaware = access::users::without_access(tx, &user, &active)?;
        let audience = if unaware.is_empty() { all.clone() } else { Audience::set(&active - &unaware) };
        let custom_profile_field = ChangedField { id: field_id, value: None, rendered_value: None };
        tx.emit(UserUpdated::new(*user_id, UserChange::ProfileField { custom_profile_field }), audience);
    }
    Ok(())
}
