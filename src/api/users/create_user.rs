//! `POST /users`: an administrator creates an account.

use crate::domain::accounts::create::{NewUser, check_new_user, create_with_domain};
use crate::domain::allowed_domains::check_may_join;
use crate::domain::notices;
use crate::domain::realm::bot_domain;
use crate::domain::users::passwords;
use crate::domain::users::passwords::OnBehalfOf;
use crate::http::{Administrator, ApiError, ApiResult, Call, Reply};
use crate::store::Tx;
use crate::types::{Language, Role, UserId};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// Parameters of `POST /users`.
#[derive(Deserialize)]
pub struct CreateUserParams {
    /// The real email, with which the user logs in. It must be allowed to join, and not be taken.
    email: String,
    /// The password, 6 to 100 characters.
    password: String,
    /// The display name, at most 100 characters. Names are unique if the organization requires it.
    full_name: String,
}

/// The reply to `POST /users`.
#[derive(Serialize)]
pub struct CreatedUser {
    /// The id of the new user.
    pub user_id: UserId,
}

/// `POST /users`: creates a member who can log in with the password, and returns their id.
// The published server requires a permission that only its operator can grant, because it may host several
// organizations. This server has one, and its operator trusts the administrators.
pub async fn create_user(
    call: Call<Administrator>,
    params: CreateUserParams,
) -> ApiResult<Reply<CreatedUser>> {
    let CreateUserParams { email, password, full_name } = params;
    call.app.readers.read(|snapshot| check_account(snapshot, &email, &full_name)).await?;
    if !passwords::has_allowed_length(&password) {
        return Err(ApiError::bad_request("The password is too weak."));
    }
    let password_hash = Some(
        passwords::hash_async(&call.app.pools, OnBehalfOf::User(call.caller.quota_owner()), password).await?,
    );
    let domain = bot_domain(call.app.options.public_url.as_deref());
    let new = NewUser { email, full_name, role: Role::Member, bot: None, password_hash };
    let job = move |tx: &mut Tx<'_>, _: &Administrator| {
        check_account(tx, &new.email, &new.full_name)?;
        let user = create_with_domain(tx, &new, &domain)?;
        notices::welcome::greet(tx, &user, None)?;
        Ok(user)
    };
    Reply::data(&CreatedUser { user_id: call.write(job).await?.user_id })
}

/// Checks the name and the email, and that the email's domain may join.
fn check_account(connection: &Connection, email: &str, full_name: &str) -> ApiResult<()> {
    let (_, email) = check_new_user(connection, email, full_name, false)?;
    check_may_join(connection, &email)?
        .map_err(|refusal| ApiError::bad_request(refusal.reason_for_new_user(Language::English, &email)))
}
