//! Events of presence and status.

use super::Model;
use serde_json::{Map, Value, json};

/// `presence`: a user becomes active, or hides.
pub fn presence(model: &mut Model, event: &Value) {
    let is_slim = model.parameters["slim_presence"] == true;
    let Some(known) = model.state.get_mut("presences") else { return };
    let known = known.as_object_mut().expect("presences are a map");
    if let Some(presences) = event.get("presences") {
        assert!(is_slim, "the model knows modern events and modern presences together");
        known.extend(presences.as_object().expect("presences are a map").clone());
        return;
    }
    assert!(!is_slim, "the model knows older events and older presences together");
    let website = event["presence"]["website"].clone();
    let mut aggregated = website.clone();
    aggregated.as_object_mut().expect("a presence").remove("pushable");
    let email = event["email"].as_str().expect("an email").to_owned();
    known.insert(email, json!({"aggregated": aggregated, "website": website}));
}

/// `user_status`: replaces the given parts.
pub fn status(model: &mut Model, event: &Value) {
    let Some(all) = model.state.get_mut("user_status") else { return };
    let all = all.as_object_mut().expect("statuses are a map");
    let user_id = event["user_id"].to_string();
    let status = all.entry(user_id.clone()).or_insert_with(|| Map::new().into());
    let status = status.as_object_mut().expect("a status");
    let emoji = ["emoji_name", "emoji_code", "reaction_type"];
    if event["emoji_name"] == "" {
        status.retain(|name, _value| !emoji.contains(&name.as_str()));
    }
    for name in ["status_text", "away"].into_iter().chain(emoji) {
        match event.get(name) {
            None => {}
            Some(_) if name == "reaction_type" && event["emoji_name"] == "" => {}
            Some(value) if *value == false || *value == "" => _ = status.remove(name),
            Some(value) => _ = status.insert(name.to_owned(), value.clone()),
        }
    }
    if status.is_empty() {
        all.remove(&user_id);
    }
}

/// A user is no longer accessible: clients drop presence, status and typing.
pub fn forget_user(model: &mut Model, user_id: &Value) {
    let id = user_id.to_string();
    let users = model.state.get("realm_users").and_then(Value::as_array).into_iter().flatten();
    let emails = users.filter(|user| user["user_id"] == *user_id).map(|user| user["email"].clone());
    let names: Vec<String> =
        emails.filter_map(|email| email.as_str().map(str::to_owned)).chain([id]).collect();
    for list in ["presences", "user_status"] {
        if let Some(known) = model.state.get_mut(list).and_then(Value::as_object_mut) {
            known.retain(|name, _value| !names.contains(name));
        }
    }
}
