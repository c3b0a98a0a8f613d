//! Setting and deleting a user's values of custom profile fields.

use crate::domain::profile_fields::field::ProfileField;
use crate::domain::profile_fields::sql;
pub use crate::domain::profile_values::rules::NewValue;
use crate::domain::profile_values::{events, rules};
use crate::domain::rendering::render_description;
use crate::http::{ApiError, ApiResult, Caller};
use crate::store::Tx;
use crate::types::UserId;
use rusqlite::Connection;

/// A change of one value: an element of `profile_data`, or of `data` of `PATCH /users/me/profile_data`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct ValueChange {
    /// The id of the field.
    pub id: i64,
    /// The new value.
    pub value: NewValue,
}

/// Sets a user's values, all or none, and emits each that differs. The caller is the user or an administrator.
///
/// Fails with 400 for an unknown field (`Field id 7 not found.`), for a field that the caller may not change, and for a
/// value that does not fit the field's type.
pub fn set(tx: &mut Tx<'_>, caller: &Caller, user_id: UserId, changes: &[ValueChange]) -> ApiResult<()> {
    let mut checked = Vec::with_capacity(changes.len());
    for change in changes {
        let field = load_editable(tx, caller, change.id)?;
        let value = rules::check(tx, &field, &change.value)?;
        checked.push((field, value));
    }
    for (field, value) in checked {
        store(tx, caller, user_id, &field, value)?;
    }
    Ok(())
}

/// Deletes a user's values and emits the changes. Fields without a value are skipped.
pub fn delete(tx: &mut Tx<'_>, caller: &Caller, user_id: UserId, field_ids: &[i64]) -> ApiResult<()> {
    for id in field_ids {
        let field = load_editable(tx, caller, *id)?;
        store(tx, caller, user_id, &field, None)?;
    }
    Ok(())
}

/// Loads a field whose value the caller may change.
fn load_editable(connection: &Connection, caller: &Caller, id: i64) -> ApiResult<ProfileField> {
    let field = sql::load(connection, id)?;
    if !field.editable_by_user && !caller.role.is_administrator() {
        return Err(ApiError::bad_request(
            "You are not allowed to change this field. Contact an administrator to update it.",
        ));
    }
    Ok(field)
}

fn store(
    tx: &mut Tx<'_>,
    caller: &Caller,
    user_id: UserId,
    field: &ProfileField,
    value: Option<String>,
) -> ApiResult<()> {
    if sql::load_value(tx, user_id, field.id)? == value {
        return Ok(());
    }
    let Some(value) = value else {
        sql::delete_value(tx, user_id, field.id)?;
        return events::value_changed(tx, user_id, field.id, None, None);
    };
    // Rendering on the writer is fine here: a value has at most 500 characters.
    let rendered_value = if field.r#type.is_rendered() {
        Some(render_description(tx, caller, tx.now(), "", &value)?)
    } else {
        None
    };
    sql::set_value(tx, user_id, field.id, &value, rendered_value.as_deref())?;
    events::value_changed(tx, user_id, field.id, Some(&value), rendered_value.as_deref())
}
