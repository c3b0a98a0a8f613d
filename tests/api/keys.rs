//! API keys: logging in, and getting rid of a key.

use crate::harness::{Answer, Client, TestServer};
use serde_json::json;
use teamchat::types::Role;

async fn log_in(server: &TestServer, username: &str, password: &str) -> Answer {
    server.anonymous().post("/fetch_api_key", &[("username", username), ("password", password)]).await
}

async fn with_password(server: &TestServer) -> Client {
    server.user("ada", Role::Member, None, Some("correct horse")).await
}

const WRONG: &str = "Your username or password is incorrect";

// conformance: auth-15
#[tokio::test]
async fn a_password_opens_and_each_client_has_a_key_of_its_own() {
    let server = TestServer::start().await;
    let mut ada = with_password(&server).await;
    let first = log_in(&server, "ada@example.com", "correct horse").await.ok();
    let second = log_in(&server, " ADA@example.com ", "correct horse").await.ok();
    assert_ne!(first["api_key"], second["api_key"]);
    for answer in [first, second] {
        let key = answer["api_key"].as_str().unwrap().to_owned();
        let expected = json!({"result": "success", "msg": "", "api_key": key, "email": "ada@example.com", "user_id": ada.user_id});
        assert_eq!(answer, expected);
        ada.api_key = Some(key);
        ada.get("/users/me", ()).await.ok();
    }
    let clients = server.column("SELECT client FROM api_key ORDER BY id").await;
    assert_eq!(clients, ["command line", "teamchat-tests", "teamchat-tests"]);
}

// conformance: auth-16, auth-17, auth-18, auth-19
#[tokio::test]
async fn logging_in_fails_in_the_published_words() {
    let server = TestServer::start().await;
    let ada = with_password(&server).await;
    let bot = server.bot("helper", &ada).await;
    server.member("nokeyword").await;
    for (username, password) in [
        ("ada@example.com", "wrong"),
        ("ada@example.com", ""),
        ("nobody@example.com", "correct horse"),
        ("nokeyword@example.com", "correct horse"),
        (bot.email.as_str(), "correct horse"),
        ("", ""),
    ] {
        log_in(&server, username, password).await.error(401, "AUTHENTICATION_FAILED", WRONG);
    }
    let anonymous = server.anonymous();
    let answer = anonymous.post("/fetch_api_key", &[("username", "ada@example.com")]).await;
    answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'password' argument");
    let answer = anonymous.post("/fetch_api_key", &[("password", "x")]).await;
    answer.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'username' argument");

    server.sql("UPDATE user SET is_active = 0").await;
    let answer = log_in(&server, "ada@example.com", "correct horse").await;
    answer.error(401, "USER_DEACTIVATED", "Account is deactivated");
    server.sql("INSERT INTO realm_setting VALUES ('password_auth_enabled', 'false')").await;
    let answer = log_in(&server, "ada@example.com", "correct horse").await;
    answer.error(401, "PASSWORD_AUTH_DISABLED", "Password authentication is disabled in this organization");
}

// conformance: auth-20
#[tokio::test]
async fn five_wrong_passwords_in_half_an_hour_are_enough() {
    let server = TestServer::start().await;
    let ada = with_password(&server).await;
    for _ in 0..5 {
        log_in(&server, "ada@example.com", "wrong").await.error(401, "AUTHENTICATION_FAILED", WRONG);
    }
    server.clock.advance(60);
    let answer = log_in(&server, "Ada@example.com", "correct horse").await;
    assert_eq!(answer.header("retry-after"), "1740");
    let error = answer.error(429, "RATE_LIMIT_HIT", "API usage exceeded rate limit");
    assert_eq!(error["retry-after"], 1740.0);
    log_in(&server, "bob@example.com", "wrong").await.error(401, "AUTHENTICATION_FAILED", WRONG);
    ada.get("/users/me", ()).await.ok();
    server.clock.advance(1740);
    log_in(&server, "ada@example.com", "correct horse").await.ok();
}

// conformance: auth-21
#[tokio::test]
async fn a_new_key_ends_all_others() {
    let server = TestServer::start().await;
    let mut ada = with_password(&server).await;
    let mut phone = ada.clone();
    let answer = log_in(&server, "ada@example.com", "correct horse").await.ok();
    phone.api_key = answer["api_key"].as_str().map(str::to_owned);
    let answer = phone.post("/users/me/api_key/regenerate", ()).await.ok();
    for old in [&ada, &phone] {
        old.get("/users/me", ()).await.error(401, "INVALID_API_KEY", "Invalid API key");
    }
    ada.api_key = answer["api_key"].as_str().map(str::to_owned);
    ada.get("/users/me", ()).await.ok();
    assert_eq!(server.column("SELECT client FROM api_key").await, ["teamchat-tests"]);
}
