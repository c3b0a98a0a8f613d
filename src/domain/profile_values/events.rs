//! Events about fields and values, and the fields in the answer of `POST /register`.

use crate::domain::access::users;
use crate::domain::profile_fields::field::{FieldType, ProfileField};
use crate::domain::profile_fields::sql;
use crate::domain::realm::user_ids::everyone;
use crate::domain::users::events::UserUpdated;
use crate::domain::users::find;
use crate::events::uniform_event;
use crate::http::{ApiResult, State, StateRequest};
use crate::store::Tx;
use crate::types::UserId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

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
    let mut field = json!({"id": field_id, "value": value});
    if let Some(rendered_value) = rendered_value {
        field["rendered_value"] = json!(rendered_value);
    }
    let user = find::by_id(tx, user_id)?;
    let audience = users::audience(tx, &user)?;
    tx.emit(UserUpdated::new(json!({"user_id": user_id, "custom_profile_field": field})), audience);
    Ok(())
}

/// State part `custom_profile_fields`: the fields, and the types that fields may have.
pub fn state(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let kind = |kind: FieldType| {
        let (key, name) = kind.names();
        (key.to_owned(), json!({"id": kind.code(), "name": name}))
    };
    let types: Map<String, Value> = FieldType::ALL.into_iter().map(kind).collect();
    state.insert("custom_profile_fields".into(), json!(sql::list(request.connection)?));
    state.insert("custom_profile_field_types".into(), types.into());
    Ok(())
}
