//! Authentication: every way to fail, with the published messages.

use crate::harness::{Client, START, TestServer};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;

const NOT_LOGGED_IN: &str = "Not logged in: API authentication or user session required";
const INVALID_HEADER: &str = "Invalid authorization header for basic auth";

fn basic(email: &str, key: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{email}:{key}")))
}

fn key_of(client: &Client) -> &str {
    client.api_key.as_deref().unwrap()
}

// conformance: auth-5, auth-6, auth-7, auth-8, auth-9, auth-10
#[tokio::test]
async fn credentials_are_refused_as_published() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let key = key_of(&ada);
    let other_key = "x".repeat(32);
    let cases = [
        (String::new(), 401, "UNAUTHORIZED", NOT_LOGGED_IN),
        ("Bearer token".into(), 400, "BAD_REQUEST", "This endpoint requires HTTP basic authentication."),
        ("Basic".into(), 401, "UNAUTHORIZED", INVALID_HEADER),
        ("Basic %%%".into(), 401, "UNAUTHORIZED", INVALID_HEADER),
        (format!("Basic {}", STANDARD.encode(b"\xff:\xff")), 401, "UNAUTHORIZED", INVALID_HEADER),
        (format!("Basic {}", STANDARD.encode("no colon")), 401, "UNAUTHORIZED", INVALID_HEADER),
        (basic("ada@example.com", ""), 401, "UNAUTHORIZED", "Malformed API key"),
        (basic("ada@example.com", &key[1..]), 401, "UNAUTHORIZED", "Malformed API key"),
        (basic("ada@example.com", &format!("{key}0")), 401, "UNAUTHORIZED", "Malformed API key"),
        (basic("ada@example.com", &"ä".repeat(16)), 401, "UNAUTHORIZED", "Malformed API key"),
        (basic("ada@example.com", &other_key), 401, "UNAUTHORIZED", "Invalid API key"),
        (basic("eve@example.com", key), 401, "UNAUTHORIZED", "Invalid API key"),
        (basic("", key), 401, "UNAUTHORIZED", "Invalid API key"),
    ];
    for (header, status, code, msg) in cases {
        let mut request = server.anonymous().request(Method::GET, "/users/me");
        if !header.is_empty() {
            request = request.header("Authorization", &header);
        }
        let answer = request.send().await;
        let challenge = if status == 401 { r#"Basic realm="zulip""# } else { "" };
        assert_eq!(answer.header("www-authenticate"), challenge, "{header}");
        answer.error(status, code, msg);
    }
}

// conformance: auth-1
#[tokio::test]
async fn the_scheme_and_the_email_are_read_without_regard_to_case_and_space() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let key = key_of(&ada);
    let headers = [
        basic("ADA@Example.com", key),
        basic(" ada@example.com ", key),
        basic("ada@example.com", key).replace("Basic", "bASIC"),
        basic("ada@example.com", key).replace("Basic", "Basic  "),
    ];
    for header in headers {
        let request = server.anonymous().request(Method::GET, "/users/me").header("Authorization", &header);
        assert_eq!(request.send().await.ok()["user_id"], ada.user_id, "{header}");
    }
}

// conformance: auth-2
#[tokio::test]
async fn api_emails_work_for_hidden_users() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    ada.patch("/settings", &[("email_address_visibility", "4")]).await.ok();
    let api_email = ada.get("/users/me", ()).await.ok()["email"].as_str().unwrap().to_owned();
    assert_ne!(api_email, ada.email);
    for email in [&api_email, &ada.email] {
        let header = basic(email, key_of(&ada));
        let request = server.anonymous().request(Method::GET, "/users/me").header("Authorization", &header);
        assert_eq!(request.send().await.ok()["user_id"], ada.user_id, "{email}");
    }
}

// conformance: auth-11, auth-12
#[tokio::test]
async fn deactivated_organizations_are_reported_before_accounts() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    ada.get("/users/me", ()).await.ok();
    server.sql("UPDATE user SET is_active = 0 WHERE email = 'ada@example.com'").await;
    ada.get("/users/me", ()).await.error(401, "UNAUTHORIZED", "Account is deactivated");
    ada.post("/users/me/api_key/regenerate", ()).await.error(401, "UNAUTHORIZED", "Account is deactivated");
    server.sql("UPDATE realm SET deactivated = 1").await;
    let deactivated = "This organization has been deactivated";
    ada.get("/users/me", ()).await.error(401, "UNAUTHORIZED", deactivated);
    server.anonymous().get("/server_settings", ()).await.ok();
}

// conformance: auth-13
#[tokio::test]
async fn incoming_webhook_bots_only_deliver() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let bot = server.bot("hook", &owner).await;
    bot.get("/users/me", ()).await.ok();
    server.sql("UPDATE user SET bot_type = 2 WHERE email = 'hook@example.com'").await;
    let refusal = "This API is not available to incoming webhook bots.";
    bot.get("/users/me", ()).await.error(401, "UNAUTHORIZED", refusal);
    bot.post("/register", ()).await.error(401, "UNAUTHORIZED", refusal);
}

// conformance: auth-4
#[tokio::test]
async fn wrong_credentials_are_ignored_on_public_routes() {
    let server = TestServer::start().await;
    for header in ["Bearer x", "Basic", &basic("ada@example.com", &"x".repeat(32))] {
        let request = server.anonymous().request(Method::GET, "/server_settings");
        request.header("Authorization", header).send().await.ok();
    }
}

// conformance: auth-14
#[tokio::test]
async fn guessing_keys_is_limited_and_right_ones_always_pass() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let guess = || {
        let header = basic("ada@example.com", &"x".repeat(32));
        server.anonymous().request(Method::GET, "/users/me").header("Authorization", &header).send()
    };
    for _ in 0..100 {
        guess().await.error(401, "UNAUTHORIZED", "Invalid API key");
    }
    server.clock.advance(20);
    let answer = guess().await;
    assert_eq!(answer.header("retry-after"), "40");
    let reset = (START + 60).to_string();
    let headers = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
    assert_eq!(headers.map(|name| answer.header(name)), ["100", "0", &reset]);
    let error = answer.error(429, "RATE_LIMIT_HIT", "API usage exceeded rate limit");
    assert_eq!(error["retry-after"], 40.0);
    ada.get("/users/me", ()).await.ok();
    server.clock.advance(40);
    guess().await.error(401, "UNAUTHORIZED", "Invalid API key");
}
