//! Real emails: their visibility, dummy emails, and changes.
//!
//! Every user has two emails on the wire. `delivery_email` is the real one, null for users who may not see it. `email`,
//! the API email, is always present: it is the real one if everyone may see that, else a dummy email like `user7@...`.

use crate::domain::audit::{Action, Entry};
use crate::domain::realm::DUMMY_DOMAIN;
use crate::domain::rows::user::UserRow;
use crate::domain::users::events::{UserChange, UserUpdated, split_by_visibility};
use crate::domain::users::names;
use crate::domain::{access, rows, users};
use crate::error::{ApiError, ApiResult};
use crate::events::Audience;
use crate::store::{ExecuteCached, Tx};
use crate::types::{EmailVisibility, Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde_json::Value;
use std::collections::HashSet;

/// The emails of a list, each once, without blank ones. It is read up to the first that is one too many: a request has room for hundreds
/// of thousands.
pub fn distinct<'a>(emails: impl Iterator<Item = &'a str>, most: usize) -> Vec<String> {
    let (mut known, mut distinct) = (HashSet::new(), Vec::new());
    for email in emails.map(str::trim).filter(|email| !email.is_empty()) {
        if known.insert(email.to_ascii_lowercase()) {
            distinct.push(email.to_owned());
        }
        if distinct.len() > most {
            break;
        }
    }
    distinct
}

/// Parses a dummy email, `user7@` followed by [`DUMMY_DOMAIN`] or a domain that dummy emails have or had, into the digits
/// of the user's id. It matches also while the user's real email is visible.
fn parse_dummy(connection: &Connection, email: &str) -> ApiResult<Option<String>> {
    let email = email.trim().to_lowercase();
    let Some((name, domain)) = email.rsplit_once('@') else { return Ok(None) };
    let digits = name.strip_prefix("user").unwrap_or_default();
    let is_form = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_dummy = is_form && (domain == DUMMY_DOMAIN || users::is_dummy_domain(connection, domain)?);
    Ok(is_dummy.then(|| digits.to_owned()))
}

/// Returns the id in a dummy email; of a user who may not exist. `None` for other texts.
pub fn id_in_dummy(connection: &Connection, email: &str) -> ApiResult<Option<UserId>> {
    Ok(parse_dummy(connection, email)?.and_then(|digits| digits.parse().ok()).map(UserId))
}

/// True if an email cannot be used for a new account: it is the real email of another, or the placeholder of an
/// existing or future account. Otherwise messages to one of them would reach the other.
pub fn is_taken(connection: &Connection, email: &str) -> ApiResult<bool> {
    Ok(is_reserved(connection, email)? || holder(connection, email, None)?.is_some())
}

/// True if an email is the placeholder of an existing or future account.
pub fn is_reserved(connection: &Connection, email: &str) -> ApiResult<bool> {
    Ok(parse_dummy(connection, email)?.is_some())
}

/// The user, other than `but`, whose real or API email this is, or looks like it.
fn holder(connection: &Connection, email: &str, but: Option<UserId>) -> ApiResult<Option<UserRow>> {
    let is_other = |user: &UserRow| Some(user.user_id) != but;
    match users::by_delivery_email(connection, email)?.filter(is_other) {
        Some(user) => Ok(Some(user)),
        None => match users::by_email(connection, email)?.filter(is_other) {
            Some(user) => Ok(Some(user)),
            None => Ok(users::by_confusable_email(connection, email, but)?),
        },
    }
}

/// The API email of a user: the real one, or a placeholder of this domain, or of [`DUMMY_DOMAIN`] if another user has
/// that address.
pub fn api_email(connection: &Connection, user: &UserRow, domain: &str) -> ApiResult<String> {
    let of_domain = |domain| user.email_visibility.api_email(user.user_id, &user.delivery_email, domain);
    let email = of_domain(domain);
    let is_free = email == user.delivery_email || holder(connection, &email, Some(user.user_id))?.is_none();
    Ok(if is_free { email } else { of_domain(DUMMY_DOMAIN) })
}

/// Returns why a user cannot take an email that another account has, in the published words; `None` if it is free.
pub fn find_conflict(
    connection: &Connection,
    user: &UserRow,
    new_email: &str,
) -> ApiResult<Option<&'static str>> {
    let other = holder(connection, new_email, Some(user.user_id))?;
    Ok(match other {
        Some(other) if !other.is_active => Some("Account has been deactivated."),
        None if !is_reserved(connection, new_email)? => None,
        _ => Some("Already has an account."),
    })
}

/// Changes a user's real email, and the API email if it is the real one. The caller has checked `new_email`, which is not proven.
pub fn change(tx: &mut Tx<'_>, user: &UserRow, new_email: &str) -> ApiResult<()> {
    let is_shown = user.email_visibility == EmailVisibility::Everyone;
    let api_email = if is_shown { new_email } else { &user.email };
    users::set_emails(tx, user.user_id, api_email, new_email)?;
    users::set_email_proven(tx, user.user_id, false)?;
    end_rights_of_address(tx, user.user_id)?;
    let changed = Entry::new(Action::EmailChanged, user.user_id);
    tx.audit(changed.before(user.delivery_email.as_str()).after(new_email))?;
    let audience = access::users::users_with_access_to(tx, user)?;
    let (who_see, _) = split_by_visibility(tx, user, &audience)?;
    let change = UserChange::DeliveryEmail { delivery_email: Some(new_email.to_owned()) };
    tx.emit(UserUpdated::new(user.user_id, change), Audience::set(who_see));
    if is_shown {
        emit_api_email(tx, user, new_email)?;
    }
    Ok(())
}

/// Ends what came or goes to the former address of a user: links that set the password, the link that would change the address again,
/// addresses at which mails are answered in the user's name, and emails with such links or with messages that wait.
fn end_rights_of_address(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    for statement in [
        "DELETE FROM password_reset WHERE user_id = ?1 AND created_by = ?1",
        "DELETE FROM confirmation WHERE user_id = ?1",
        "DELETE FROM reply_email WHERE user_id = ?1",
        "DELETE FROM outgoing_mail WHERE about IN ('password:' || ?1, 'confirm_email:' || ?1)",
        "DELETE FROM outgoing_mail WHERE user_id = ?1 AND kind IN ('missed_messages', 'digest')",
    ] {
        tx.execute_cached(statement, [user_id])?;
    }
    Ok(())
}

/// Checks `new_email` and changes the real email of the user who asks for it.
pub fn change_own(tx: &mut Tx<'_>, user: &UserRow, new_email: &str) -> ApiResult<()> {
    check_form(new_email)?;
    check_free(tx, user, new_email)?;
    change(tx, user, new_email)
}

/// Checks that a text can be the email of a new account.
pub fn check_form(email: &str) -> ApiResult<()> {
    if names::is_new_email(email) { Ok(()) } else { Err(ApiError::bad_request("Invalid address.")) }
}

/// Checks that no other account has the email that a user wants.
pub fn check_free(connection: &Connection, user: &UserRow, new_email: &str) -> ApiResult<()> {
    find_conflict(connection, user, new_email)?.map_or(Ok(()), |msg| Err(ApiError::bad_request(msg)))
}

/// Updates the API email after a change of `email_address_visibility`, and emits events to the users who gain or lose
/// sight of the real email. `before` is the old value of the setting.
pub fn apply_visibility_change(
    tx: &mut Tx<'_>,
    user_id: UserId,
    before: &Value,
    domain: &str,
) -> ApiResult<()> {
    let before = EmailVisibility::from_code(before.as_i64().unwrap_or_default());
    let user = rows::user::existing(tx, user_id)?;
    let after = user.email_visibility;
    let can_access = access::users::users_with_access_to(tx, &user)?;
    let (gained, lost) = (
        audience(tx, &user, &can_access, |role| after.admits(role) && !before.admits(role))?,
        audience(tx, &user, &can_access, |role| before.admits(role) && !after.admits(role))?,
    );
    let shown = UserChange::DeliveryEmail { delivery_email: Some(user.delivery_email.clone()) };
    tx.emit(UserUpdated::new(user_id, shown), gained);
    tx.emit(UserUpdated::new(user_id, UserChange::DeliveryEmail { delivery_email: None }), lost);
    let api_email = api_email(tx, &user, domain)?;
    if (before == EmailVisibility::Everyone) != (after == EmailVisibility::Everyone) {
        users::set_emails(tx, user_id, &api_email, &user.delivery_email)?;
        emit_api_email(tx, &user, &api_email)?;
    }
    Ok(())
}

fn emit_api_email(tx: &mut Tx<'_>, user: &UserRow, email: &str) -> ApiResult<()> {
    let audience = access::users::audience(tx, user)?;
    tx.emit(UserUpdated::new(user.user_id, UserChange::NewEmail { new_email: email.to_owned() }), audience);
    Ok(())
}

/// Emits to a user whose role changed the real emails that the new role shows or hides, of users who were accessible
/// before and still are.
pub fn emit_visible_to_role(tx: &mut Tx<'_>, before: &UserRow, after: &UserRow) -> ApiResult<()> {
    let accessible = access::users::Accessible::to_user(tx, after.user_id, after.role)?;
    let could = access::users::Accessible::to_user(tx, before.user_id, before.role)?;
    for user in users::all(tx)? {
        let visibility = user.email_visibility;
        let (was_seen, is_seen) = (visibility.admits(before.role), visibility.admits(after.role));
        let is_known = accessible.contains(user.user_id) && could.contains(user.user_id);
        if was_seen != is_seen && is_known && user.user_id != after.user_id {
            let delivery_email = is_seen.then_some(user.delivery_email);
            let change = UserChange::DeliveryEmail { delivery_email };
            tx.emit(UserUpdated::new(user.user_id, change), Audience::user(after.user_id));
        }
    }
    Ok(())
}

/// Returns the users of `all` whose roles are admitted, except `user`.
fn audience(
    connection: &Connection,
    user: &UserRow,
    all: &RoaringBitmap,
    admits: impl Fn(Role) -> bool,
) -> ApiResult<Audience> {
    let users = users::active_roles(connection)?.into_iter();
    let admitted = users.filter(|(id, role)| *id != user.user_id && admits(*role));
    let admitted: RoaringBitmap = admitted.filter_map(|(id, _)| id.bit()).collect();
    Ok(Audience::set(admitted & all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_up_to_the_first_email_beyond_the_limit() {
        let list = [" a@b.c", "", "A@b.c ", "b@b.c", " ", "c@b.c", "d@b.c", "e@b.c"];
        for (most, expected, count) in [
            (1, vec!["a@b.c", "b@b.c"], 4),
            (2, vec!["a@b.c", "b@b.c", "c@b.c"], 6),
            (9, vec!["a@b.c", "b@b.c", "c@b.c", "d@b.c", "e@b.c"], 8),
        ] {
            let mut read = 0;
            let emails = list.into_iter().inspect(|_| read += 1);
            assert_eq!(distinct(emails, most), expected);
            assert_eq!(read, count, "{most}");
        }
    }

    #[test]
    fn each_choice_admits_these_roles() {
        let cases = [
            (1, [true, true, true, true, true]),
            (2, [true, true, true, true, false]),
            (5, [true, true, true, false, false]),
            (3, [true, true, false, false, false]),
            (4, [false, false, false, false, false]),
            (99, [false, false, false, false, false]),
        ];
        for (code, admitted) in cases {
            let visibility = EmailVisibility::from_code(code);
            assert_eq!(Role::ALL.map(|role| visibility.admits(role)), admitted, "{code}");
        }
    }
}
