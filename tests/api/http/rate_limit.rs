//! The limit on requests that succeed.

use crate::harness::{Answer, START, TestServer};
use serde_json::json;
use teamchat::app::Options;

const HEADERS: [&str; 3] = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

fn headers(answer: &Answer) -> [&str; 3] {
    HEADERS.map(|name| answer.header(name))
}

// conformance: conv-40
#[tokio::test]
async fn requests_are_limited_where_the_operator_wants_it() {
    let server = TestServer::start_with(Options { rate_limit: true, ..Options::default() }).await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let reset = (START + 60).to_string();
    let first = ada.get("/users/me", ()).await;
    assert_eq!(headers(&first), ["200", "199", &reset]);
    first.ok();
    for _ in 0..198 {
        ada.get("/users/me", ()).await.ok();
    }
    // An error counts, too, and has the headers.
    let last = ada.get("/users/9999", ()).await;
    assert_eq!(headers(&last), ["200", "0", &reset]);
    last.error(400, "BAD_REQUEST", "No such user");
    server.clock.advance(20);
    let refused = ada.get("/users/me", ()).await;
    assert_eq!((refused.header("retry-after"), headers(&refused)), ("40", ["200", "0", &*reset]));
    let error = refused.error(429, "RATE_LIMIT_HIT", "API usage exceeded rate limit");
    assert_eq!(error["retry-after"], 40.0);
    bob.get("/users/me", ()).await.ok();
    server.clock.advance(40);
    ada.get("/users/me", ()).await.ok();
}

// conformance: conv-40
#[tokio::test]
async fn rate_limits_exclude_polls_and_files() {
    let server = TestServer::start_with(Options { rate_limit: true, ..Options::default() }).await;
    let ada = server.member("ada").await;
    let anonymous = server.anonymous();
    for _ in 0..100 {
        anonymous.get("/server_settings", ()).await.ok();
    }
    let refused = anonymous.get("/server_settings", ()).await;
    refused.error(429, "RATE_LIMIT_HIT", "API usage exceeded rate limit");
    let register = ada.post("/register", ()).await;
    assert_eq!(register.header("x-ratelimit-remaining"), "199");
    let queue_id = register.ok()["queue_id"].as_str().unwrap().to_owned();
    let poll = ada.get("/events", json!({"queue_id": queue_id, "dont_block": true})).await;
    assert_eq!(headers(&poll), ["", "", ""]);
    let page = anonymous.request_outside(reqwest::Method::GET, "/join/nothing/").send().await;
    assert_eq!((page.status, headers(&page)), (404, ["", "", ""]));
}

// conformance: conv-40
#[tokio::test]
async fn polls_that_get_the_same_events_again_are_limited() {
    let server = TestServer::start_with(Options { rate_limit: true, ..Options::default() }).await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(json!({"event_types": ["message"]})).await;
    ada.send_direct(&[&ada], "hello").await;
    let again = queue.poll(true);
    let events = queue.wait().await;
    assert_eq!(events.len(), 1);
    let left = ada.get("/users/me", ()).await.header("x-ratelimit-remaining").parse::<u32>().unwrap();
    for _ in 0..left {
        ada.get("/events", &again).await.ok();
    }
    let refused = ada.get("/events", &again).await;
    assert_eq!((refused.header("retry-after"), headers(&refused)[1]), ("60", "0"));
    refused.error(429, "RATE_LIMIT_HIT", "API usage exceeded rate limit");
    // Polls that acknowledge their events do not count.
    for _ in 0..3 {
        assert_eq!(ada.get("/events", queue.poll(true)).await.ok()["events"], json!([]));
    }
}

/// A poll without a queue creates one, like `POST /register`, which counts.
// conformance: conv-40
#[tokio::test]
async fn polls_that_create_queues_are_limited() {
    let server = TestServer::start_with(Options { rate_limit: true, ..Options::default() }).await;
    let ada = server.member("ada").await;
    let poll = json!({"dont_block": true, "event_types": ["message"]});
    let left = ada.get("/users/me", ()).await.header("x-ratelimit-remaining").parse::<usize>().unwrap();
    for _ in 0..left {
        ada.get("/events", &poll).await.ok();
    }
    let refused = ada.get("/events", &poll).await;
    refused.error(429, "RATE_LIMIT_HIT", "API usage exceeded rate limit");
    assert_eq!(server.app().hub.len(), left, "a refused poll creates no queue");
}

// conformance: conv-40
#[tokio::test]
async fn successful_requests_are_unlimited_by_default() {
    let server = TestServer::start().await;
    let anonymous = server.anonymous();
    for _ in 0..250 {
        let answer = anonymous.get("/server_settings", ()).await;
        assert_eq!(headers(&answer), ["", "", ""]);
        answer.ok();
    }
}
