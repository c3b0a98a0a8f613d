//! `/realm/emoji`, and custom emoji in messages and reactions.

mod add;
mod deactivate;
mod used;

use crate::harness::{Answer, Client, pictures};
use reqwest::Method;
use serde_json::{Value, json};

/// Adds an emoji of this name, with a PNG file.
async fn add(client: &Client, name: &str) -> Answer {
    upload(client, name, &[("file", "tick.png", &pictures::png(100, 50))]).await
}

async fn upload(client: &Client, name: &str, files: &[(&str, &str, &[u8])]) -> Answer {
    let path = format!("/realm/emoji/{name}");
    client.request(Method::POST, &path).multipart((), files).send().await
}

async fn deactivate(client: &Client, name: &str) -> Answer {
    client.delete(&format!("/realm/emoji/{name}"), ()).await
}

/// All emoji, as returned by `GET /realm/emoji`.
async fn all(client: &Client) -> Value {
    client.get("/realm/emoji", ()).await.ok()["emoji"].clone()
}

/// The expected record of an emoji, without its URL.
fn record(id: i64, name: &str, author: &Client, deactivated: bool) -> Value {
    json!({"id": id.to_string(), "name": name, "source_url": "*", "still_url": null, "deactivated": deactivated,
        "author_id": author.user_id})
}
