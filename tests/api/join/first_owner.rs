//! The link with which the first owner joins.

use super::{Page, between, text};
use crate::harness::TestServer;
use hyper::Method;
use serde_json::{Value, json};
use teamchat::commands::Command;

#[tokio::test]
async fn first_owner_joins_through_the_printed_link() {
    let server = TestServer::start().await;
    let stale = server.command(Command::OwnerLink).await;
    let link = server.command(Command::OwnerLink).await;
    let answer = server.anonymous().request_outside(Method::GET, stale.as_str().unwrap()).send().await;
    assert_eq!(answer.status, 404, "only the newest works");
    let page = Page::open(&server, link.as_str().unwrap()).await;
    let mut fields = json!({"full_name": "Ada", "email": "ada@example.com", "password": "correct horse"});
    for (organization, words) in [
        (" ".to_owned(), "Please enter a name for your organization."),
        ("x".repeat(41), "The name has at most 40 characters."),
    ] {
        fields["organization"] = organization.into();
        let answer = page.send(fields.clone()).await;
        assert!(answer.status == 400 && text(&answer).contains(words), "{answer}");
    }
    fields["organization"] = "Analytical Engines".into();
    let answer = page.send(fields).await;
    assert_eq!(answer.status, 200, "{answer}");
    assert!(text(&answer).contains("You are in Analytical Engines."), "{answer}");
    let mut ada = server.anonymous();
    (ada.email, ada.api_key) = ("ada@example.com".to_owned(), Some(between(&text(&answer), "key=", "\n")));
    assert_eq!(ada.get("/users/me", ()).await.ok()["is_owner"], true);
    let settings = ada.get("/server_settings", ()).await.ok();
    assert_eq!(settings["realm_name"], "Analytical Engines");
    let gone = page.client.request_outside(Method::GET, &page.path).send().await;
    assert_eq!(gone.status, 404);
    assert!(text(&gone).contains("<h1>This server is set up already</h1>"), "{gone}");
    assert_eq!(server.command(Command::OwnerLink).await, Value::Null);
    // The first person finds a channel, and a message.
    let subscriptions = ada.get("/users/me/subscriptions", ()).await.ok();
    let general = &subscriptions["subscriptions"][0];
    assert_eq!((&general["name"], &general["creator_id"]), (&json!("general"), &Value::Null));
    assert_eq!(subscriptions["subscriptions"].as_array().unwrap().len(), 1);
    let fetch = json!({"anchor": "newest", "num_before": 9, "num_after": 0, "apply_markdown": false});
    let messages = ada.get("/messages", fetch).await.ok()["messages"].clone();
    assert!(
        messages[0]["content"].as_str().unwrap().starts_with("Hello, and welcome to **Analytical Engines**!")
    );
}

#[tokio::test]
async fn first_owner_link_ends_with_the_first_login() {
    let server = TestServer::start().await;
    let link = server.command(Command::OwnerLink).await;
    let page = Page::open(&server, link.as_str().unwrap()).await;
    server.owner().await;
    let fields = json!({"full_name": "Eve", "email": "eve@example.com", "password": "correct horse",
        "organization": "Mine"});
    assert_eq!(page.send(fields).await.status, 404);
}
