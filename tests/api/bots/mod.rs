//! `/bots`.

mod avatar;
mod create;
mod handover;
mod keys;
mod update;

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

/// The bot of an answer of `POST /bots`, as one who calls.
async fn client(server: &TestServer, owner: &Client, made: &Value) -> Client {
    let mut bot = server.anonymous();
    let record = owner.get(&format!("/users/{}", made["user_id"]), ()).await.ok()["user"].clone();
    bot.user_id = made["user_id"].as_i64().unwrap();
    record["email"].as_str().unwrap().clone_into(&mut bot.email);
    record["full_name"].as_str().unwrap().clone_into(&mut bot.full_name);
    bot.api_key = Some(made["api_key"].as_str().unwrap().to_owned());
    bot
}

/// Creates a generic bot. Returns its id.
async fn bot(owner: &Client, name: &str) -> i64 {
    let made = owner.post("/bots", json!({"full_name": name, "short_name": name.to_lowercase()})).await.ok();
    made["user_id"].as_i64().unwrap()
}

/// A user's `realm_bots`, without varying members.
async fn realm_bots(client: &Client) -> Vec<Value> {
    let mut queue = client.register(json!({"fetch_event_types": ["realm_bot"], "event_types": []})).await;
    queue.ignore();
    queue.state["realm_bots"].as_array().unwrap().clone()
}
