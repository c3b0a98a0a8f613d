//! Changing a user, whoever asks for it: the user, or an administrator.

use crate::domain::access::user_rows::UserRow;
use crate::domain::access::users;
use crate::domain::bots;
use crate::domain::users::events::UserUpdated;
use crate::domain::users::{names, sql};
use crate::http::ApiResult;
use crate::store::Tx;
use serde_json::json;

/// Changes the name shown, and tells everybody who can access the user.
pub fn full_name(tx: &mut Tx<'_>, user: &UserRow, full_name: &str) -> ApiResult<()> {
    let full_name = names::full_name(full_name)?;
    if full_name == user.full_name {
        return Ok(());
    }
    names::check_unique(tx, &full_name, Some(user.user_id))?;
    sql::set_full_name(tx, user.user_id, &full_name)?;
    let audience = users::audience(tx, user)?;
    tx.emit(UserUpdated::new(json!({"user_id": user.user_id, "full_name": full_name})), audience);
    bots::events::updated(tx, user, "full_name", full_name)?;
    Ok(())
}

/// Tells everybody who can access a user where they are now.
pub fn announce_timezone(tx: &mut Tx<'_>, user: &UserRow, timezone: &str) -> ApiResult<()> {
    let audience = users::audience(tx, user)?;
    let person = json!({"user_id": user.user_id, "email": user.email, "timezone": timezone});
    tx.emit(UserUpdated::new(person), audience);
    Ok(())
}

/// Whether a text names a time zone, as the IANA spells them.
pub fn is_timezone(text: &str) -> bool {
    jiff::tz::db().get(text).is_ok_and(|zone| zone.iana_name() == Some(text))
}

#[cfg(test)]
mod tests {
    #[test]
    fn time_zones_are_known_by_their_names() {
        for good in ["Europe/Berlin", "Asia/Kolkata", "UTC"] {
            assert!(super::is_timezone(good), "{good}");
        }
        for bad in ["", "europe/berlin", "Berlin", "../../etc/passwd", "Europe/Berlin "] {
            assert!(!super::is_timezone(bad), "{bad}");
        }
    }
}
