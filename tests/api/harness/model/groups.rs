//! `user_group` events.

use super::Model;
use serde_json::Value;

/// The lists of users in an event and in a group.
pub const MEMBERS: (&str, &str) = ("user_ids", "members");

/// The lists of subgroups in an event and in a group.
pub const SUBGROUPS: (&str, &str) = ("direct_subgroup_ids", "direct_subgroup_ids");

const GROUPS: &str = "realm_user_groups";

/// A group was made, or is in use again.
pub fn add(model: &mut Model, event: &Value) {
    let Some(groups) = model.list(GROUPS) else { return };
    let group = &event["group"];
    assert!(groups.iter().all(|known| known["id"] != group["id"]), "a new group: {event}");
    groups.push(group.clone());
    groups.sort_by_key(|group| group["id"].as_i64());
}

/// A group was deleted.
pub fn remove(model: &mut Model, event: &Value) {
    let Some(groups) = model.list(GROUPS) else { return };
    let place = groups.iter().position(|group| group["id"] == event["group_id"]).expect("a known group");
    groups.remove(place);
}

/// Something about a group changed.
pub fn update(model: &mut Model, event: &Value) {
    let Some(group) = group(model, event) else { return };
    for (name, value) in event["data"].as_object().expect("data") {
        assert!(group.get(name).is_some(), "{name} is a member of a group");
        group[name] = value.clone();
    }
}

/// Others are in a group, or no longer.
pub fn change_list(model: &mut Model, event: &Value, named: (&str, &str), added: bool) {
    let (of_event, of_group) = named;
    let Some(group) = group(model, event) else { return };
    let list = group[of_group].as_array_mut().expect("a list of ids");
    for id in event[of_event].as_array().expect("a list of ids") {
        assert_eq!(list.contains(id), !added, "{event}");
        if added {
            list.push(id.clone());
        } else {
            list.retain(|known| known != id);
        }
    }
    list.sort_by_key(Value::as_i64);
}

fn group<'m>(model: &'m mut Model, event: &Value) -> Option<&'m mut Value> {
    let groups = model.list(GROUPS)?;
    Some(groups.iter_mut().find(|group| group["id"] == event["group_id"]).expect("a known group"))
}

/// A deactivated user is in no group, and in no setting.
pub fn forget_user(model: &mut Model, user_id: &Value) {
    for group in model.list(GROUPS).into_iter().flatten() {
        let members = group["members"].as_array_mut().expect("a list of ids");
        members.retain(|known| known != user_id);
        forget_in_settings(group, user_id);
    }
    for list in super::channels::SUBSCRIPTION_LISTS.into_iter().chain(["streams"]) {
        for stream in model.list(list).into_iter().flatten() {
            forget_in_settings(stream, user_id);
        }
    }
    let mut state = Value::Object(std::mem::take(&mut model.state));
    forget_in_settings(&mut state, user_id);
    let Value::Object(state) = state else { unreachable!() };
    model.state = state;
}

fn forget_in_settings(owner: &mut Value, user_id: &Value) {
    for (_, value) in owner.as_object_mut().expect("an object") {
        if let Some(members) = value.get_mut("direct_members").and_then(Value::as_array_mut) {
            members.retain(|known| known != user_id);
        }
    }
}
