//! `/realm`: the organization's settings and its deactivation.
//!
//! - `update`: `PATCH /realm`; `params` reads the settings from a request, `rules` checks them;
//! - [`state`]: the organization in the response of `POST /register`; [`policies`]: deprecated forms of permissions.

mod params;
pub mod policies;
mod rules;
pub mod state;
mod update;

use crate::api::realm::params::MAX_WELCOME_MESSAGE_LENGTH;
use crate::domain::notices::welcome;
use crate::domain::realm;
use crate::http::params::{BoundedText, NoParams};
use crate::http::{
    ADMINISTRATOR, Administrator, ApiError, ApiResult, OWNER, Owner, Reply, Resource, Route, StatePart,
};
use crate::store::Tx;
use hyper::Method;
use rand::RngExt;
use serde::Deserialize;

/// The resource of `/realm`.
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
            send_test_message,
        ),
    ]
}

/// Parameters of `POST /realm/test_welcome_bot_custom_message`.
#[derive(Deserialize)]
pub struct TestWelcomeParams {
    /// The text to send, in Markdown, at most 8000 characters.
    welcome_message_custom_text: BoundedText<MAX_WELCOME_MESSAGE_LENGTH>,
}

/// `POST /realm/test_welcome_bot_custom_message`: sends the text to the caller as the welcome bot (feature level 416).
fn send_test_message(tx: &mut Tx<'_>, caller: &Administrator, params: TestWelcomeParams) -> ApiResult<Reply> {
    let text = params.welcome_message_custom_text.into_inner();
    if text.is_empty() {
        return Err(ApiError::bad_request("Message must not be empty"));
    }
    Reply::field("message_id", &welcome::send(tx, caller.user_id, text)?)
}

/// `POST /realm/deactivate`: deactivates the organization, so that nobody can log in. Deletes nothing; the command
/// `teamchat organization reactivate` reverts it.
fn deactivate(tx: &mut Tx<'_>, _caller: &Owner, _params: NoParams) -> ApiResult<Reply> {
    realm::set_deactivated(tx, true)?;
    realm::events::tell_deactivated(tx)?;
    Ok(Reply::ok())
}

/// Creates the organization's row in a new database.
fn set_up(tx: &mut Tx<'_>) -> ApiResult<()> {
    let bits: u128 = rand::rng().random();
    let now = tx.now();
    tx.execute(
        "INSERT OR IGNORE INTO realm (id, uuid, date_created) VALUES (1, ?1, ?2)",
        (format!("{bits:032x}"), now),
    )?;
    Ok(())
}
