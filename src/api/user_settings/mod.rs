//! `/settings` and `/realm/user_settings_defaults`: users' settings, and the organization's defaults for new users.

mod state;
mod update;

use crate::api::resource::{Resource, StatePart};
use crate::api::setting_params::{SettingParams, check};
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::user_settings;
use crate::domain::user_settings::table::Defaults;
use crate::http::params::NoParams;
use crate::http::{ADMINISTRATOR, Administrator, ApiResult, Read, Reply, Route, USER};
use crate::store::Tx;
use crate::types::UserId;
use hyper::Method;
use serde::Serialize;

pub const RESOURCE: Resource = Resource { name: "user_settings", routes, state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "user_settings", fetch: state::user_settings },
    StatePart { name: "realm_user_settings_defaults", fetch: state::realm_defaults },
    StatePart { name: "update_display_settings", fetch: state::legacy_display },
    StatePart { name: "update_global_notifications", fetch: state::legacy_notifications },
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

/// `PATCH /realm/user_settings_defaults`: changes the given default settings of users who join later.
fn update_defaults(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    settings: SettingParams<Defaults>,
) -> ApiResult<Reply> {
    let current = user_settings::defaults(tx)?;
    for (property, written) in settings.values {
        let value = check(property, written)?;
        if *current.value(property.name) != value {
            user_settings::set_default(tx, property.name, &value)?;
            let changed = Entry::new(Action::DefaultChanged, Subject::setting(property.name));
            tx.audit(changed.before(current.value(property.name).clone()).after(value.clone()))?;
            user_settings::events::emit_default_updated(tx, property.name, &value)?;
        }
    }
    Ok(Reply::ok())
}

/// A user's consent to exports of their private data.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Consent {
    /// The user's id.
    user_id: UserId,
    /// True if the user's private data may be exported.
    consented: bool,
}

/// The reply to `GET /export/realm/consents`.
#[derive(Serialize)]
struct Consents {
    /// The active people, by id.
    export_consents: Vec<Consent>,
}

/// `GET /export/realm/consents`: lists all active people with their setting `allow_private_data_export` (feature level
/// 295).
fn get_consents(read: &Read<'_, Administrator>, _params: NoParams) -> ApiResult<Reply<Consents>> {
    let consents: Vec<Consent> = user_settings::list_by_person(read, "allow_private_data_export")?
        .into_iter()
        .map(|(user_id, value)| Consent { user_id, consented: value.as_deref() == Some("true") })
        .collect();
    Reply::data(&Consents { export_consents: consents })
}
