//! Settings in the reply of `POST /register`.

use crate::api::resource::{State, StateRequest};
use crate::domain::user_settings::table::{EMOJISET_CHOICES, NOTIFICATION_SOUNDS, PROPERTIES};
use crate::domain::{realm, rows, user_settings};
use crate::error::ApiResult;
use crate::types::{OnWire, Values};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Inserts the choices for some settings, which are part of each settings object.
fn insert_choices(settings: &mut Map<String, Value>) {
    settings.insert("available_notification_sounds".into(), json!(NOTIFICATION_SOUNDS));
    settings.insert("emojiset_choices".into(), json!(emojiset_choices()));
}

/// A style in which clients can show emoji.
#[derive(Serialize)]
struct EmojisetChoice {
    /// The style, as a value of `emojiset`.
    key: &'static str,
    /// The name of the style, for people.
    text: &'static str,
}

fn emojiset_choices() -> Vec<EmojisetChoice> {
    EMOJISET_CHOICES.iter().map(|(key, text)| EmojisetChoice { key, text }).collect()
}

/// Inserts the settings with a legacy form at the top of the state.
fn insert_legacy(state: &mut State, settings: &Values, form: OnWire) {
    for row in PROPERTIES.iter().filter(|row| row.on_wire == form) {
        state.insert(row.name.to_owned(), settings.value(row.name).clone());
    }
}

fn own_timezone(request: &StateRequest<'_>) -> ApiResult<String> {
    if request.caller.is_visitor() {
        return Ok(String::new());
    }
    let own = rows::user::existing(request.connection, request.caller.user_id)?;
    Ok(own.timezone)
}

/// State part `user_settings`. Visitors have the defaults of the program, the language of the organization, and a view
/// that needs no account.
pub fn user_settings(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let mut settings = user_settings::all(request.connection, request.caller.user_id)?.into_map();
    if request.caller.is_visitor() {
        let language = realm::settings::all(request.connection)?.value("default_language").clone();
        settings.insert("default_language".into(), language);
        settings.insert("web_home_view".into(), "recent_topics".into());
    }
    settings.insert("timezone".into(), own_timezone(request)?.into());
    insert_choices(&mut settings);
    state.insert("user_settings".into(), settings.into());
    Ok(())
}

/// State part `realm_user_settings_defaults`.
pub fn realm_defaults(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let mut settings = user_settings::defaults(request.connection)?.into_map();
    insert_choices(&mut settings);
    state.insert("realm_user_settings_defaults".into(), settings.into());
    Ok(())
}

/// State part `update_display_settings`: settings of the display as members of the state, for clients without the
/// `user_settings_object` capability.
pub fn legacy_display(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    if request.registration.client_capabilities.user_settings_object {
        return Ok(());
    }
    let settings = user_settings::all(request.connection, request.caller.user_id)?;
    insert_legacy(state, &settings, OnWire::Display);
    state.set::<String>("timezone", &own_timezone(request)?)?;
    state.set::<Vec<EmojisetChoice>>("emojiset_choices", &emojiset_choices())
}

/// State part `update_global_notifications`: settings of notifications as members of the state, for clients without the
/// `user_settings_object` capability.
pub fn legacy_notifications(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    if request.registration.client_capabilities.user_settings_object {
        return Ok(());
    }
    let settings = user_settings::all(request.connection, request.caller.user_id)?;
    insert_legacy(state, &settings, OnWire::Notifications);
    state.set::<[&str]>("available_notification_sounds", NOTIFICATION_SOUNDS)
}
