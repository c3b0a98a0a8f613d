//! Passwords reset by a link, of an administrator or by mail, and by the operator's commands.

use crate::auth::Caller;
use crate::auth::credentials::digest;
use crate::domain::audit::{Action, Entry};
use crate::domain::mail::{Kind, letters};
use crate::domain::notices::security::PasswordSetBy;
use crate::domain::rows::user::UserRow;
use crate::domain::{logins, mail, notices, realm, rows, users};
use crate::error::{ApiError, ApiResult, ok_unless_refused};
use crate::smtp::is_address;
use crate::store::{ExecuteCached, Tx};
use crate::types::{Role, UserId, is_valid_until, random_key};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

/// Validity of a link in seconds: a day.
const RESET_VALIDITY: i64 = 24 * 60 * 60;

/// Checks that a caller may reset the password of a user: an administrator, of people, and only an owner that of an owner.
fn check_may_reset(caller: &Caller, user: &UserRow) -> ApiResult<()> {
    if user.is_bot() {
        return Err(users::find::no_such_user());
    }
    user.check_is_active()?;
    caller.check_is_administrator()?;
    if user.role == Role::Owner {
        caller.check_is_owner()?;
    }
    Ok(())
}

/// Checks that people log in with passwords. Otherwise no password is set for anyone.
pub fn check_is_enabled(connection: &Connection) -> ApiResult<()> {
    if realm::settings::PASSWORD_AUTH_ENABLED.get(connection)? {
        return Ok(());
    }
    Err(ApiError::bad_request("Password authentication is disabled in this organization"))
}

/// Creates the secret part of a link with which a user sets a new password. Returns it with the time of its expiry, in UNIX
/// seconds. An earlier link of the user stops working.
pub fn create_reset(tx: &Tx<'_>, caller: &Caller, user: &UserRow) -> ApiResult<(String, i64)> {
    check_may_reset(caller, user)?;
    check_is_enabled(tx)?;
    tx.audit(Entry::new(Action::PasswordLinkCreated, user.user_id))?;
    insert_reset(tx, user.user_id, caller.user_id)
}

/// A link with which a person sets a password.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PasswordLink {
    /// The person's real email.
    pub email: String,
    /// The path, below the address of the server; `None` for a link that was sent by mail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Creates links for all active people, or for those without a password, in the name of the first owner. Those `by_mail` are sent,
/// unless no mail can be sent to the address, such as a placeholder. Fails with 400 without an active owner, if this server sends no
/// mail, or while too many emails wait.
pub fn create_links(tx: &mut Tx<'_>, for_all: bool, by_mail: bool) -> ApiResult<Vec<PasswordLink>> {
    check_is_enabled(tx)?;
    if by_mail && !mail::is_on(tx)? {
        return Err(ApiError::bad_request(
            "this server sends no mail: start it with --smtp-url and --mail-from",
        ));
    }
    let mut people = users::all(tx)?;
    people.retain(|user| user.is_active && !user.is_bot());
    let owner = people.iter().find(|user| user.role == Role::Owner);
    let owner = owner.ok_or_else(|| ApiError::bad_request("the organization has no active owner"))?;
    let owner = rows::user::caller(tx, owner.user_id)?;
    let mut links = Vec::new();
    for user in people {
        if !for_all && users::password_hash(tx, user.user_id)?.is_some() {
            continue;
        }
        let email = &user.delivery_email;
        let path = if by_mail && is_address(email) && !email.ends_with(".invalid") {
            if !mail::outbox::has_room(tx, Kind::PasswordLink.priority())? {
                return Err(ApiError::bad_request("too many emails are waiting for the mail server"));
            }
            let (key, expires) = create_reset_by_mail(tx, &user)?;
            letters::password_reset(tx, &user, &key, expires, false)?;
            None
        } else {
            let (key, _) = create_reset(tx, &owner, &user)?;
            Some(format!("/join/password/{key}/"))
        };
        links.push(PasswordLink { email: user.delivery_email, path });
    }
    Ok(links)
}

/// Creates the secret part of a link as [`create_reset`], but for the address of a user who forgot the password, which needs no
/// permission.
pub fn create_reset_by_mail(tx: &Tx<'_>, user: &UserRow) -> ApiResult<(String, i64)> {
    tx.audit(Entry::new(Action::PasswordLinkCreated, user.user_id))?;
    insert_reset(tx, user.user_id, user.user_id)
}

fn insert_reset(tx: &Tx<'_>, user_id: UserId, created_by: UserId) -> ApiResult<(String, i64)> {
    let key = random_key();
    let expires = tx.now() + RESET_VALIDITY;
    letters::withdraw_password_reset(tx, user_id)?;
    tx.execute_cached(
        "INSERT OR REPLACE INTO password_reset (user_id, digest, created_by, expires)
         VALUES (?1, ?2, ?3, ?4)",
        (user_id, digest(&key), created_by, expires),
    )?;
    Ok((key, expires))
}

/// A valid link.
pub struct Reset {
    /// The user whose password it sets.
    pub user: UserRow,
    /// The administrator who made it; the user, if it came by mail.
    pub created_by: UserId,
}

/// Loads the user whose password a link sets. The link works once, until it expires, while the organization is active and people
/// log in with passwords, and while the administrator who created it may reset the password.
pub fn find_by_reset_key(connection: &Connection, key: &str, now: i64) -> ApiResult<Option<Reset>> {
    let found: Option<(UserId, UserId, i64)> = connection
        .prepare_cached("SELECT user_id, created_by, expires FROM password_reset WHERE digest = ?1")?
        .query_row([digest(key)], |row| row.try_into())
        .optional()?;
    let valid = found.filter(|(.., expires)| is_valid_until(*expires, now, RESET_VALIDITY));
    let Some((user_id, created_by, _)) = valid else { return Ok(None) };
    if realm::is_deactivated(connection)? || !realm::settings::PASSWORD_AUTH_ENABLED.get(connection)? {
        return Ok(None);
    }
    let Some(user) = rows::user::by_id(connection, user_id)? else { return Ok(None) };
    if created_by == user_id {
        let is_open = user.is_active && !user.is_bot();
        return Ok(is_open.then_some(Reset { user, created_by }));
    }
    let Some(creator) = ok_unless_refused(rows::user::caller(connection, created_by))? else {
        return Ok(None);
    };
    Ok(ok_unless_refused(check_may_reset(&creator, &user))?.map(|()| Reset { user, created_by }))
}

/// True if a user's stored hash is still the one that a password was verified against. Passwords are verified before a
/// job, and the job checks this: another job may have set a new password in the meantime.
pub fn is_current(connection: &Connection, user_id: UserId, verified_hash: Option<&str>) -> ApiResult<bool> {
    Ok(users::password_hash(connection, user_id)?.as_deref() == verified_hash)
}

/// Sets a password on behalf of another person. Ends the reset links for the user, all their API keys and sessions, and what was
/// requested with them ([`logins::end_all`]), and notifies them.
pub fn set(tx: &mut Tx<'_>, user: &UserRow, hash: &str, by: PasswordSetBy) -> ApiResult<()> {
    users::set_password(tx, user.user_id, hash)?;
    delete_resets(tx, user.user_id)?;
    let lost_addresses = logins::end_all(tx, user.user_id)?;
    logins::known::forget(tx, user.user_id)?;
    tx.audit(Entry::new(Action::PasswordSet, user.user_id))?;
    notices::security::password_set(tx, user.user_id, by, lost_addresses)
}

/// Sets the password that a user chose. Ends the reset links for the user, all their other API keys and sessions, and what was
/// requested with them ([`logins::end_others`]), and notifies them.
pub fn change_own(tx: &mut Tx<'_>, caller: &Caller, hash: &str) -> ApiResult<()> {
    users::set_password(tx, caller.user_id, hash)?;
    delete_resets(tx, caller.user_id)?;
    let lost_addresses = logins::end_others(tx, caller)?;
    logins::known::forget(tx, caller.user_id)?;
    tx.audit(Entry::new(Action::PasswordSet, caller.user_id))?;
    notices::security::password_set(tx, caller.user_id, PasswordSetBy::Oneself, lost_addresses)
}

/// Ends what gives access to an account whose address was never proven: the password, all API keys and sessions, and links. Called
/// when a provider proves the address of another person, for whom someone else may have made the account.
pub fn end_unproven(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    if users::password_hash(tx, user_id)?.is_some() {
        users::delete_password(tx, user_id)?;
        tx.audit(Entry::new(Action::PasswordDeleted, user_id))?;
    }
    delete_resets(tx, user_id)?;
    logins::end_all(tx, user_id)?;
    logins::known::forget(tx, user_id)
}

/// Ends the link that sets a user's password, and the links that the user made for others, as required by every change of the
/// password, role or activity: a link of another time may be in wrong hands.
pub fn delete_resets(tx: &Tx<'_>, user_id: UserId) -> rusqlite::Result<()> {
    letters::withdraw_password_reset(tx, user_id)?;
    tx.execute_cached("DELETE FROM password_reset WHERE user_id = ?1 OR created_by = ?1", [user_id])
}
