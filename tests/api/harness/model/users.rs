//! `realm_user` events.

use super::Model;
use serde_json::{Value, json};

/// The lists of users, one of active ones and one of others.
const LISTS: [&str; 2] = ["realm_users", "realm_non_active_users"];

/// A user joins, or becomes accessible.
pub fn add(model: &mut Model, event: &Value) {
    let mut person = event["person"].clone();
    let is_active = person.as_object_mut().unwrap().remove("is_active").expect("a user is active or not");
    forget(model, &person["user_id"]);
    put(model, LISTS[usize::from(is_active == false)], person);
}

/// A user is no longer accessible.
pub fn remove(model: &mut Model, event: &Value) {
    let user_id = &event["person"]["user_id"];
    assert_eq!(event["person"], json!({"user_id": user_id, "full_name": "Unknown user"}));
    super::people::forget_user(model, user_id);
    forget(model, user_id);
    if model.parameters["client_capabilities"]["user_list_incomplete"] != true {
        put(model, "realm_users", unknown(user_id));
    }
}

/// The placeholder that clients without `user_list_incomplete` show for an inaccessible user.
pub fn unknown(user_id: &Value) -> Value {
    json!({
        "user_id": user_id,
        "delivery_email": null,
        "email": format!("user{user_id}@bots.invalid"),
        "full_name": "Unknown user",
        "date_joined": "1970-01-01T00:00+00:00",
        "is_owner": false,
        "is_admin": false,
        "is_guest": false,
        "is_bot": false,
        "role": 400,
        "timezone": "",
        "avatar_url": "/static/images/unknown-user-avatar.png",
        "avatar_version": 1,
        "profile_data": {},
    })
}

fn put(model: &mut Model, list: &str, person: Value) {
    if let Some(list) = model.list(list) {
        list.push(person);
        list.sort_by_key(|user| user["user_id"].as_i64());
    }
}

fn forget(model: &mut Model, user_id: &Value) {
    for list in LISTS {
        if let Some(list) = model.list(list) {
            list.retain(|user| user["user_id"] != *user_id);
        }
    }
}

/// A user changed: the members of `person` are the new values.
pub fn update(model: &mut Model, event: &Value) {
    let person = event["person"].as_object().expect("a person");
    // Clients forget groups, settings and subscriptions of a deactivated user themselves.
    if person.get("is_active") == Some(&Value::Bool(false)) {
        super::people::forget_user(model, &person["user_id"]);
        super::groups::forget_user(model, &person["user_id"]);
        super::subscriptions::forget_user(model, &person["user_id"]);
    }
    let is_own = model.state.get("user_id") == Some(&person["user_id"]);
    if let Some(is_active) = person.get("is_active") {
        set_active(model, &person["user_id"], is_active == true);
        return;
    }
    for (name, value) in person {
        // If an event changes the API email, its member is `new_email`; `email` is a deprecated copy of the old one.
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
        // Sent to all users, but part of the state only for the user's own account.
        if matches!(name, "avatar_source" | "avatar_url_medium") {
            continue;
        }
        for list in LISTS {
            let users = model.list(list).into_iter().flatten();
            for user in users.filter(|user| user["user_id"] == person["user_id"]) {
                user[name] = value.clone();
            }
        }
    }
    if let Some(role) = person.get("role") {
        set_role(model, &person["user_id"], role.as_i64().unwrap(), is_own);
    }
}

/// Values that follow from a role, in the list and for the client's own user.
fn set_role(model: &mut Model, user_id: &Value, role: i64, is_own: bool) {
    let facts = [("is_owner", role == 100), ("is_admin", role <= 200), ("is_guest", role == 600)];
    for list in LISTS {
        let users = model.list(list).into_iter().flatten();
        for user in users.filter(|user| user["user_id"] == *user_id) {
            for (name, value) in facts {
                user[name] = value.into();
            }
        }
    }
    if is_own && model.state.contains_key("is_owner") {
        for (name, value) in facts.into_iter().chain([("is_moderator", role <= 300)]) {
            model.state.insert(name.to_owned(), value.into());
        }
    }
}

/// An account is in use again, or no longer.
fn set_active(model: &mut Model, user_id: &Value, is_active: bool) {
    let mut found = None;
    for list in LISTS {
        if let Some(list) = model.list(list)
            && let Some(place) = list.iter().position(|user| user["user_id"] == *user_id)
        {
            found = Some(list.remove(place));
        }
    }
    if model.state.contains_key("realm_users") {
        put(model, LISTS[usize::from(!is_active)], found.expect("a known user"));
    }
}

/// A profile value was changed or deleted.
fn set_profile_value(model: &mut Model, user_id: &Value, changed: &Value) {
    for list in LISTS {
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

/// The list of profile fields changed: values of deleted fields are dropped.
pub fn profile_fields(model: &mut Model, event: &Value) {
    let fields = event["fields"].as_array().expect("a list of fields");
    let ids: Vec<String> = fields.iter().map(|field| field["id"].to_string()).collect();
    model.set("custom_profile_fields", event["fields"].clone());
    for list in LISTS {
        for user in model.list(list).into_iter().flatten() {
            if let Some(profile) = user.get_mut("profile_data").and_then(Value::as_object_mut) {
                profile.retain(|id, _value| ids.contains(id));
            }
        }
    }
}
