//! `DELETE /users/{user_id}`, `DELETE /users/me` and `POST /users/{user_id}/reactivate`.

use crate::domain::access::channels::Viewer;
use crate::domain::accounts::deactivation;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::notices::ownership::Actor;
use crate::domain::rows::user::UserRow;
use crate::domain::users::names;
use crate::domain::{access, bots, mail, users};
use crate::http::params::{BoundedText, NoParams};
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::store::{StoreError, Tx};
use crate::types::{Role, UserId};
use serde::Deserialize;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Parameters of `DELETE /users/{user_id}`.
#[derive(Deserialize)]
pub struct DeactivateUserParams {
    /// The person to deactivate.
    user_id: UserId,
    /// The comment in the email that informs the user, at most 2000 characters. It may be empty. Without this parameter, no email
    /// is sent. It has no effect if this server does not send email.
    deactivation_notification_comment: Option<BoundedText<MAX_COMMENT>>,
}

/// The longest comment, in characters.
const MAX_COMMENT: usize = 2000;

/// `DELETE /users/{user_id}`: deactivates a person and their bots, and informs them by mail if a comment is given.
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

/// The result of one job of a deactivation.
struct Part {
    /// The users that it deactivated.
    deactivated: Vec<UserId>,
    /// True if the user is among them, and not only bots.
    is_last: bool,
}

/// Deactivates the user that `choose` returns, who gets a mail with the comment, and ends their pending polls. Bots are
/// deactivated before their owner, in as many jobs as it takes: each may be in hundreds of channels.
async fn deactivate(
    call: Call<User>,
    comment: Option<String>,
    choose: impl Fn(&Tx<'_>, &Caller) -> ApiResult<UserRow> + Send + 'static,
) -> ApiResult<Reply> {
    let app = Arc::clone(&call.app);
    let (sender, mut later) = mpsc::unbounded_channel();
    let first = move |tx: &mut Tx<'_>, caller: &User| {
        deactivate_some(tx, Caller::clone(caller), comment, choose, sender)
    };
    let mut part = call.write(first).await?;
    loop {
        app.hub.remove_of(&part.deactivated);
        if part.is_last {
            return Ok(Reply::ok());
        }
        part = later.recv().await.ok_or(StoreError::Stopped)??;
    }
}

/// Deactivates some bots of the user, and then the user if there is time. Follow-up jobs do the rest, even if the client is gone,
/// and send what they did.
fn deactivate_some(
    tx: &mut Tx<'_>,
    mut caller: Caller,
    comment: Option<String>,
    choose: impl Fn(&Tx<'_>, &Caller) -> ApiResult<UserRow> + Send + 'static,
    sender: mpsc::UnboundedSender<ApiResult<Part>>,
) -> ApiResult<Part> {
    let user = choose(tx, &caller)?;
    let mut budget = tx.budget("deactivate");
    let mut deactivated = deactivation::deactivate_bots(tx, &mut budget, &user)?;
    if budget.next_step() {
        if let Some(comment) = comment {
            mail::letters::account_deactivated(tx, &user, comment.trim())?;
        }
        deactivated.extend(deactivation::deactivate(tx, &user)?);
        return Ok(Part { deactivated, is_last: true });
    }
    let results = sender.clone();
    tx.then_report(
        move |tx| {
            caller.reload(tx)?;
            deactivate_some(tx, caller, comment, choose, sender)
        },
        move |result| {
            // The client may be gone.
            let _gone = results.send(result);
        },
    );
    Ok(Part { deactivated, is_last: false })
}

/// Parameters of `POST /users/{user_id}/reactivate`.
#[derive(Deserialize)]
pub struct ReactivateUserParams {
    /// The person or bot to reactivate.
    user_id: UserId,
}

/// `POST /users/{user_id}/reactivate`: reactivates a person or bot, whose earlier keys and sessions end. Owners are
/// reactivated by owners. Does nothing for an active one.
pub fn reactivate_user(tx: &mut Tx<'_>, caller: &User, params: ReactivateUserParams) -> ApiResult<Reply> {
    let user = users::find::by_id(tx, params.user_id)?;
    if user.is_system_bot {
        return Err(users::find::no_such_user());
    }
    users::rules::check_may_administer(caller, &user)?;
    if user.is_active {
        return Ok(Reply::ok());
    }
    if user.role == Role::Owner && caller.role != Role::Owner {
        return Err(ApiError::owners_only());
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
