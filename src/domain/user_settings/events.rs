//! Events about settings, and the settings in the answer of `POST /register`.

use crate::domain::access::user_rows;
use crate::domain::realm::user_ids;
use crate::domain::user_settings::table::{
    EMOJISET_CHOICES, LEGACY_DISPLAY, LEGACY_NOTIFICATIONS, NOTIFICATION_SOUNDS,
};
use crate::domain::user_settings::{all, defaults, languages};
use crate::events::{Audience, Event, EventType, Receiver, Verdict};
use crate::http::{ApiError, ApiResult, State, StateRequest};
use crate::store::Tx;
use crate::types::UserId;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// `user_settings`, `op: update`.
#[derive(Serialize)]
struct SettingUpdated<'a> {
    r#type: &'static str,
    op: &'static str,
    property: &'a str,
    value: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    language_name: Option<&'static str>,
}

impl Event for SettingUpdated<'_> {
    const TYPE: &'static str = "user_settings";
}

/// The same for clients that do not know `user_settings`: what concerns the display.
#[derive(Serialize)]
struct DisplaySettingUpdated<'a> {
    r#type: &'static str,
    user: &'a str,
    setting_name: &'a str,
    setting: &'a Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    language_name: Option<&'static str>,
}

impl Event for DisplaySettingUpdated<'_> {
    const TYPE: &'static str = "update_display_settings";
}

/// The same for clients that do not know `user_settings`: what concerns notifications.
#[derive(Serialize)]
struct NotificationSettingUpdated<'a> {
    r#type: &'static str,
    user: &'a str,
    notification_name: &'a str,
    setting: &'a Value,
}

impl Event for NotificationSettingUpdated<'_> {
    const TYPE: &'static str = "update_global_notifications";
}

/// `realm_user_settings_defaults`, `op: update`.
#[derive(Serialize)]
struct DefaultUpdated<'a> {
    r#type: &'static str,
    op: &'static str,
    property: &'a str,
    value: &'a Value,
}

impl Event for DefaultUpdated<'_> {
    const TYPE: &'static str = "realm_user_settings_defaults";
}

/// `realm_export_consent`: whether a user's private data may be exported.
#[derive(Serialize)]
struct ExportConsent {
    r#type: &'static str,
    user_id: UserId,
    consented: bool,
}

impl Event for ExportConsent {
    const TYPE: &'static str = "realm_export_consent";
}

/// Tells a user's clients of a setting, in the new form and in the older one, and administrators of their consent to
/// exports.
pub fn setting_updated(
    tx: &mut Tx<'_>,
    user_id: UserId,
    email: &str,
    property: &str,
    value: &Value,
) -> ApiResult<()> {
    let audience = Audience::user(user_id);
    let is_language = property == "default_language";
    let language_name = value.as_str().filter(|_| is_language).and_then(languages::name);
    let event = SettingUpdated { r#type: SettingUpdated::TYPE, op: "update", property, value, language_name };
    tx.emit(&event, audience.clone());
    if LEGACY_NOTIFICATIONS.contains(&property) {
        let event = NotificationSettingUpdated {
            r#type: NotificationSettingUpdated::TYPE,
            user: email,
            notification_name: property,
            setting: value,
        };
        tx.emit(&event, audience);
    } else if property == "timezone" || LEGACY_DISPLAY.contains(&property) {
        let event = DisplaySettingUpdated {
            r#type: DisplaySettingUpdated::TYPE,
            user: email,
            setting_name: property,
            setting: value,
            language_name,
        };
        tx.emit(&event, audience);
    }
    if property == "allow_private_data_export" {
        emit_export_consent(tx, user_id, *value == true)?;
    }
    Ok(())
}

/// Tells administrators whether a user's private data may be exported.
pub fn emit_export_consent(tx: &mut Tx<'_>, user_id: UserId, consented: bool) -> ApiResult<()> {
    let event = ExportConsent { r#type: ExportConsent::TYPE, user_id, consented };
    let administrators = user_ids::administrator_ids(tx)?;
    tx.emit(&event, Audience::set(administrators));
    Ok(())
}

/// Tells everybody of a default for new users.
pub fn default_updated(tx: &mut Tx<'_>, property: &str, value: &Value) -> ApiResult<()> {
    let everyone = Audience::set(user_ids::active_ids(tx)?);
    tx.emit(&DefaultUpdated { r#type: DefaultUpdated::TYPE, op: "update", property, value }, everyone);
    Ok(())
}

/// The older events go to clients that did not say that they know the new one.
pub fn event_types() -> Vec<EventType> {
    let older = |name| EventType {
        name,
        verdict: |_event, receiver: &Receiver<'_>| {
            let knows_better = receiver.registration.client_capabilities.user_settings_object;
            if knows_better { Verdict::Skip } else { Verdict::Form(0) }
        },
        form: |event, _form| event.to_string(),
        personal: EventType::nothing_personal,
    };
    vec![older(DisplaySettingUpdated::TYPE), older(NotificationSettingUpdated::TYPE)]
}

/// What settings pages offer to choose from, in each object of settings.
fn insert_choices(settings: &mut Map<String, Value>) {
    settings.insert("available_notification_sounds".into(), json!(NOTIFICATION_SOUNDS));
    settings.insert("emojiset_choices".into(), emojiset_choices());
}

fn emojiset_choices() -> Value {
    EMOJISET_CHOICES.iter().map(|(key, text)| json!({"key": key, "text": text})).collect()
}

fn own_timezone(request: &StateRequest<'_>) -> ApiResult<Value> {
    let own = user_rows::by_id(request.connection, request.caller.user_id)?
        .ok_or_else(|| ApiError::internal("the caller has no user row"))?;
    Ok(own.timezone.into())
}

/// Word `user_settings`.
pub fn user_settings(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let mut settings = all(request.connection, request.caller.user_id)?.into_map();
    settings.insert("timezone".into(), own_timezone(request)?);
    insert_choices(&mut settings);
    state.insert("user_settings".into(), settings.into());
    Ok(())
}

/// Word `realm_user_settings_defaults`.
pub fn realm_defaults(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let mut settings = defaults::all(request.connection)?.into_map();
    insert_choices(&mut settings);
    state.insert("realm_user_settings_defaults".into(), settings.into());
    Ok(())
}

/// Word `update_display_settings`: at the top of the state, for clients without `user_settings_object`.
pub fn legacy_display(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    if request.registration.client_capabilities.user_settings_object {
        return Ok(());
    }
    let settings = all(request.connection, request.caller.user_id)?;
    for name in LEGACY_DISPLAY {
        state.insert((*name).to_owned(), settings.value(name).clone());
    }
    state.insert("timezone".into(), own_timezone(request)?);
    state.insert("emojiset_choices".into(), emojiset_choices());
    Ok(())
}

/// Word `update_global_notifications`: at the top of the state, for clients without `user_settings_object`.
pub fn legacy_notifications(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    if request.registration.client_capabilities.user_settings_object {
        return Ok(());
    }
    let settings = all(request.connection, request.caller.user_id)?;
    for name in LEGACY_NOTIFICATIONS {
        state.insert((*name).to_owned(), settings.value(name).clone());
    }
    state.insert("available_notification_sounds".into(), json!(NOTIFICATION_SOUNDS));
    Ok(())
}
