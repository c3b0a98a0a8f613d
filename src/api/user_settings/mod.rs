//! What each user chose: the table of settings, the defaults of new users, and the changes.

pub mod change;
mod consents;
pub mod defaults;
pub mod events;
pub mod languages;
pub mod params;
pub mod sql;
pub mod table;
mod update;

use super::Slice;
use super::register::StatePart;
use crate::http::{ADMINISTRATOR, ApiError, ApiResult, Route, USER};
use crate::types::{UserId, Values};
use hyper::Method;
use rusqlite::Connection;
use serde::de::DeserializeOwned;

/// User settings.
pub const SLICE: Slice =
    Slice { name: "user_settings", routes, state: STATE, event_types: events::event_types, ..Slice::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "user_settings", fetch: events::user_settings },
    StatePart { name: "realm_user_settings_defaults", fetch: events::realm_defaults },
    StatePart { name: "update_display_settings", fetch: events::legacy_display },
    StatePart { name: "update_global_notifications", fetch: events::legacy_notifications },
];

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::PATCH, "/settings", USER, update::update),
        Route::call(Method::PATCH, "/settings/display", USER, update::update),
        Route::call(Method::PATCH, "/settings/notifications", USER, update::update),
        Route::read(Method::GET, "/export/realm/consents", ADMINISTRATOR, consents::get_consents),
        Route::write(Method::PATCH, "/realm/user_settings_defaults", ADMINISTRATOR, defaults::update),
    ]
}

/// A user's value of a setting, by one indexed search.
pub fn get<T: DeserializeOwned>(connection: &Connection, user_id: UserId, name: &str) -> ApiResult<T> {
    match sql::get(connection, user_id, name)? {
        Some(text) => Ok(serde_json::from_str(&text)?),
        None => {
            let property = table::property(name).ok_or_else(|| {
                tracing::error!(name, "users have no such setting");
                ApiError::internal()
            })?;
            Ok(serde_json::from_value(property.default_value())?)
        }
    }
}

/// All settings of a user.
pub fn all(connection: &Connection, user_id: UserId) -> ApiResult<Values> {
    Ok(Values::new(table::PROPERTIES, sql::all(connection, user_id)?))
}
