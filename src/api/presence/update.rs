//! `POST /users/me/presence`.

use crate::domain::presence::rules::Status;
use crate::domain::presence::state::Wanted;
use crate::domain::presence::{change, state};
use crate::http::{ApiError, ApiResult, Call, Reply, User};
use serde::Deserialize;

/// Parameters of `POST /users/me/presence`.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// `active` or `idle`.
    status: String,
    /// Whether the client only reports.
    #[serde(default)]
    ping_only: bool,
    /// Accepted for clients of the published server, which counts it; nothing is counted here.
    #[serde(default, rename = "new_user_input")]
    _new_user_input: bool,
    /// The last update that the client has. Whoever says it gets the modern form.
    #[serde(default)]
    last_update_id: Option<i64>,
    /// How far back to answer, in days.
    #[serde(default)]
    history_limit_days: Option<i64>,
    /// The modern form, for clients that do not know of updates.
    #[serde(default)]
    slim_presence: bool,
}

/// `POST /users/me/presence`: reports the caller's presence and answers the others'.
pub async fn update_presence(call: Call<User>, params: UpdateParams) -> ApiResult<Reply> {
    if call.caller.is_bot() {
        return Err(ApiError::bad_request("This endpoint does not accept bot requests."));
    }
    let status = Status::from_word(&params.status)
        .ok_or_else(|| ApiError::bad_request(format!("Invalid status: {}", params.status)))?;
    let now = call.app.clock.seconds();
    let caller = &call.caller;
    // Most reports say what is known: they do not trouble the writer.
    let is_news = call
        .app
        .readers
        .read(|snapshot| change::is_worth_a_job(snapshot, caller.user_id, status, now))
        .await?;
    if is_news {
        let user_id = caller.user_id;
        call.app.writer.run(move |tx| change::report(tx, user_id, status)).await?;
    }
    if params.ping_only {
        return Ok(Reply::ok());
    }
    let wanted = Wanted {
        last_update_id: params.last_update_id,
        history_limit_days: params.history_limit_days,
        is_slim: params.slim_presence || params.last_update_id.is_some(),
    };
    let milliseconds = call.app.clock.milliseconds();
    let found = call.app.readers.read(|snapshot| state::load(snapshot, caller, wanted, milliseconds)).await?;
    Reply::data(&found)
}
