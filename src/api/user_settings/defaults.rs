//! The organization's defaults for the settings of new users: `PATCH /realm/user_settings_defaults`.

use crate::api::user_settings::params::Changes;
use crate::domain::user_settings::defaults::all;
use crate::domain::user_settings::{events, sql};
use crate::http::{Administrator, ApiResult, Reply};
use crate::store::Tx;

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
