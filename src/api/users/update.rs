//! `PATCH /users/{user_id}` and `PATCH /users/{email}`: an administrator changes an account.

use crate::domain::accounts::role;
use crate::domain::audit::{Action, Entry};
use crate::domain::notices::ownership::Actor;
use crate::domain::profile_values::change::{RenderedChanges, ValueChange};
use crate::domain::rows::user::UserRow;
use crate::domain::users::{emails, names};
use crate::domain::{accounts, bots, profile_values, users};
use crate::http::params::Trimmed;
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::store::Tx;
use crate::types::Role;
use rusqlite::Connection;
use serde::Deserialize;

/// Parameters of `PATCH /users/{user_id}` and `PATCH /users/{email}`.
#[derive(Deserialize)]
pub struct UpdateUserParams {
    /// The user's id or email.
    user_id_or_email: String,
    /// The new display name, at most 100 characters. A blank one changes nothing.
    full_name: Option<String>,
    /// The new role: 100 for owners, 200 for administrators, 300 for moderators, 400 for members, 600 for guests. Only
    /// owners may grant or remove the owner role. The only owner keeps it.
    role: Option<Role>,
    /// New values of custom profile fields, at most 100. Other fields keep their values.
    profile_data: Option<Vec<ValueChange>>,
    /// The new real email. Only for owners.
    new_email: Option<Trimmed>,
}

/// `PATCH /users/{user_id}` and `PATCH /users/{email}`: changes a person or a bot, active or not.
pub async fn update_user(call: Call<User>, params: UpdateUserParams) -> ApiResult<Reply> {
    let mut params = params;
    let values = match params.profile_data.take() {
        Some(changes) => {
            call.app.readers.read(|snapshot| check(snapshot, &call.caller, &params)).await?;
            Some(profile_values::change::render(&call.app, &call.caller, changes).await?)
        }
        None => None,
    };
    call.write(move |tx, caller| apply(tx, caller, &params, values)).await?;
    Ok(Reply::ok())
}

/// Finds the user and checks that the caller may change them.
fn check(connection: &Connection, caller: &Caller, params: &UpdateUserParams) -> ApiResult<UserRow> {
    let user = users::find::by_id_or_email(connection, caller, &params.user_id_or_email)?;
    if user.is_system_bot {
        return Err(users::find::no_such_user());
    }
    users::rules::check_may_administer(caller, &user)?;
    Ok(user)
}

fn apply(
    tx: &mut Tx<'_>,
    caller: &Caller,
    params: &UpdateUserParams,
    values: Option<RenderedChanges>,
) -> ApiResult<()> {
    let user = check(tx, caller, params)?;
    if params.new_email.is_some() && caller.role != Role::Owner {
        return Err(ApiError::bad_request("User not authorized to change user emails"));
    }
    if let Some(wanted) = params.role
        && wanted != user.role
    {
        users::rules::check_role(caller.role, user.role, wanted, users::is_only_owner(tx, &user)?)?;
        if user.is_bot() {
            bots::rules::check_role(tx, wanted, user.bot_owner_id)?;
        }
        role::change(tx, &user, wanted, Actor::User(caller.user_id))?;
    }
    // `name_changes_disabled` does not apply to administrators.
    if let Some(full_name) = &params.full_name
        && !full_name.trim().is_empty()
    {
        accounts::change::set_full_name(tx, &user, full_name)?;
    }
    if let Some(values) = values {
        if user.is_bot() {
            return Err(ApiError::bad_request("Bots have no profile fields."));
        }
        tx.audit(Entry::new(Action::ProfileChanged, user.user_id))?;
        profile_values::change::set(tx, caller, user.user_id, values)?;
    }
    if let Some(new_email) = &params.new_email
        && **new_email != user.delivery_email
    {
        change_email(tx, &user, new_email)?;
    }
    Ok(())
}

fn change_email(tx: &mut Tx<'_>, user: &UserRow, new_email: &str) -> ApiResult<()> {
    if !names::is_new_email(new_email) {
        return Err(ApiError::bad_request("Invalid new email address."));
    }
    if let Some(msg) = emails::find_conflict(tx, user, new_email)? {
        return Err(ApiError::bad_request(format!("New email value error: {msg}")));
    }
    emails::change(tx, user, new_email)
}
