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
