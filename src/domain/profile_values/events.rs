//! Events about fields and values, and the fields in the answer of `POST /register`.

use crate::domain::access::users;
use crate::domain::profile_fields::field::{FieldType, ProfileField};
use crate::domain::profile_fields::sql;
use crate::domain::realm::user_ids::everyone;
use crate::domain::users::events::{ChangedField, UserChange, UserUpdated};
use crate::domain::users::find;
use crate::events::uniform_event;
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use crate::types::UserId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `custom_profile_fields`: all fields as they are now. Values of fields that are not in it are gone.
#[derive(Serialize, Deserialize)]
pub struct FieldsChanged {
    fields: Vec<ProfileField>,
}

uniform_event!(FieldsChanged: "custom_profile_fields", version 1);

/// Emits all custom profile fields to everyone.
pub fn emit_fields_changed(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = FieldsChanged { fields: sql::list(tx)? };
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
    let user = find::by_id(tx, user_id)?;
    let audience = users::audience(tx, &user)?;
    tx.emit(UserUpdated::new(user_id, UserChange::ProfileField { custom_profile_field }), audience);
    Ok(())
}

/// A type that profile fields can have.
#[derive(Serialize)]
struct FieldTypeRecord {
    /// The type of a field.
    id: FieldType,
    /// Its name for people.
    name: &'static str,
}

/// State part `custom_profile_fields`: the fields, and the types that fields may have.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let kind = |kind: FieldType| {
        let (key, name) = kind.names();
        (key, FieldTypeRecord { id: kind, name })
    };
    let types: BTreeMap<&str, FieldTypeRecord> = FieldType::ALL.into_iter().map(kind).collect();
    state.set::<Vec<ProfileField>>("custom_profile_fields", &sql::list(request.connection)?)?;
    state.set::<BTreeMap<&str, FieldTypeRecord>>("custom_profile_field_types", &types)
}
