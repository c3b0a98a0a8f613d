//! `DELETE /users/{user_id}`, `DELETE /users/me` and `POST /users/{user_id}/reactivate`.

use crate::domain::access::channels::Viewer;
use crate::domain::accounts::deactivation;
use crate::domain::accounts::deactivation::Job;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::notices::ownership::Actor;
use crate::domain::rows::user::UserRow;
use crate::domain::users::names;
use crate::domain::{access, bots, mail, users};
use crate::http::params::{BoundedText, NoParams};
use crate::http::{ApiResult, Call, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{Role, UserId};
use serde::Deserialize;

/// Parameters of `DELETE /users/{user_id}`.
#[derive(Deserialize)]
pub struct DeactivateUserParams {
    /// The id of the person to deactivate.
    user_id: UserId,
    /// A comment for the email that informs the person, at most 2000 characters; may be empty. Without it, no email is
    /// sent. No effect if the server does not send email.
    deactivation_notification_comment: Option<BoundedText<MAX_COMMENT>>,
}

/// The longest comment, in characters.
const MAX_COMMENT: usize = 2000;

/// `DELETE /users/{user_id}`: deactivates a person and their bots.
pub async fn deactivate_user(call: Call<User>, params: DeactivateUserParams) -> ApiResult<Reply> {
    let comment = params.deactivation_notification_comment.map(BoundedText::into_inner);
    deactivate(call, comment, move |tx, caller| {
        let user = users::find::by_id(tx, params.user_id)?;
        // Bots are deactivated with `DELETE /bots/{bot_id}`.
        if user.is_bot() {
            return Err(users::find::no_such_user());
        }
        user.check_is_active()?;
        let (_, owners) = users::count_people(tx)?;
        users::rules::check_deactivation(caller, &user, owners)?;
        Ok(user)
    })
    .await
}

/// `DELETE /users/me`: deactivates the caller and their bots.
pub async fn deactivate_own_user(call: Call<User>, _params: NoParams) -> ApiResult<Reply> {
    deactivate(call, None, |tx, caller| {
        let (people, owners) = users::count_people(tx)?;
        if !caller.is_bot() {
            users::rules::check_own_deactivation(caller, people, owners)?;
        }
        users::find::by_id(tx, caller.user_id)
    })
    .await
}

/// Deactivates the user that `choose` returns, who gets a mail with the comment, and their bots.
async fn deactivate(
    call: Call<User>,
    comment: Option<String>,
    choose: impl Fn(&Tx<'_>, &Caller) -> ApiResult<UserRow> + Send + 'static,
) -> ApiResult<Reply> {
    let mut caller = Caller::clone(&call.caller);
    let choose = move |tx: &Tx<'_>| {
        // It may have changed between two jobs.
        caller.reload(tx)?;
        choose(tx, &caller).map(Some)
    };
    let end = move |tx: &mut Tx<'_>, user: &UserRow| {
        if let Some(comment) = comment {
            mail::letters::account_deactivated(tx, user, comment.trim())?;
        }
        deactivation::deactivate(tx, user)
    };
    let run_first = |job: Job| call.write(move |tx, _caller| job(tx));
    deactivation::deactivate_with_bots(choose, end, run_first).await?;
    Ok(Reply::ok())
}

/// Parameters of `POST /users/{user_id}/reactivate`.
#[derive(Deserialize)]
pub struct ReactivateUserParams {
    /// The id of the person or bot to reactivate.
    user_id: UserId,
}

/// `POST /users/{user_id}/reactivate`: reactivates a person or bot, whose earlier API keys and sessions stay invalid.
/// Only owners can reactivate owners. Nothing happens if the account is active.
pub fn reactivate_user(tx: &mut Tx<'_>, caller: &User, params: ReactivateUserParams) -> ApiResult<Reply> {
    let user = users::find::by_id(tx, params.user_id)?;
    if user.is_system_bot {
        return Err(users::find::no_such_user());
    }
    users::rules::check_may_administer(caller, &user)?;
    if user.is_active {
        return Ok(Reply::ok());
    }
    if user.role == Role::Owner {
        caller.check_is_owner()?;
    }
    if user.is_bot() {
        // It would become the caller's.
        if !deactivation::has_active_owner(tx, &user)? {
            bots::rules::check_fully_administers(tx, caller, &user)?;
        }
        let viewer = Viewer::new(tx.ctx(caller));
        access::permissions::require(&viewer, RealmGroup::CanCreateBots)?;
        if !caller.role.is_administrator() {
            bots::rules::check_active_number(tx, user.user_id, tx.now())?;
        }
    }
    names::check_unique(tx, &user.full_name, Some(user.user_id))?;
    deactivation::reactivate(tx, &user, Actor::User(caller.user_id))?;
    Ok(Reply::ok())
}
