//! Reverse proxies: whom the server believes where a request comes from.

use crate::harness::{Answer, TestServer};
use reqwest::Method;
use teamchat::app::Options;

async fn guess(server: &TestServer, forwarded: &str) -> Answer {
    let mut stranger = server.anonymous();
    "ada@example.com".clone_into(&mut stranger.email);
    stranger.api_key = Some("x".repeat(32));
    stranger.request(Method::GET, "/users/me").header("X-Forwarded-For", forwarded).send().await
}

// conformance: auth-40
#[tokio::test]
async fn behind_a_trusted_proxy_each_client_has_its_own_limits() {
    let options = Options { trusted_proxies: vec!["127.0.0.1".parse().unwrap()], ..Options::default() };
    let server = TestServer::start_with(options).await;
    for number in 0..100 {
        // What a client writes itself goes for nothing.
        let forwarded = format!("192.0.2.{number}, 203.0.113.1");
        guess(&server, &forwarded).await.error(401, "UNAUTHORIZED", "Invalid API key");
    }
    assert_eq!(guess(&server, "203.0.113.1").await.status, 429);
    assert_eq!(guess(&server, "203.0.113.2").await.status, 401);
}

// conformance: auth-40
#[tokio::test]
async fn nobody_else_says_who_the_client_is() {
    let server = TestServer::start().await;
    for number in 0..100 {
        let forwarded = format!("192.0.2.{number}");
        guess(&server, &forwarded).await.error(401, "UNAUTHORIZED", "Invalid API key");
    }
    assert_eq!(guess(&server, "203.0.113.2").await.status, 429);
}

#[tokio::test]
async fn links_begin_with_the_public_url_whatever_a_request_names() {
    let public_url = Some("https://chat.example.com".to_owned());
    let server = TestServer::start_with(Options { public_url, ..Options::default() }).await;
    let request = server.anonymous().request(Method::GET, "/server_settings");
    let settings =
        request.header("Host", "evil.example").header("X-Forwarded-Host", "evil.example").send().await;
    assert_eq!(settings.ok()["realm_url"], "https://chat.example.com");
    let server = TestServer::start().await;
    let request = server.anonymous().request(Method::GET, "/server_settings");
    let settings =
        request.header("X-Forwarded-Proto", "https").header("X-Forwarded-Host", "evil.example").send().await;
    assert_eq!(settings.ok()["realm_url"], format!("http://{}", server.address()));
}
