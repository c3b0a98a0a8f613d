//! Reading without an account: the messages of web-public channels, and nothing else.

mod limits;
mod pages;
mod reading;
mod register;
mod routes;

use crate::harness::{Answer, Client, TestServer};
use serde_json::{Value, json};

const NOT_LOGGED_IN: &str = "Not logged in: API authentication or user session required";

/// An organization with a web-public, a public, a private and an archived channel, in which Ada writes.
pub struct Place {
    pub server: TestServer,
    pub owner: Client,
    pub ada: Client,
    pub guest: Client,
    /// A browser without a session.
    pub visitor: Client,
    pub web: i64,
    pub open: i64,
    pub secret: i64,
    pub old: i64,
}

impl Place {
    pub async fn new() -> Self {
        Self::on(TestServer::start().await).await
    }

    pub async fn on(server: TestServer) -> Self {
        let owner = server.owner().await;
        let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
        let web = server.channel("web", &[&ada, &owner]).await;
        let open = server.channel("open", &[&ada]).await;
        let secret = server.private_channel("secret", &[&ada, &owner]).await;
        let old = server.channel("old", &[&ada]).await;
        owner.patch("/realm", json!({"enable_spectator_access": true})).await.ok();
        for channel in [web, old] {
            owner.patch(&format!("/streams/{channel}"), json!({"is_web_public": true})).await.ok();
        }
        let visitor = server.anonymous().in_browser(None);
        Self { server, owner, ada, guest, visitor, web, open, secret, old }
    }

    pub async fn archive(&self, channel: i64) {
        self.owner.delete(&format!("/streams/{channel}"), ()).await.ok();
    }

    pub async fn set_access(&self, is_open: bool) {
        self.owner.patch("/realm", json!({"enable_spectator_access": is_open})).await.ok();
    }
}

/// Parameters of `GET /messages` for the newest hundred in web-public channels that match these terms.
pub fn page(terms: Value) -> Value {
    let mut narrow = terms.as_array().unwrap().clone();
    narrow.push(json!({"operator": "channels", "operand": "web-public"}));
    fetch(narrow.into())
}

/// The same without a term of its own.
pub fn fetch(narrow: Value) -> Value {
    json!({"anchor": "newest", "num_before": 100, "num_after": 0, "narrow": narrow})
}

pub fn ids(answer: Answer) -> Vec<i64> {
    let found = answer.ok();
    found["messages"].as_array().unwrap().iter().map(|message| message["id"].as_i64().unwrap()).collect()
}

/// Expects the refusal that does not tell what is missing from what is hidden.
pub fn refused(answer: Answer) {
    assert_eq!(answer.header("www-authenticate"), r#"Session realm="zulip""#);
    answer.error(401, "UNAUTHORIZED", NOT_LOGGED_IN);
}
