//! User groups.

mod create;
mod deactivate;
mod list;
mod members;
mod membership;
mod model;
mod subgroups;
mod update;

use crate::harness::Client;
use serde_json::{Value, json};

/// The error of a missing permission.
const NO_PERMISSION: (u16, &str, &str) = (400, "BAD_REQUEST", "Insufficient permission");

/// Creates a group with these members, and returns its id.
pub async fn group(creator: &Client, name: &str, members: &[&Client]) -> i64 {
    group_with(creator, json!({"name": name, "description": "", "members": ids(members)})).await
}

/// Creates a group with these parameters, and returns its id.
pub async fn group_with(creator: &Client, parameters: Value) -> i64 {
    creator.post("/user_groups/create", parameters).await.ok()["group_id"].as_i64().unwrap()
}

/// A value of a group setting.
pub fn direct(members: &[&Client], groups: &[i64]) -> Value {
    json!({"direct_members": ids(members), "direct_subgroups": groups})
}

/// A group as clients see it, also if it is deactivated.
pub async fn seen(client: &Client, group: i64) -> Value {
    let all = client.get("/user_groups", json!({"include_deactivated_groups": true})).await.ok();
    let groups = all["user_groups"].as_array().unwrap();
    groups.iter().find(|found| found["id"] == group).unwrap().clone()
}

fn ids(users: &[&Client]) -> Vec<i64> {
    users.iter().map(|user| user.user_id).collect()
}

fn path(group: i64, rest: &str) -> String {
    format!("/user_groups/{group}{rest}")
}
