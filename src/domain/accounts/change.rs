//! Changes to accounts by the user or by an administrator: name, time zone and settings, with the events that follow.

use crate::domain::audit::{Action, Entry};
use crate::domain::bots::events::BotChange;
use crate::domain::rows::user::UserRow;
use crate::domain::users::events::{UserChange, UserUpdated};
use crate::domain::users::names;
use crate::domain::{access, bots, drafts, missed_messages, presence, user_settings, user_status, users};
use crate::error::ApiResult;
use crate::store::Tx;
use serde_json::Value;

/// Checks and sets the display name, and emits `realm_user` to the users who can access the user. The name of a bot is
/// always unique.
pub fn set_full_name(tx: &mut Tx<'_>, user: &UserRow, full_name: &str) -> ApiResult<()> {
    let full_name = names::check_full_name(full_name)?;
    if full_name == user.full_name {
        return Ok(());
    }
    if user.is_bot() {
        bots::rules::check_name(tx, &full_name, Some(user.user_id))?;
    }
    names::check_available(tx, &full_name, Some(user.user_id))?;
    users::set_full_name(tx, user.user_id, &full_name)?;
    let renamed = Entry::new(Action::NameChanged, user.user_id);
    tx.audit(renamed.before(user.full_name.as_str()).after(full_name.as_str()))?;
    let audience = access::users::audience(tx, user)?;
    tx.emit(UserUpdated::new(user.user_id, UserChange::FullName { full_name: full_name.clone() }), audience);
    bots::events::emit_updated(tx, user, BotChange::FullName(full_name.clone()))?;
    Ok(())
}

/// Emits a new time zone to the users who can access the user.
pub fn emit_timezone(tx: &mut Tx<'_>, user: &UserRow, timezone: &str) -> ApiResult<()> {
    let audience = access::users::audience(tx, user)?;
    let change = UserChange::Timezone { email: user.email.clone(), timezone: timezone.to_owned() };
    tx.emit(UserUpdated::new(user.user_id, change), audience);
    Ok(())
}

/// Sets a user's setting to another value, emits it, and applies dependent changes: turning off the synchronization of
/// drafts deletes them, the visibility of presence changes the user's status and presence, and the period of mail moves the
/// time of what waits.
pub fn set_setting(tx: &mut Tx<'_>, user: &UserRow, name: &str, value: &Value) -> ApiResult<()> {
    if name == user_settings::EMAIL_NOTIFICATIONS_BATCHING_PERIOD_SECONDS.name() {
        let before = user_settings::EMAIL_NOTIFICATIONS_BATCHING_PERIOD_SECONDS.get(tx, user.user_id)?;
        missed_messages::period_changed(tx, user.user_id, value.as_i64().unwrap_or(before) - before)?;
    }
    user_settings::set(tx, user.user_id, name, value)?;
    user_settings::events::emit_setting_updated(tx, user.user_id, &user.email, name, value)?;
    if name == user_settings::ENABLE_DRAFTS_SYNCHRONIZATION.name() && *value == false {
        drafts::delete_all(tx, user.user_id)?;
    }
    if name == user_settings::PRESENCE_ENABLED.name() {
        let is_visible = *value == true;
        user_status::away_changed(tx, user, !is_visible)?;
        presence::visibility_changed(tx, user.user_id, is_visible)?;
    }
    Ok(())
}

/// True if a text is an IANA time zone identifier, in its exact case.
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
