//! `/settings` and `/realm/user_settings_defaults`: users' settings, and the organization's defaults for new users.

mod params;
mod update;

use crate::api::user_settings::params::DefaultValues;
use crate::domain::user_settings::{defaults, events, sql};
use crate::http::Resource;
use crate::http::params::NoParams;
use crate::http::{ADMINISTRATOR, Administrator, ApiResult, Read, Reply, Route, StatePart, USER};
use crate::store::Tx;
use crate::types::UserId;
use hyper::Method;
use serde::Serialize;

/// The resource of `/settings`.
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
        Route::read(Method::GET, "/export/realm/consents", ADMINISTRATOR, get_consents).slow(),
        Route::write(Method::PATCH, "/realm/user_settings_defaults", ADMINISTRATOR, update_defaults),
    ]
}

/// `PATCH /realm/user_settings_defaults`: sets any of the settings for users who join later.
fn update_defaults(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    DefaultValues(settings): DefaultValues,
) -> ApiResult<Reply> {
    settings.check()?;
    let current = defaults::all(tx)?;
    for (property, value) in &settings.0 {
        if current.value(property.name) != value {
            sql::set_default(tx, property.name, value)?;
            events::emit_default_updated(tx, property.name, value)?;
        }
    }
    Ok(Reply::ok())
}

/// Whether a user consents to exports of their private data.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Consent {
    /// Identifies the user.
    user_id: UserId,
    /// Whether their private data may be exported.
    consented: bool,
}

/// The reply to `GET /export/realm/consents`.
#[derive(Serialize)]
struct Consents {
    /// By user.
    export_consents: Vec<Consent>,
}

/// `GET /export/realm/consents`: lists all active people with their setting `allow_private_data_export` (feature level
/// 295).
fn get_consents(read: &Read<'_, Administrator>, _params: NoParams) -> ApiResult<Reply<Consents>> {
    let consents: Vec<Consent> = sql::list_by_person(read, "allow_private_data_export")?
        .into_iter()
        .map(|(user_id, value)| Consent { user_id, consented: value.as_deref() == Some("true") })
        .collect();
    Reply::data(&Consents { export_consents: consents })
}
