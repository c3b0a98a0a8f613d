//! Events about user settings, in the new form and the older ones.

use super::Model;
use serde_json::Value;

/// `user_settings`, `op: update`.
pub fn update(model: &mut Model, event: &Value) {
    set(model.state.get_mut("user_settings"), &event["property"], &event["value"]);
}

/// `realm_user_settings_defaults`, `op: update`.
pub fn update_default(model: &mut Model, event: &Value) {
    set(model.state.get_mut("realm_user_settings_defaults"), &event["property"], &event["value"]);
}

/// `update_display_settings`.
pub fn update_display(model: &mut Model, event: &Value) {
    let name = event["setting_name"].as_str().expect("a setting has a name").to_owned();
    assert!(model.state.contains_key(&name), "the state has the older copy of {name}");
    model.state.insert(name, event["setting"].clone());
}

/// `update_global_notifications`.
pub fn update_notifications(model: &mut Model, event: &Value) {
    let name = event["notification_name"].as_str().expect("a setting has a name").to_owned();
    assert!(model.state.contains_key(&name), "the state has the older copy of {name}");
    model.state.insert(name, event["setting"].clone());
}

fn set(settings: Option<&mut Value>, property: &Value, value: &Value) {
    let Some(settings) = settings else { return };
    let property = property.as_str().expect("a setting has a name");
    let known = settings.get_mut(property).expect("a known setting");
    *known = value.clone();
}
