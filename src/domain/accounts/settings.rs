//! Changing a user's setting, and what follows from it.

use crate::domain::access::user_rows::UserRow;
use crate::domain::user_settings::{ENABLE_DRAFTS_SYNCHRONIZATION, PRESENCE_ENABLED, events, sql};
use crate::domain::{drafts, presence, user_status};
use crate::http::ApiResult;
use crate::store::Tx;
use serde_json::Value;

/// Sets one of a user's settings to another value and emits it.
pub fn setting(tx: &mut Tx<'_>, user: &UserRow, name: &str, value: &Value) -> ApiResult<()> {
    sql::put(tx, user.user_id, name, value)?;
    events::setting_updated(tx, user.user_id, &user.email, name, value)?;
    if name == ENABLE_DRAFTS_SYNCHRONIZATION.name() && *value == false {
        drafts::forget_all(tx, user.user_id)?;
    }
    if name == PRESENCE_ENABLED.name() {
        let is_visible = *value == true;
        user_status::away_changed(tx, user, !is_visible)?;
        presence::visibility_changed(tx, user.user_id, is_visible)?;
    }
    Ok(())
}
