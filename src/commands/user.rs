//! `user rename`, `user email`, `user delete` and `user session end --all`.

use super::operator::as_operator;
use super::purge::{Purge, remove_personal};
use crate::app::App;
use crate::domain::accounts::deactivation::{Job, Part};
use crate::domain::accounts::{deactivation, delete};
use crate::domain::limits::Accounts;
use crate::domain::purge::Kind;
use crate::domain::rows::user::UserRow;
use crate::domain::users::{emails, names};
use crate::domain::{accounts, bots, logins, rows, users};
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{Role, UserId};
use rusqlite::Connection;
use serde_json::{Value, json};

/// Gives an account another display name.
pub(super) fn rename(tx: &mut Tx<'_>, email: &str, full_name: &str) -> ApiResult<()> {
    let user = find_user(tx, email)?;
    accounts::change::set_full_name(tx, &user, full_name)
}

/// Gives an account another real email.
pub(super) fn set_email(tx: &mut Tx<'_>, email: &str, new_email: &str) -> ApiResult<()> {
    let (user, new_email) = (find_user(tx, email)?, new_email.trim());
    if !names::is_new_email(new_email) {
        return Err(ApiError::bad_request(format!("'{new_email}' is not an email address")));
    }
    if let Some(msg) = emails::find_conflict(tx, &user, new_email)? {
        return Err(ApiError::bad_request(format!("{new_email}: {msg}")));
    }
    emails::change(tx, &user, new_email)
}

/// Deletes an account with its personal texts, and ends its event queues. Returns the counts of the content that stays.
pub(super) async fn delete(app: &App, email: String) -> ApiResult<Value> {
    let user_id = find_user_id(app, &email).await?;
    let kinds = vec![Kind::Messages, Kind::Files, Kind::Channels, Kind::Emoji, Kind::Groups];
    let counting = Purge { email: email.clone(), kinds, invited: false, place: None };
    let kept = counting.run(app, user_id).await?.counts;
    let choose = move |tx: &Tx<'_>| -> ApiResult<Option<UserRow>> {
        let user = find_user(tx, &email)?;
        check_is_not_only_owner(tx, &user, "Cannot delete the only organization owner")?;
        Ok(Some(user))
    };
    let end = |tx: &mut Tx<'_>, user: &UserRow| {
        remove_personal(tx, &[user.user_id], 0)?;
        delete::delete(tx, user)
    };
    deactivation::deactivate_with_bots(choose, end, |job| run_as_operator(app, job)).await?;
    Ok(json!({ "user_id": user_id, "full_name": delete::name_of_deleted(user_id), "kept": kept }))
}

/// Ends all API keys and sessions of an account.
pub(super) fn end_sessions(tx: &mut Tx<'_>, email: &str) -> ApiResult<()> {
    let user_id = find_user(tx, email)?.user_id;
    logins::end_all(tx, user_id)?;
    bots::change::clear_revoked_key(tx, user_id)
}

/// Lists the emails of a person and of the new accounts that came by their invitations, and deactivates them unless it is a
/// dry run.
pub(super) async fn deactivate_invited(app: &App, email: String, dry_run: bool) -> ApiResult<Vec<String>> {
    let now = app.clock.seconds();
    let people = app.readers.read(move |snapshot| -> ApiResult<Vec<String>> {
        let person = find_user(snapshot, &email)?.user_id;
        let accounts = Accounts::of_person(snapshot, person, now, true)?;
        let mut people = Vec::new();
        for user_id in accounts.user_ids() {
            let user = rows::user::by_id(snapshot, *user_id)?;
            let user = user.filter(|user| user.is_active && (!user.is_bot() || user.user_id == person));
            people.extend(user.map(|user| user.delivery_email));
        }
        Ok(people)
    });
    let people = people.await?;
    if dry_run {
        return Ok(people);
    }
    for email in people.clone() {
        deactivate(app, email).await?;
    }
    Ok(people)
}

/// Deactivates a user and their bots. Returns false if the user was deactivated before.
pub(super) async fn deactivate(app: &App, email: String) -> ApiResult<bool> {
    let choose = move |tx: &Tx<'_>| -> ApiResult<Option<UserRow>> {
        let user = find_user(tx, &email)?;
        check_is_not_only_owner(tx, &user, "Cannot deactivate the only organization owner")?;
        Ok(Some(user).filter(|user| user.is_active))
    };
    let run_first = |job| run_as_operator(app, job);
    deactivation::deactivate_with_bots(choose, deactivation::deactivate, run_first).await
}

async fn run_as_operator(app: &App, job: Job) -> ApiResult<Part> {
    app.writer.run(move |tx: &mut Tx<'_>| as_operator(tx, job)).await
}

/// Refuses with this text if a user is the only active owner of the organization.
pub(super) fn check_is_not_only_owner(tx: &Tx<'_>, user: &UserRow, refusal: &'static str) -> ApiResult<()> {
    if users::is_only_owner(tx, user)? { Err(ApiError::bad_request(refusal)) } else { Ok(()) }
}

/// The id of the account with this email.
pub(super) async fn find_user_id(app: &App, email: &str) -> ApiResult<UserId> {
    app.readers.read(|snapshot| find_user(snapshot, email).map(|user| user.user_id)).await
}

pub(super) fn find_user(connection: &Connection, email: &str) -> ApiResult<UserRow> {
    if !names::is_email(email) {
        return Err(ApiError::bad_request(format!("'{email}' is not an email address")));
    }
    let user = users::by_delivery_email(connection, email)?.filter(|user| !user.is_system_bot);
    user.ok_or_else(|| ApiError::bad_request(format!("No user has the email '{email}'")))
}

/// The person with this email, who is to own a bot. Fails with 400 if that is no active person.
pub(super) fn find_bot_owner(tx: &Tx<'_>, email: &str) -> ApiResult<UserRow> {
    let owner = users::by_delivery_email(tx, email)?.filter(|owner| owner.is_active && !owner.is_bot());
    owner.ok_or_else(|| ApiError::bad_request(format!("No active person has the email '{email}'")))
}

/// The active owner of the organization with the lowest id.
pub(super) fn first_owner(connection: &Connection) -> ApiResult<Option<UserRow>> {
    let mut users = users::all(connection)?.into_iter();
    Ok(users.find(|user| user.role == Role::Owner && user.is_active && !user.is_bot()))
}
