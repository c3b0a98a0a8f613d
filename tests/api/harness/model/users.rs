//! `realm_user` events.

use super::Model;
use serde_json::Value;

/// The lists that people with profiles are in.
const USER_LISTS: [&str; 2] = ["realm_users", "realm_non_active_users"];

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
        if name == "custom_profile_field" {
            set_profile_value(model, &person["user_id"], value);
            continue;
        }
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

/// One value of a profile is another, or gone.
fn set_profile_value(model: &mut Model, user_id: &Value, changed: &Value) {
    for list in USER_LISTS {
        let Some(users) = model.list(list) else { continue };
        let Some(user) = users.iter_mut().find(|user| user["user_id"] == *user_id) else { continue };
        let profile = user["profile_data"].as_object_mut().expect("people have profiles");
        let mut value = changed.as_object().expect("a value").clone();
        let id = value.remove("id").expect("the value of a field").to_string();
        if value["value"].is_null() {
            profile.remove(&id);
        } else {
            profile.insert(id, value.into());
        }
    }
}

/// There are other profile fields: values of fields that are gone go with them.
pub fn profile_fields(model: &mut Model, event: &Value) {
    let fields = event["fields"].as_array().expect("a list of fields");
    let ids: Vec<String> = fields.iter().map(|field| field["id"].to_string()).collect();
    model.set("custom_profile_fields", event["fields"].clone());
    for list in USER_LISTS {
        for user in model.list(list).into_iter().flatten() {
            if let Some(profile) = user.get_mut("profile_data").and_then(Value::as_object_mut) {
                profile.retain(|id, _value| ids.contains(id));
            }
        }
    }
}
