//! `/realm`: the organization's settings and its deactivation.
//!
//! - `update`: `PATCH /realm`; `rules`: parameters of it that are not settings;
//! - [`state`]: the organization in the response of `POST /register`; `policies`: deprecated forms of permissions;
//! - `welcome`: the background task that sends welcome texts to new users.

mod policies;
mod rules;
pub mod state;
mod update;
mod welcome;

pub use update::change_as_operator;

use crate::api::resource::{Background, Resource, StatePart};
use crate::domain::realm::settings::MAX_WELCOME_MESSAGE_LENGTH;
use crate::domain::{mail, realm, rows};
use crate::http::params::BoundedText;
use crate::http::{ADMINISTRATOR, Administrator, ApiError, ApiResult, Call, OWNER, Owner, Reply, Route};
use crate::scheduler;
use crate::store::Tx;
use crate::types::MessageId;
use hyper::Method;
use rand::RngExt;
use serde::{Deserialize, Serialize};

pub const RESOURCE: Resource =
    Resource { name: "realm", routes, state: STATE, set_up, background: Some(BACKGROUND), ..Resource::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "realm", fetch: state::realm },
    StatePart { name: "realm_user", fetch: state::own_permissions },
];

const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| async move { welcome::deliver_due(&app).await }))
};

fn routes() -> Vec<Route> {
    vec![
        Route::call(Method::PATCH, "/realm", ADMINISTRATOR, update::update).on_full_disk(),
        Route::write(Method::POST, "/realm/deactivate", OWNER, deactivate).on_full_disk(),
        Route::call(Method::POST, "/realm/test_welcome_bot_custom_message", ADMINISTRATOR, send_test_message),
    ]
}

/// Parameters of `POST /realm/test_welcome_bot_custom_message`.
#[derive(Deserialize)]
pub struct TestWelcomeParams {
    /// The text to send, in Markdown, at most 8000 characters.
    welcome_message_custom_text: BoundedText<MAX_WELCOME_MESSAGE_LENGTH>,
}

/// The reply to `POST /realm/test_welcome_bot_custom_message`.
#[derive(Serialize)]
struct TestMessage {
    /// The id of the message.
    message_id: MessageId,
}

/// `POST /realm/test_welcome_bot_custom_message`: sends a text to the caller as the welcome bot would send it to a new
/// user (feature level 416).
async fn send_test_message(
    call: Call<Administrator>,
    params: TestWelcomeParams,
) -> ApiResult<Reply<TestMessage>> {
    let text = params.welcome_message_custom_text.into_inner();
    Reply::data(&TestMessage { message_id: welcome::send(&call.app, call.caller.user_id, &text).await? })
}

/// Parameters of `POST /realm/deactivate`.
#[derive(Deserialize)]
pub struct DeactivateParams {
    /// The number of days until the organization's data is deleted. Only null, for never, is accepted.
    deletion_delay_days: Option<i64>,
    /// Accepted and ignored: the reason for the deactivation.
    #[serde(rename = "deactivation_reason")]
    _deactivation_reason: Option<String>,
}

/// `POST /realm/deactivate`: deactivates the organization, so that no user can log in. Nothing is deleted. The command
/// `teamchat organization reactivate` reverts it.
fn deactivate(tx: &mut Tx<'_>, caller: &Owner, params: DeactivateParams) -> ApiResult<Reply> {
    if params.deletion_delay_days.is_some() {
        let msg =
            "This server does not delete the data of an organization. Its operator can delete the file.";
        return Err(ApiError::bad_request(msg));
    }
    let name = rows::user::by_id(tx, caller.user_id)?.map(|owner| owner.full_name);
    mail::letters::organization_deactivated(tx, name.as_deref())?;
    realm::events::set_deactivated(tx, true)?;
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
