//! Custom profile fields.

mod fields;
mod values;

use crate::harness::Client;
use serde_json::{Value, json};

/// Creates a field and returns its id.
pub async fn field(administrator: &Client, parameters: Value) -> i64 {
    administrator.post("/realm/profile_fields", parameters).await.ok()["id"].as_i64().unwrap()
}

/// All fields.
pub async fn fields(client: &Client) -> Value {
    client.get("/realm/profile_fields", ()).await.ok()["custom_fields"].clone()
}

/// The choices of a list.
pub fn choices() -> Value {
    json!({"vim": {"text": "Vim", "order": "1"}, "emacs": {"text": "Emacs", "order": "2"}})
}
