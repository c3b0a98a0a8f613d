//! The organization's defaults for the settings of new users: `PATCH /realm/user_settings_defaults`.

use super::params::Changes;
use super::{events, sql, table};
use crate::http::{Administrator, ApiResult, Reply};
use crate::store::Tx;
use crate::types::Values;
use rusqlite::Connection;

/// All defaults of new users.
pub fn all(connection: &Connection) -> ApiResult<Values> {
    Ok(Values::new(table::PROPERTIES, sql::defaults(connection)?))
}

/// `PATCH /realm/user_settings_defaults`: any of the settings, each with its value for users who join from now on.
pub fn update(tx: &mut Tx<'_>, _caller: &Administrator, changes: Changes) -> ApiResult<Reply> {
    changes.check()?;
    let current = all(tx)?;
    for (property, value) in &changes.0 {
        if current.value(property.name) != value {
            sql::put_default(tx, property.name, value)?;
            events::default_updated(tx, property.name, value)?;
        }
    }
    Ok(Reply::ok())
}
