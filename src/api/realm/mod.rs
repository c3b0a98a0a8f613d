//! The organization: its row, and its settings.
//!
//! - [`policies`]: the older numbers that stood for the same;
//! - `rules`: who may change which setting, and to what; `changes` reads them from a request;
//! - [`state`]: all of it in the answer of `POST /register`.

mod changes;
pub mod policies;
mod rules;
pub mod state;
mod test_welcome;
mod update;

use crate::domain::realm;
use crate::http::Resource;
use crate::http::params::NoParams;
use crate::http::{ADMINISTRATOR, ApiResult, OWNER, Owner, Reply, Route, StatePart};
use crate::store::Tx;
use hyper::Method;
use rand::RngExt;

/// The organization.
pub const RESOURCE: Resource = Resource { name: "realm", routes, state: STATE, set_up, ..Resource::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "realm", fetch: state::realm },
    StatePart { name: "realm_user", fetch: state::own_permissions },
];

fn routes() -> Vec<Route> {
    vec![
        Route::write(Method::PATCH, "/realm", ADMINISTRATOR, update::update),
        Route::write(Method::POST, "/realm/deactivate", OWNER, deactivate),
        Route::write(
            Method::POST,
            "/realm/test_welcome_bot_custom_message",
            ADMINISTRATOR,
            test_welcome::send_test_message,
        ),
    ]
}

/// `POST /realm/deactivate`: from now on nobody can log in. Nothing is deleted; the command line brings it back.
fn deactivate(tx: &mut Tx<'_>, _caller: &Owner, _params: NoParams) -> ApiResult<Reply> {
    realm::set_deactivated(tx, true)?;
    realm::events::tell_deactivated(tx)?;
    Ok(Reply::ok())
}

/// Makes the organization's row in a new file.
fn set_up(tx: &mut Tx<'_>) -> ApiResult<()> {
    let bits: u128 = rand::rng().random();
    let now = tx.now();
    tx.execute(
        "INSERT OR IGNORE INTO realm (id, uuid, date_created) VALUES (1, ?1, ?2)",
        (format!("{bits:032x}"), now),
    )?;
    Ok(())
}
