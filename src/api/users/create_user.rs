//! `POST /users`: an administrator makes an account for somebody.

use crate::domain::accounts::create::{NewUser, check, create_at};
use crate::domain::domains::may_join;
use crate::domain::realm::bot_domain;
use crate::domain::users::passwords;
use crate::http::{Administrator, ApiError, ApiResult, Call, Reply};
use crate::store::Tx;
use crate::types::Role;
use rusqlite::Connection;
use serde::Deserialize;

/// Parameters of `POST /users`.
#[derive(Deserialize)]
pub struct CreateUserParams {
    /// The real email.
    email: String,
    /// What the user logs in with.
    password: String,
    /// The name shown.
    full_name: String,
}

/// `POST /users`: makes a member, who can log in with the password, and answers `user_id`.
///
/// The published server asks for a permission that only its operator gives, since it also hosts organizations of
/// others. Here the operator made the administrators, or those who made them.
pub async fn create_user(call: Call<Administrator>, params: CreateUserParams) -> ApiResult<Reply> {
    let CreateUserParams { email, password, full_name } = params;
    call.app.readers.read(|snapshot| check_whole(snapshot, &email, &full_name)).await?;
    if !passwords::is_allowed(&password) {
        return Err(ApiError::bad_request("The password is too weak."));
    }
    let password_hash = Some(passwords::hash_apart(password).await?);
    let domain = bot_domain(&call.info.origin);
    let new = NewUser { email, full_name, role: Role::Member, bot: None, password_hash };
    let job = move |tx: &mut Tx<'_>, _: &Administrator| {
        check_whole(tx, &new.email, &new.full_name)?;
        create_at(tx, &new, &domain)
    };
    Reply::field("user_id", &call.write(job).await?.user_id)
}

/// What may be called like this, and whose email may be in the organization.
fn check_whole(connection: &Connection, email: &str, full_name: &str) -> ApiResult<()> {
    let (_, email) = check(connection, email, full_name)?;
    may_join(connection, &email)?.map_err(|refusal| ApiError::bad_request(refusal.of_new_user(&email)))
}
