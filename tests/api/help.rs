//! Pages that are no part of the client, and paths that lead nowhere.

use crate::harness::{Answer, Client, TestServer};
use reqwest::Method;

const HTML: &str = "text/html,application/xhtml+xml,*/*;q=0.8";

async fn open(client: &Client, path: &str) -> Answer {
    client.request_outside(Method::GET, path).header("Accept", HTML).send().await
}

fn text_of(answer: &Answer) -> String {
    assert_eq!(answer.header("content-type"), "text/html; charset=utf-8", "{answer}");
    let policy = answer.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    String::from_utf8(answer.bytes.clone()).unwrap()
}

// conformance: conv-81
#[tokio::test]
async fn links_to_help_lead_to_the_published_help_center() {
    let server = TestServer::start().await;
    let anonymous = server.anonymous();
    for (path, expected) in [
        ("/help/channel-permissions", "channel-permissions"),
        ("/help/read-receipts/", "read-receipts"),
        ("/help/include/sidebar_index", "include/sidebar_index"),
        ("/help/a%0d%0aSet-Cookie:x", ""),
        ("/help/..%2f..%2fevil", ""),
        ("/help/index.html?next=https://evil.example", ""),
    ] {
        let answer = anonymous.request_outside(Method::GET, path).send().await;
        assert_eq!(
            (answer.status, answer.header("location")),
            (302, format!("https://zulip.com/help/{expected}").as_str()),
            "{path}"
        );
    }
}

#[tokio::test]
async fn pages_of_integrations_are_in_the_book() {
    let server = TestServer::start().await;
    let anonymous = server.anonymous();
    for path in ["/integrations/", "/integrations/doc/github"] {
        let answer = anonymous.request_outside(Method::GET, path).send().await;
        assert_eq!((answer.status, answer.header("location")), (302, "/help/integrations"), "{path}");
    }
    let answer = open(&anonymous, "/help/integrations").await;
    assert!(text_of(&answer).contains("GitHub"));
}

#[tokio::test]
async fn help_is_the_book_of_this_version() {
    let server = TestServer::start().await;
    let anonymous = server.anonymous();
    for (path, expected) in [
        ("/help", "<h1>Start in five minutes</h1>"),
        ("/help/", "<h1>Start in five minutes</h1>"),
        ("/help/start", "<h1>Start in five minutes</h1>"),
        ("/help/troubleshooting/", "<h2 id=\"the-server-does-not-start\">"),
        ("/help/install", "<a href=\"/help/tls\">"),
    ] {
        let answer = open(&anonymous, path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(text_of(&answer).contains(expected), "{path}");
    }
    let answer = open(&anonymous, "/help/chatting").await;
    assert!(answer.header("content-security-policy").contains("img-src 'self'"), "{answer}");
    let page = text_of(&answer);
    let mut images = page.split("<img src=\"").skip(1).map(|part| part.split('"').next().unwrap()).peekable();
    assert!(images.peek().is_some());
    for path in images {
        let answer = open(&anonymous, path).await;
        let kind = (answer.header("content-type"), answer.header("cache-control"));
        assert_eq!(kind, ("image/webp", "private, max-age=86400"), "{path}");
        assert!(answer.bytes.starts_with(b"RIFF"), "{path}");
    }
    for (path, content_type) in [("style.css", "text/css"), ("search.js", "text/javascript")] {
        let answer = open(&anonymous, &format!("/help/{path}")).await;
        assert_eq!(answer.header("content-type"), format!("{content_type}; charset=utf-8"));
    }
    let packed =
        anonymous.request_outside(Method::GET, "/help/start").header("Accept-Encoding", "gzip").send().await;
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert!(packed.bytes.starts_with(&[0x1f, 0x8b]));
}

// conformance: conv-82
#[tokio::test]
async fn login_help_pages_explain_alternatives() {
    let server = TestServer::start().await;
    for (path, expected) in [
        ("/accounts/password/reset", "Ask an administrator"),
        ("/accounts/password/reset/", "teamchat user password"),
        ("/accounts/find", "one organization"),
        ("/accounts/find/", "one organization"),
    ] {
        let answer = open(&server.anonymous(), path).await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(text_of(&answer).contains(expected), "{path}");
    }
}

// conformance: conv-83
#[tokio::test]
async fn a_browser_is_shown_a_page_for_a_path_that_leads_nowhere() {
    let server = TestServer::start().await;
    let anonymous = server.anonymous();
    for path in ["/nothing", "/api", "/%3Cscript%3E"] {
        let answer = open(&anonymous, path).await;
        assert_eq!(answer.status, 404, "{path}");
        let text = text_of(&answer);
        assert!(text.contains("There is no such page") && !text.contains("<script"), "{path}");
    }
    // Requests of programs, and paths without a page, get JSON.
    for path in ["/api/v1/nothing", "/json/nothing"] {
        open(&anonymous, path).await.error(404, "BAD_REQUEST", "Not found");
    }
    for accept in ["*/*", "application/json", "text/*"] {
        let answer = anonymous.request_outside(Method::GET, "/nothing").header("Accept", accept).send().await;
        answer.error(404, "BAD_REQUEST", "Not found");
    }
    anonymous.request_outside(Method::GET, "/nothing").send().await.error(404, "BAD_REQUEST", "Not found");
    let posted = anonymous.request_outside(Method::POST, "/nothing").header("Accept", HTML).send().await;
    posted.error(404, "BAD_REQUEST", "Not found");
}
