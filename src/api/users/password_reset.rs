//! `POST /users/{user_id}/password_reset`: an administrator creates a link for setting a new password. Not part
//! of the published interface, whose server sends such links by email.

use crate::domain::accounts::password;
use crate::domain::users;
use crate::http::{Administrator, ApiResult, Call, Reply};
use crate::types::UserId;
use serde::{Deserialize, Serialize};

/// Parameters of `POST /users/{user_id}/password_reset`.
#[derive(Deserialize)]
pub struct ResetParams {
    /// The id of a person who has forgotten their password.
    user_id: UserId,
}

/// The reply to `POST /users/{user_id}/password_reset`.
#[derive(Serialize)]
pub struct ResetLink {
    /// The URL of the page on which the person sets a new password. It works once.
    pub password_reset_link: String,
    /// When the link expires, in UNIX seconds.
    pub expiry_date: i64,
}

/// `POST /users/{user_id}/password_reset`: creates a link with which a person sets a new password. Nothing changes
/// until the link is used; then all API keys and sessions of the person end.
pub async fn create_reset_link(
    call: Call<Administrator>,
    params: ResetParams,
) -> ApiResult<Reply<ResetLink>> {
    let origin = call.info.origin.clone();
    call.write(move |tx, caller| {
        let user = users::find::by_id(tx, params.user_id)?;
        let (key, expires) = password::create_reset(tx, caller, &user)?;
        let link = format!("{origin}/join/password/{key}/");
        Reply::data(&ResetLink { password_reset_link: link, expiry_date: expires })
    })
    .await
}
