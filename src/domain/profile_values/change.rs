//! What people said about themselves: the values of fields. For whoever shows users, and whoever changes them.

use crate::domain::messages::render_context::render_description;
use crate::domain::profile_fields::field::ProfileField;
use crate::domain::profile_fields::sql;
use crate::domain::profile_values::{events, rules};
use crate::http::{ApiError, ApiResult, Caller};
use crate::store::Tx;
use crate::types::UserId;
use rusqlite::Connection;
use serde::de;
use serde::de::{Deserialize, Deserializer};
use serde_json::Value;

/// A value to be set: an element of `profile_data`, or of `data` of `PATCH /users/me/profile_data`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Deserialize)]
pub struct ValueChange {
    /// Which field.
    pub id: i64,
    /// Its value from now on.
    pub value: NewValue,
}

/// A value as clients send it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewValue {
    /// `null`: takes the value away. An empty text or list does too.
    Nothing,
    /// A text. For people, a list of their ids as JSON text.
    Text(String),
    /// People, by their ids.
    UserIds(Vec<UserId>),
}

impl<'de> Deserialize<'de> for NewValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Null => Ok(Self::Nothing),
            Value::String(text) => Ok(Self::Text(text)),
            list @ Value::Array(_) => serde_json::from_value(list)
                .map(Self::UserIds)
                .map_err(|_| de::Error::custom("{} is not a list of integers")),
            _ => Err(de::Error::custom("{} is not a string")),
        }
    }
}

/// Sets values of a user's, on behalf of a caller: the user, or an administrator. All of it is done, or nothing. Tells
/// everybody of each value that is another one now.
///
/// Refused are fields that are not there (`Field id 7 not found.`), fields that the caller may not change, and values
/// that are not of the field's type.
pub fn set(tx: &mut Tx<'_>, caller: &Caller, user_id: UserId, changes: &[ValueChange]) -> ApiResult<()> {
    let mut checked = Vec::with_capacity(changes.len());
    for change in changes {
        let field = field_for(tx, caller, change.id)?;
        let value = rules::check(tx, &field, &change.value)?;
        checked.push((field, value));
    }
    for (field, value) in checked {
        store(tx, caller, user_id, &field, value)?;
    }
    Ok(())
}

/// Takes values of a user's away, on behalf of a caller. Those that are not there are passed over.
pub fn remove(tx: &mut Tx<'_>, caller: &Caller, user_id: UserId, field_ids: &[i64]) -> ApiResult<()> {
    for id in field_ids {
        let field = field_for(tx, caller, *id)?;
        store(tx, caller, user_id, &field, None)?;
    }
    Ok(())
}

/// A field that the caller may fill in.
fn field_for(connection: &Connection, caller: &Caller, id: i64) -> ApiResult<ProfileField> {
    let field = sql::find(connection, id)?;
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
    if sql::value(tx, user_id, field.id)? == value {
        return Ok(());
    }
    let Some(value) = value else {
        sql::remove_value(tx, user_id, field.id)?;
        return events::value_changed(tx, user_id, field.id, None, None);
    };
    // A value is some lines at most: rendering it here keeps nobody waiting.
    let rendered_value = if field.r#type.is_rendered() {
        Some(render_description(tx, caller, tx.now(), "", &value)?)
    } else {
        None
    };
    sql::put_value(tx, user_id, field.id, &value, rendered_value.as_deref())?;
    events::value_changed(tx, user_id, field.id, Some(&value), rendered_value.as_deref())
}
