//! Real emails: who sees a user's, the stand-in for a hidden one, and changing it.
//!
//! Others see `email`, the API email, always: it is the real one, or `user7@...` when not everyone may see that.
//! `delivery_email` is the real one, and null for those who may not see it.

use super::events::UserUpdated;
use super::record::UserRow;
use super::{names, sql};
use crate::events::Audience;
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{Role, UserId};
use rusqlite::Connection;
use serde_json::{Value, json};

/// Who may see a user's real email: `email_address_visibility`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EmailVisibility {
    /// 1.
    #[default]
    Everyone,
    /// 2: not guests.
    Members,
    /// 3.
    Administrators,
    /// 4: only the user.
    Nobody,
    /// 5: administrators too.
    Moderators,
}

impl EmailVisibility {
    /// The choice of a number; an unknown one hides.
    pub fn from_code(code: i64) -> Self {
        match code {
            1 => Self::Everyone,
            2 => Self::Members,
            3 => Self::Administrators,
            5 => Self::Moderators,
            _ => Self::Nobody,
        }
    }

    /// Whether another user with this role may see it.
    pub fn admits(self, role: Role) -> bool {
        match self {
            Self::Everyone => true,
            Self::Members => role != Role::Guest,
            Self::Moderators => role.is_moderator(),
            Self::Administrators => role.is_administrator(),
            Self::Nobody => false,
        }
    }

    /// The API email of a user.
    pub fn api_email(self, user_id: UserId, delivery_email: &str, domain: &str) -> String {
        if self == Self::Everyone { delivery_email.to_owned() } else { format!("user{user_id}@{domain}") }
    }
}

/// Changes the real email. It follows to the API email if that is the real one.
pub fn change(tx: &mut Tx<'_>, user: &UserRow, new_email: &str) -> ApiResult<()> {
    if !names::is_email(new_email) {
        return Err(ApiError::bad_request("Invalid address."));
    }
    if let Some(other) = sql::by_delivery_email(tx, new_email)?
        && other.user_id != user.user_id
    {
        let msg = if other.is_active { "Already has an account." } else { "Account has been deactivated." };
        return Err(ApiError::bad_request(msg));
    }
    let is_shown = user.email_visibility == EmailVisibility::Everyone;
    let api_email = if is_shown { new_email } else { &user.email };
    sql::set_emails(tx, user.user_id, api_email, new_email)?;
    let own = user.user_id;
    let who_see = audience(tx, |user_id, role| user_id == own || user.email_visibility.admits(role))?;
    let person = json!({"user_id": user.user_id, "delivery_email": new_email});
    tx.emit(&UserUpdated::new(person), who_see);
    if is_shown {
        announce_api_email(tx, user.user_id, new_email)?;
    }
    Ok(())
}

/// Brings the API email to what `email_address_visibility` says now, and tells those for whom something changed.
pub fn visibility_changed(tx: &mut Tx<'_>, user_id: UserId, before: &Value, domain: &str) -> ApiResult<()> {
    let before = EmailVisibility::from_code(before.as_i64().unwrap_or_default());
    let user = sql::by_id(tx, user_id)?.ok_or_else(ApiError::internal)?;
    let after = user.email_visibility;
    let (gained, lost) = (
        audience(tx, |id, role| id != user_id && after.admits(role) && !before.admits(role))?,
        audience(tx, |id, role| id != user_id && before.admits(role) && !after.admits(role))?,
    );
    tx.emit(&UserUpdated::new(json!({"user_id": user_id, "delivery_email": user.delivery_email})), gained);
    tx.emit(&UserUpdated::new(json!({"user_id": user_id, "delivery_email": null})), lost);
    let api_email = after.api_email(user_id, &user.delivery_email, domain);
    if (before == EmailVisibility::Everyone) != (after == EmailVisibility::Everyone) {
        sql::set_emails(tx, user_id, &api_email, &user.delivery_email)?;
        announce_api_email(tx, user_id, &api_email)?;
    }
    Ok(())
}

fn announce_api_email(tx: &mut Tx<'_>, user_id: UserId, email: &str) -> ApiResult<()> {
    let everyone = Audience::set(sql::active_ids(tx)?);
    tx.emit(&UserUpdated::new(json!({"user_id": user_id, "new_email": email})), everyone);
    Ok(())
}

/// The active users who are admitted.
pub fn audience(connection: &Connection, admits: impl Fn(UserId, Role) -> bool) -> ApiResult<Audience> {
    let users = sql::active_roles(connection)?;
    Ok(Audience::users(users.into_iter().filter(|(id, role)| admits(*id, *role)).map(|(id, _)| id)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
