//! Events about the organization: settings, and the older fields that clients work out from them.

use super::Model;
use super::lists;
use serde_json::{Map, Value, json};

/// The system groups, each with the one before it as a part.
pub const SYSTEM_GROUPS: [&str; 8] = [
    "role:nobody",
    "role:owners",
    "role:administrators",
    "role:moderators",
    "role:fullmembers",
    "role:members",
    "role:everyone",
    "role:internet",
];

/// Numbers that stood for a permission before it was a group, and the places in the chain that they include.
const COMMON: &[(usize, i64)] = &[(2, 2), (3, 4), (4, 3), (5, 1)];
const WEB_PUBLIC: &[(usize, i64)] = &[(0, 6), (1, 7), (2, 2), (3, 4)];
const WILDCARD: &[(usize, i64)] = &[(0, 6), (2, 5), (3, 7), (4, 3), (5, 2), (6, 1)];

/// `realm`, `op: update`.
pub fn update(model: &mut Model, event: &Value) {
    let property = event["property"].as_str().expect("a setting has a name");
    set(model, &Map::from_iter([(property.to_owned(), event["value"].clone())]));
}

/// `realm`, `op: update_dict`.
pub fn update_dict(model: &mut Model, event: &Value) {
    let property = event["property"].as_str().expect("a word");
    assert!(["default", "icon", "logo", "night_logo"].contains(&property), "{event}");
    set(model, event["data"].as_object().expect("what has changed"));
}

fn set(model: &mut Model, changed: &Map<String, Value>) {
    for (name, value) in changed {
        let known = model.state.get_mut(&format!("realm_{name}"));
        *known.unwrap_or_else(|| panic!("the state has realm_{name}")) = value.clone();
    }
    derive(model);
}

/// Computes values that follow from settings without an event.
pub fn derive(model: &mut Model) {
    let state = &model.state;
    let shows_history = state["realm_message_edit_history_visibility_policy"] != "none";
    let jitsi = match &state["realm_jitsi_server_url"] {
        Value::Null => state["server_jitsi_server_url"].clone(),
        url => url.clone(),
    };
    let number = |name: &str, choices: &[(usize, i64)]| {
        let place = widest(state, &state[name]);
        let found = choices.iter().find(|(choice, _)| *choice >= place).or(choices.last());
        Value::from(found.unwrap().1)
    };
    let is_guest = state["is_guest"] == true;
    let may = |name: &str| !is_guest && contains(state, &state[name], &state["user_id"]);
    let public = may("realm_can_create_public_channel_group");
    let private = may("realm_can_create_private_channel_group");
    let derived = [
        ("realm_allow_edit_history", json!(shows_history)),
        ("jitsi_server_url", jitsi),
        ("realm_create_public_stream_policy", number("realm_can_create_public_channel_group", COMMON)),
        ("realm_create_private_stream_policy", number("realm_can_create_private_channel_group", COMMON)),
        (
            "realm_create_web_public_stream_policy",
            number("realm_can_create_web_public_channel_group", WEB_PUBLIC),
        ),
        ("realm_wildcard_mention_policy", number("realm_can_mention_many_users_group", WILDCARD)),
        ("can_create_public_streams", json!(public)),
        ("can_create_private_streams", json!(private)),
        ("can_create_streams", json!(public || private)),
        ("can_subscribe_other_users", json!(may("realm_can_add_subscribers_group"))),
        ("can_invite_others_to_realm", json!(may("realm_can_invite_users_group"))),
    ];
    for (name, value) in derived {
        model.set(name, value);
    }
}

/// The members and subgroups of a value: a group's id, or both in an object.
fn inside<'a>(state: &'a Map<String, Value>, value: &'a Value) -> (Option<&'a str>, &'a Value, &'a Value) {
    if value.is_object() {
        return (None, &value["direct_members"], &value["direct_subgroups"]);
    }
    let groups = state["realm_user_groups"].as_array().expect("a list of groups");
    let group = groups.iter().find(|group| group["id"] == *value).expect("a known group");
    (group["name"].as_str(), &group["members"], &group["direct_subgroup_ids"])
}

/// True if a user is in the groups of a value.
fn contains(state: &Map<String, Value>, value: &Value, user_id: &Value) -> bool {
    let (_, members, subgroups) = inside(state, value);
    members.as_array().unwrap().contains(user_id)
        || subgroups.as_array().unwrap().iter().any(|group| contains(state, group, user_id))
}

/// The position in the chain of the narrowest system group that includes all users of a value.
fn widest(state: &Map<String, Value>, value: &Value) -> usize {
    let (name, members, subgroups) = inside(state, value);
    if let Some(place) = SYSTEM_GROUPS.iter().position(|system| Some(*system) == name) {
        return place;
    }
    let users = state["realm_users"].as_array().expect("a list of users");
    let of_members = members.as_array().unwrap().iter().map(|id| {
        let user = users.iter().find(|user| user["user_id"] == *id).expect("a known user");
        match user["role"].as_i64().unwrap() {
            100 => 1,
            200 => 2,
            300 => 3,
            400 if state["realm_waiting_period_threshold"] == 0 => 4,
            400 => 5,
            _ => 6,
        }
    });
    let of_subgroups = subgroups.as_array().unwrap().iter().map(|group| widest(state, group));
    of_members.chain(of_subgroups).max().unwrap_or(0)
}

/// `realm_domains`.
pub fn domains(model: &mut Model, event: &Value) {
    let Some(domains) = model.list("realm_domains") else { return };
    match event["op"].as_str() {
        Some("add") => domains.push(event["realm_domain"].clone()),
        Some("change") => {
            let changed = &event["realm_domain"];
            let known = domains.iter_mut().find(|domain| domain["domain"] == changed["domain"]);
            *known.expect("a known domain") = changed.clone();
        }
        _ => lists::remove(model, "realm_domains", "domain", &event["domain"]),
    }
}
