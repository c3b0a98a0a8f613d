//! What each user chose: the table of settings, the defaults of new users, and the changes.

mod consents;
pub mod defaults;
pub mod params;
mod update;

use crate::domain::user_settings::events;
use crate::http::Resource;
use crate::http::{ADMINISTRATOR, Route, StatePart, USER};
use hyper::Method;

/// User settings.
pub const RESOURCE: Resource = Resource { name: "user_settings", routes, state: STATE, ..Resource::EMPTY };

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
