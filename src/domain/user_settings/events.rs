//! Events about settings, and the settings in the answer of `POST /register`.

use crate::domain::realm::user_ids;
use crate::domain::user_settings::languages;
use crate::domain::user_settings::table::{Defaults, DisplayTable, NotificationTable, UserTable};
use crate::error::{ApiError, ApiResult};
use crate::events::{Audience, Receiver, uniform_event};
use crate::store::Tx;
use crate::types::{SettingTable, SettingUpdate, UserId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;

/// `user_settings`, `op: update`: a setting of the user changed.
#[derive(Serialize, Deserialize)]
pub struct SettingUpdated {
    #[serde(flatten)]
    setting: SettingUpdate<UserTable>,
    /// The name of the new language. Only if `property` is `default_language`.
    #[serde(skip_serializing_if = "Option::is_none")]
    language_name: Option<Cow<'static, str>>,
}

uniform_event!(SettingUpdated: "user_settings", op "update", version 1);

/// `update_display_settings`: a setting of the display changed. Deprecated, for clients without the
/// `user_settings_object` capability.
#[derive(Serialize, Deserialize)]
pub struct DisplaySettingUpdated {
    /// The user's API email.
    user: String,
    #[serde(flatten)]
    setting: SettingUpdate<DisplayTable>,
    /// The name of the new language. Only if `setting_name` is `default_language`.
    #[serde(skip_serializing_if = "Option::is_none")]
    language_name: Option<Cow<'static, str>>,
}

uniform_event!(DisplaySettingUpdated: "update_display_settings", version 1, if lacks_user_settings);

/// `update_global_notifications`: a setting of notifications changed. Deprecated, for clients without the
/// `user_settings_object` capability.
#[derive(Serialize, Deserialize)]
pub struct NotificationSettingUpdated {
    /// The user's API email.
    user: String,
    #[serde(flatten)]
    setting: SettingUpdate<NotificationTable>,
}

uniform_event!(NotificationSettingUpdated: "update_global_notifications", version 1, if lacks_user_settings);

/// The older events go to clients without the capability for the new one.
fn lacks_user_settings(receiver: &Receiver<'_>) -> bool {
    !receiver.registration.client_capabilities.user_settings_object
}

/// `realm_user_settings_defaults`, `op: update`: a default setting of new users changed.
#[derive(Serialize, Deserialize)]
pub struct DefaultUpdated {
    #[serde(flatten)]
    setting: SettingUpdate<Defaults>,
}

uniform_event!(DefaultUpdated: "realm_user_settings_defaults", op "update", version 1);

/// `realm_export_consent`: a user's consent to exports of their private data changed.
#[derive(Serialize, Deserialize)]
pub struct ExportConsent {
    /// The user's id.
    user_id: UserId,
    /// True if the user's private data may be exported.
    consented: bool,
}

uniform_event!(ExportConsent: "realm_export_consent", version 1);

/// Emits a changed setting to its user, in the current and in the legacy form, and a changed consent to exports to
/// administrators.
pub fn emit_setting_updated(
    tx: &mut Tx<'_>,
    user_id: UserId,
    email: &str,
    property: &str,
    value: &Value,
) -> ApiResult<()> {
    let audience = Audience::user(user_id);
    let is_language = property == "default_language";
    let language_name = value.as_str().filter(|_| is_language).and_then(languages::name).map(Cow::Borrowed);
    let event = SettingUpdated { setting: updated(property, value)?, language_name: language_name.clone() };
    tx.emit(event, audience.clone());
    let user = email.to_owned();
    if let Some(setting) = SettingUpdate::<NotificationTable>::new(property, value) {
        tx.emit(NotificationSettingUpdated { user, setting }, audience);
    } else if let Some(setting) = SettingUpdate::<DisplayTable>::new(property, value) {
        tx.emit(DisplaySettingUpdated { user, setting, language_name }, audience);
    }
    if property == "allow_private_data_export" {
        emit_export_consent(tx, user_id, *value == true)?;
    }
    Ok(())
}

/// Emits `realm_export_consent` to administrators.
pub fn emit_export_consent(tx: &mut Tx<'_>, user_id: UserId, consented: bool) -> ApiResult<()> {
    let event = ExportConsent { user_id, consented };
    let administrators = user_ids::administrator_ids(tx)?;
    tx.emit(event, Audience::set(administrators));
    Ok(())
}

/// Emits a changed default for new users to everyone.
pub fn emit_default_updated(tx: &mut Tx<'_>, property: &str, value: &Value) -> ApiResult<()> {
    let everyone = user_ids::everyone(tx)?;
    tx.emit(DefaultUpdated { setting: updated(property, value)? }, everyone);
    Ok(())
}

fn updated<T: SettingTable>(name: &str, value: &Value) -> ApiResult<SettingUpdate<T>> {
    SettingUpdate::new(name, value)
        .ok_or_else(|| ApiError::internal(format_args!("the setting {name} was set to {value}")))
}
