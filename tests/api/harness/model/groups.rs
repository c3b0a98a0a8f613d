//! `user_group` events.

use super::Model;
use serde_json::Value;

/// Somebody is in a group.
pub fn add_members(model: &mut Model, event: &Value) {
    change_members(model, event, true);
}

/// Somebody is no longer in a group.
pub fn remove_members(model: &mut Model, event: &Value) {
    change_members(model, event, false);
}

fn change_members(model: &mut Model, event: &Value, added: bool) {
    let Some(groups) = model.list("realm_user_groups") else { return };
    let group = groups.iter_mut().find(|group| group["id"] == event["group_id"]).expect("a known group");
    let members = group["members"].as_array_mut().expect("members are a list");
    let users = event["user_ids"].as_array().expect("users are a list");
    members.retain(|member| !users.contains(member));
    if added {
        members.extend(users.iter().cloned());
        members.sort_by_key(Value::as_i64);
    }
}
