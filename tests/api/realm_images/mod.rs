//! `/realm/icon` and `/realm/logo`.

mod icon;
mod logo;

use crate::harness::{Answer, Client, TestServer};
use reqwest::Method;
use serde_json::{Value, json};

async fn upload(client: &Client, path: &str, parameters: Value, files: &[(&str, &str, &[u8])]) -> Answer {
    client.request(Method::POST, path).multipart(parameters, files).send().await
}

async fn load(server: &TestServer, url: &Value) -> Answer {
    server.anonymous().request_outside(Method::GET, url.as_str().unwrap()).send().await
}

/// The event about an image.
fn changed(name: &str, url: &Value, source: &str) -> Value {
    json!({"type": "realm", "op": "update_dict", "property": name,
        "data": {format!("{name}_url"): url, format!("{name}_source"): source}})
}

/// URL and source of an image in the state.
async fn announced(client: &Client, name: &str) -> (Value, Value) {
    let state = client.post("/register", json!({"fetch_event_types": ["realm"]})).await.ok();
    (state[format!("realm_{name}_url")].clone(), state[format!("realm_{name}_source")].clone())
}
