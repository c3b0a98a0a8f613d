//! Rules for all routes, such as refusals before any other check.

use crate::harness::{Answer, Client, TestServer};
use regex::Regex;
use reqwest::Method;
use serde_json::json;
use std::collections::BTreeSet;
use teamchat::http::Route;

/// Asks for a route without parameters; those in its path are 1.
async fn ask(client: &Client, route: &Route) -> Answer {
    let path = Regex::new(r"\{\w+(\.\.\.)?\}").unwrap().replace_all(&route.full_path(), "1").into_owned();
    client.request_outside(route.method.clone(), &path).send().await
}

// conformance: auth-3
#[tokio::test]
async fn only_a_few_ask_for_no_login() {
    let server = TestServer::start().await;
    let mut open = Vec::new();
    for route in teamchat::api::routes().iter().filter(|route| !route.outside) {
        // This many refusals in a minute would reach the rate limit.
        server.clock.advance(1);
        let answer = ask(&server.anonymous(), route).await;
        if answer.status == 401 && answer["code"] == "UNAUTHORIZED" {
            let msg = "Not logged in: API authentication or user session required";
            assert_eq!(answer["msg"], msg, "{answer}");
        } else {
            open.push(format!("{} {}", route.method, route.path));
        }
    }
    open.sort();
    assert_eq!(
        open,
        [
            "GET /dev_list_users",
            "GET /server_settings",
            "POST /dev_fetch_api_key",
            "POST /external/{integration}",
            "POST /fetch_api_key"
        ]
    );
}

// conformance: auth-22
#[tokio::test]
async fn roles_are_checked_before_parameters() {
    let server = TestServer::start().await;
    let administrator = server.administrator("admin").await;
    let member = server.member("ada").await;
    let mut asked = 0;
    for route in &teamchat::api::routes() {
        let (client, msg) = match route.access {
            "administrator" => (&member, "Must be an organization administrator"),
            "owner" => (&administrator, "Must be an organization owner"),
            _ => continue,
        };
        ask(client, route).await.error(400, "UNAUTHORIZED_PRINCIPAL", msg);
        asked += 1;
    }
    assert!(asked > 20, "there are such routes: {asked}");
}

/// Asks with `HEAD` and with `GET`, and holds the first answer against the second.
async fn compare(client: &Client, path: &str) {
    let head = client.request_outside(Method::HEAD, path).send().await;
    let got = client.request_outside(Method::GET, path).send().await;
    assert_eq!((head.status, head.bytes.len()), (got.status, 0), "HEAD {path}");
    // The length of an answer without a body is not sent.
    let length = |answer: &Answer| answer.header("content-length").trim_start_matches('0').to_owned();
    assert_eq!(length(&head), length(&got), "HEAD {path}");
    let names = |answer: &Answer| {
        let names = answer.headers.keys().map(ToString::to_string);
        names.filter(|name| name != "content-length").collect::<BTreeSet<_>>()
    };
    assert_eq!(names(&head), names(&got), "HEAD {path}");
    for name in ["content-type", "cache-control", "content-disposition", "location", "etag"] {
        assert_eq!(head.header(name), got.header(name), "{name} of HEAD {path}");
    }
}

// conformance: conv-80
#[tokio::test]
async fn head_is_answered_as_get_without_the_body() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let channel = json!({"subscriptions": [{"name": "general"}]});
    ada.post("/users/me/subscriptions", channel).await.ok();
    let message = json!({"type": "channel", "to": "general", "topic": "test", "content": "hello"});
    ada.post("/messages", message).await.ok();
    let file = ada.request(Method::POST, "/user_uploads").multipart((), &[("file", "a.txt", b"content")]);
    let file = file.send().await.ok();
    let file = file["url"].as_str().unwrap();
    let temporary = ada.get(file, ()).await.ok();

    let parts = Regex::new(r"\{\w+(\.\.\.)?\}").unwrap();
    let mut compared = 0;
    for route in teamchat::api::routes().iter().filter(|route| route.method == Method::GET) {
        if route.full_path() == "/api/v1/events" {
            let msg = "Method Not Allowed";
            let refused = ada.request(Method::HEAD, "/events").send().await;
            assert_eq!(
                (refused.status, refused.bytes.len(), refused.header("allow")),
                (405, 0, "DELETE, GET"),
                "{msg}"
            );
            continue;
        }
        let path = parts.replace_all(&route.full_path(), "1").into_owned();
        if !route.answers(&Method::HEAD) {
            // Each of these requests begins or ends a login.
            let refused = ada.request_outside(Method::HEAD, &path).send().await;
            assert_eq!((refused.status, refused.header("allow")), (405, "GET"), "{path}");
            continue;
        }
        compare(&ada, &path).await;
        compared += 1;
    }
    assert!(compared > 60, "there are such routes: {compared}");
    let page =
        server.anonymous().request_outside(Method::GET, "/").header("Accept", "text/html").send().await;
    let page = String::from_utf8(page.bytes).unwrap();
    let script = Regex::new(r#"/static/[^"]+"#).unwrap().find(&page).unwrap().as_str();
    for path in [
        script,
        file,
        temporary["url"].as_str().unwrap(),
        "/",
        "/static/images/organization.png",
        "/api/v1/messages?anchor=newest&num_before=5&num_after=0",
        "/api/v1/nothing",
        "/json/users/me",
    ] {
        compare(&ada, path).await;
    }
}
