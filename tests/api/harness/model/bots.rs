//! `realm_bot` events.

use super::Model;
use serde_json::Value;

/// One more that this user can administer.
pub fn add(model: &mut Model, event: &Value) {
    if let Some(bots) = model.list("realm_bots") {
        bots.push(event["bot"].clone());
        bots.sort_by_key(|bot| bot["user_id"].as_i64());
    }
}

/// Something about one is new.
pub fn update(model: &mut Model, event: &Value) {
    super::lists::merge(model, "realm_bots", "user_id", &event["bot"]["user_id"], &event["bot"]);
}

/// Removes a bot that this user can no longer administer.
pub fn delete(model: &mut Model, event: &Value) {
    super::lists::remove(model, "realm_bots", "user_id", &event["bot"]["user_id"]);
}
