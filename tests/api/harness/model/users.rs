//! `realm_user` events.

use super::Model;
use serde_json::Value;

/// Somebody joined.
pub fn add(model: &mut Model, event: &Value) {
    let person = event["person"].clone();
    if let Some(users) = model.list("realm_users") {
        users.push(person);
    }
}

/// Something about somebody changed: the members of `person` are the new values.
pub fn update(model: &mut Model, event: &Value) {
    let person = event["person"].as_object().expect("a person");
    let is_own = model.state.get("user_id") == Some(&person["user_id"]);
    for (name, value) in person {
        // Where an event changes the API email, its member is `new_email`; `email` is a deprecated copy of the old one.
        let name = match name.as_str() {
            "user_id" | "email" => continue,
            "new_email" => "email",
            name => name,
        };
        if is_own && name != "timezone" && model.state.contains_key(name) {
            model.state.insert(name.to_owned(), value.clone());
        }
        // Told to everybody, but in the state only for oneself.
        if matches!(name, "avatar_source" | "avatar_url_medium") {
            continue;
        }
        if let Some(users) = model.list("realm_users")
            && let Some(user) = users.iter_mut().find(|user| user["user_id"] == person["user_id"])
        {
            user[name] = value.clone();
        }
    }
}
