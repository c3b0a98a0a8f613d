//! `realm_user` events.

use super::{Model, subscriptions};
use serde_json::{Value, json};

/// The lists of users, one of active ones and one of others.
const LISTS: [&str; 2] = ["realm_users", "realm_non_active_users"];

/// Somebody joined, or can be accessed now.
pub fn add(model: &mut Model, event: &Value) {
    let mut person = event["person"].clone();
    let is_active = person.as_object_mut().unwrap().remove("is_active").expect("a user is active or not");
    forget(model, &person["user_id"]);
    put(model, LISTS[usize::from(is_active == false)], person);
}

/// Somebody can no longer be accessed.
pub fn remove(model: &mut Model, event: &Value) {
    let user_id = &event["person"]["user_id"];
    assert_eq!(event["person"], json!({"user_id": user_id, "full_name": "Unknown user"}));
    forget(model, user_id);
    if model.parameters["client_capabilities"]["user_list_incomplete"] != true {
        put(model, "realm_users", unknown(user_id));
    }
}

/// What clients that know nobody missing show of a user whom they cannot access.
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
        "bot_type": null,
        "bot_owner_id": null,
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

/// Something about somebody changed: the members of `person` are the new values.
pub fn update(model: &mut Model, event: &Value) {
    let person = event["person"].as_object().expect("a person");
    let is_own = model.state.get("user_id") == Some(&person["user_id"]);
    if let Some(is_active) = person.get("is_active") {
        set_active(model, &person["user_id"], is_active == true);
        return;
    }
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

/// What follows from a role, in the list and in what a client knows of its own user.
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

/// An account is in use again, or no longer. Clients forget groups and settings of a deactivated user themselves.
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
    if !is_active {
        for group in model.list("realm_user_groups").into_iter().flatten() {
            group["members"].as_array_mut().unwrap().retain(|member| member != user_id);
        }
        for value in model.state.values_mut() {
            forget_in_settings(value, user_id);
        }
        let event = json!({"stream_ids": all_streams(model), "user_ids": [user_id]});
        subscriptions::peers(model, &event, false);
    }
}

fn all_streams(model: &mut Model) -> Vec<Value> {
    let streams = model.list("streams").into_iter().flatten();
    streams.map(|stream| stream["stream_id"].clone()).collect()
}

/// Group settings name no deactivated users.
fn forget_in_settings(value: &mut Value, user_id: &Value) {
    match value {
        Value::Object(members) => {
            if let Some(Value::Array(users)) = members.get_mut("direct_members") {
                users.retain(|user| user != user_id);
            }
            members.values_mut().for_each(|value| forget_in_settings(value, user_id));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| forget_in_settings(value, user_id)),
        _ => {}
    }
}
