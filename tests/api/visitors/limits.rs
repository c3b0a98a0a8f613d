//! Limits of visitors, by address and by file.

use super::{Place, ids, page, refused};
use crate::harness::TestServer;
use crate::uploads::{link, upload};
use reqwest::Method;
use serde_json::json;
use teamchat::app::Options;

const LIMITED: &str = "API usage exceeded rate limit";

/// A server that limits requests, and takes addresses of clients from a proxy.
async fn limited() -> Place {
    let trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    let options = Options { rate_limit: true, trusted_proxies, ..Options::default() };
    Place::on(TestServer::start_with(options).await).await
}

// conformance: visit-13
#[tokio::test]
async fn an_address_has_a_hundred_requests_in_a_minute() {
    let place = limited().await;
    let url = upload(&place.ada, "a.txt", b"a").await;
    place.ada.send(place.web, "t", &link(&url)).await;
    let get = async |path: &str, address: &str| {
        let request = place.server.anonymous().request_outside(Method::GET, path);
        request.header("X-Forwarded-For", address).send().await
    };
    let avatar = format!("/avatar/{}", place.ada.user_id);
    let topics = format!("/json/users/me/{}/topics", place.web);
    for round in 0..25 {
        for (path, status) in [(&url, 200), (&avatar, 302), (&topics, 200), (&"/json/users".to_owned(), 200)]
        {
            assert_eq!(get(path, "198.51.100.1").await.status, status, "{path} in round {round}");
        }
    }
    for path in [&url, &avatar, &topics] {
        let refusal = get(path, "198.51.100.1").await;
        assert_eq!(refusal.header("retry-after"), "60");
        refusal.error(429, "RATE_LIMIT_HIT", LIMITED);
        assert!(get(path, "198.51.100.2").await.status < 400, "another address");
        let request = place.ada.request_outside(Method::GET, path).header("X-Forwarded-For", "198.51.100.1");
        if path != &topics {
            assert!(request.send().await.status < 400, "a user at the same address");
        }
    }
    place.server.clock.advance(60);
    assert_eq!(get(&url, "198.51.100.1").await.status, 200);
}

// conformance: visit-14
#[tokio::test]
async fn searches_have_a_lower_limit() {
    let place = limited().await;
    let id = place.ada.send(place.web, "t", "needle").await;
    let search = page(json!([["search", "needle"]]));
    for _ in 0..20 {
        assert_eq!(ids(place.visitor.get("/messages", &search).await), [id]);
    }
    place.visitor.get("/messages", &search).await.error(429, "RATE_LIMIT_HIT", LIMITED);
    assert_eq!(ids(place.visitor.get("/messages", page(json!([["topic", "t"]]))).await), [id]);
    assert_eq!(ids(place.ada.get("/messages", &search).await), [id]);
}

// conformance: visit-15
#[tokio::test]
async fn a_file_has_a_thousand_visits_in_a_day() {
    let place = limited().await;
    let url = upload(&place.ada, "a.txt", b"a").await;
    place.ada.send(place.web, "t", &link(&url)).await;
    let get = async |path: &str, visit: usize| {
        let address = format!("198.51.{}.{}", visit / 200, visit % 200);
        let request = place.server.anonymous().request_outside(Method::GET, path);
        request.header("X-Forwarded-For", &address).send().await
    };
    let avatar = format!("/avatar/{}", place.ada.user_id);
    for visit in 0..1000 {
        assert_eq!(get(&url, visit).await.status, 200, "visit {visit}");
        assert_eq!(get(&avatar, visit).await.status, 302, "visit {visit}");
    }
    refused_file(get(&url, 1000).await);
    get(&avatar, 1000).await.error(429, "RATE_LIMIT_HIT", LIMITED);
    assert_eq!(place.ada.request_outside(Method::GET, &url).send().await.status, 200);
    place.server.clock.advance(24 * 60 * 60);
    assert_eq!(get(&url, 1000).await.status, 200);
}

fn refused_file(answer: crate::harness::Answer) {
    answer.error(401, "UNAUTHORIZED", super::NOT_LOGGED_IN);
}

// conformance: visit-13
#[tokio::test]
async fn pages_of_visitors_are_small() {
    let place = Place::new().await;
    for _ in 0..150 {
        place.ada.send(place.web, "t", &"wörter ".repeat(1400)).await;
    }
    let found = place.visitor.get("/messages", page(json!([]))).await.ok();
    let count = found["messages"].as_array().unwrap().len();
    assert!((10..100).contains(&count), "{count} messages of 10 kB in about a megabyte");
    assert_eq!((&found["found_newest"], &found["found_oldest"]), (&json!(true), &json!(false)));
    place.set_access(false).await;
    refused(place.visitor.get("/messages", page(json!([]))).await);
}
