//! Real emails: who sees a user's, the stand-in for a hidden one, and changing it.
//!
//! Others see `email`, the API email, always: it is the real one, or `user7@...` when not everyone may see that.
//! `delivery_email` is the real one, and null for those who may not see it.

use crate::domain::access::user_rows::UserRow;
use crate::domain::access::{user_rows, users};
use crate::domain::realm::DUMMY_DOMAIN;
use crate::domain::users::events::UserUpdated;
use crate::domain::users::{names, sql as users_sql};
use crate::events::Audience;
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::EmailVisibility;
use crate::types::{Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde_json::{Value, json};

/// The user whose stand-in an email is, whether or not their real email is hidden: `user7@` the server's domain.
pub fn dummy(email: &str, domain: &str) -> Option<UserId> {
    let (name, of_domain) = email.trim().rsplit_once('@')?;
    let is_ours = of_domain.eq_ignore_ascii_case(domain) || of_domain.eq_ignore_ascii_case(DUMMY_DOMAIN);
    let digits = name.strip_prefix("user").filter(|digits| is_ours && !digits.starts_with(['+', '-']))?;
    digits.parse().ok().map(UserId)
}

/// Why somebody cannot have an email that is somebody else's.
pub fn taken(connection: &Connection, user: &UserRow, new_email: &str) -> ApiResult<Option<&'static str>> {
    let other = users_sql::by_delivery_email(connection, new_email)?;
    let other = other.filter(|other| other.user_id != user.user_id);
    Ok(other.map(
        |other| if other.is_active { "Already has an account." } else { "Account has been deactivated." },
    ))
}

/// Changes the real email, which was checked. It follows to the API email if that is the real one.
pub fn change(tx: &mut Tx<'_>, user: &UserRow, new_email: &str) -> ApiResult<()> {
    let is_shown = user.email_visibility == EmailVisibility::Everyone;
    let api_email = if is_shown { new_email } else { &user.email };
    users_sql::set_emails(tx, user.user_id, api_email, new_email)?;
    let audience = users::who_can_access(tx, user)?;
    let (who_see, _) = split(tx, user, &audience)?;
    let person = json!({"user_id": user.user_id, "delivery_email": new_email});
    tx.emit(UserUpdated::new(person), Audience::set(who_see));
    if is_shown {
        announce_api_email(tx, user, new_email)?;
    }
    Ok(())
}

/// Changes the user's own real email.
pub fn change_own(tx: &mut Tx<'_>, user: &UserRow, new_email: &str) -> ApiResult<()> {
    if !names::is_email(new_email) {
        return Err(ApiError::bad_request("Invalid address."));
    }
    match taken(tx, user, new_email)? {
        Some(msg) => Err(ApiError::bad_request(msg)),
        None => change(tx, user, new_email),
    }
}

/// Brings the API email to what `email_address_visibility` says now, and tells those for whom something changed.
pub fn visibility_changed(tx: &mut Tx<'_>, user_id: UserId, before: &Value, domain: &str) -> ApiResult<()> {
    let before = EmailVisibility::from_code(before.as_i64().unwrap_or_default());
    let user = user_rows::by_id(tx, user_id)?
        .ok_or_else(|| ApiError::internal("the user whose setting changed has no row"))?;
    let after = user.email_visibility;
    let can_access = users::who_can_access(tx, &user)?;
    let (gained, lost) = (
        audience(tx, &user, &can_access, |role| after.admits(role) && !before.admits(role))?,
        audience(tx, &user, &can_access, |role| before.admits(role) && !after.admits(role))?,
    );
    tx.emit(UserUpdated::new(json!({"user_id": user_id, "delivery_email": user.delivery_email})), gained);
    tx.emit(UserUpdated::new(json!({"user_id": user_id, "delivery_email": null})), lost);
    let api_email = after.api_email(user_id, &user.delivery_email, domain);
    if (before == EmailVisibility::Everyone) != (after == EmailVisibility::Everyone) {
        users_sql::set_emails(tx, user_id, &api_email, &user.delivery_email)?;
        announce_api_email(tx, &user, &api_email)?;
    }
    Ok(())
}

fn announce_api_email(tx: &mut Tx<'_>, user: &UserRow, email: &str) -> ApiResult<()> {
    let audience = users::audience(tx, user)?;
    tx.emit(UserUpdated::new(json!({"user_id": user.user_id, "new_email": email})), audience);
    Ok(())
}

/// Tells a user of the real emails that their new role shows or hides, of those whom they could access before and can
/// still.
pub fn emit_role_changed(tx: &mut Tx<'_>, before: &UserRow, after: &UserRow) -> ApiResult<()> {
    let accessible = users::Accessible::to_user(tx, after.user_id, after.role)?;
    let could = users::Accessible::to_user(tx, before.user_id, before.role)?;
    for user in users_sql::all(tx)? {
        let visibility = user.email_visibility;
        let (was_seen, is_seen) = (visibility.admits(before.role), visibility.admits(after.role));
        let is_known = accessible.contains(user.user_id) && could.contains(user.user_id);
        if was_seen != is_seen && is_known && user.user_id != after.user_id {
            let email = is_seen.then_some(&user.delivery_email);
            let person = json!({"user_id": user.user_id, "delivery_email": email});
            tx.emit(UserUpdated::new(person), Audience::user(after.user_id));
        }
    }
    Ok(())
}

/// Parts some users who can access a user into those who see the real email, the user among them, and the others.
pub fn split(
    connection: &Connection,
    user: &UserRow,
    all: &RoaringBitmap,
) -> ApiResult<(RoaringBitmap, RoaringBitmap)> {
    if user.email_visibility == EmailVisibility::Everyone {
        return Ok((all.clone(), RoaringBitmap::new()));
    }
    let mut who_see: RoaringBitmap = users_sql::active_roles(connection)?
        .into_iter()
        .filter(|(user_id, role)| *user_id == user.user_id || user.email_visibility.admits(*role))
        .filter_map(|(user_id, _)| user_id.bit())
        .collect();
    who_see &= all;
    let others = all - &who_see;
    Ok((who_see, others))
}

/// Those of some users, but for the user, whose roles are admitted.
fn audience(
    connection: &Connection,
    user: &UserRow,
    all: &RoaringBitmap,
    admits: impl Fn(Role) -> bool,
) -> ApiResult<Audience> {
    let users = users_sql::active_roles(connection)?.into_iter();
    let admitted = users.filter(|(id, role)| *id != user.user_id && admits(*role));
    let admitted: RoaringBitmap = admitted.filter_map(|(id, _)| id.bit()).collect();
    Ok(Audience::set(admitted & all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stand_in_tells_whose_it_is() {
        let domain = "chat.example.com";
        for (email, user_id) in [
            ("user7@chat.example.com", Some(7)),
            (" USER7@chat.example.com", None),
            ("user7@CHAT.example.com ", Some(7)),
            ("user7@bots.invalid", Some(7)),
            ("user7@example.com", None),
            ("user@chat.example.com", None),
            ("user+7@chat.example.com", None),
            ("user-7@chat.example.com", None),
            ("user7", None),
        ] {
            assert_eq!(dummy(email, domain), user_id.map(UserId), "{email}");
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
