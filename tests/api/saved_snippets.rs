//! `/saved_snippets`.

use crate::harness::{START, TestServer};
use serde_json::json;

// conformance: snippet-1, snippet-2, snippet-3, snippet-4, snippet-9, snippet-10
#[tokio::test]
async fn snippets_are_created_listed_changed_and_removed() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let mut events = ada.register(json!({"event_types": ["saved_snippets"]})).await;
    let mut others = bob.register(json!({"event_types": ["saved_snippets"]})).await;
    let made = ada.post("/saved_snippets", &[("title", "  Hello "), ("content", " Welcome! ")]).await.ok();
    let id = &made["saved_snippet_id"];
    let snippet = json!({"id": id, "title": "Hello", "content": "Welcome!", "date_created": START});
    let listed = ada.get("/saved_snippets", ()).await.ok();
    assert_eq!(listed["saved_snippets"], json!([snippet]));
    assert_eq!(bob.get("/saved_snippets", ()).await.ok()["saved_snippets"], json!([]));
    let path = format!("/saved_snippets/{id}");
    ada.patch(&path, &[("title", "Bye")]).await.ok();
    // An update without a change emits no event.
    ada.patch(&path, &[("title", "Bye")]).await.ok();
    ada.patch(&path, ()).await.ok();
    ada.patch(&path, &[("content", "See you")]).await.ok();
    let after = json!({"id": id, "title": "Bye", "content": "See you", "date_created": START});
    assert_eq!(ada.get("/saved_snippets", ()).await.ok()["saved_snippets"], json!([after]));
    ada.delete(&path, ()).await.ok();
    assert_eq!(ada.get("/saved_snippets", ()).await.ok()["saved_snippets"], json!([]));
    let between = json!({"id": id, "title": "Bye", "content": "Welcome!", "date_created": START});
    events
        .expect(&[
            json!({"type": "saved_snippets", "op": "add", "saved_snippet": snippet}),
            json!({"type": "saved_snippets", "op": "update", "saved_snippet": between}),
            json!({"type": "saved_snippets", "op": "update", "saved_snippet": after}),
            json!({"type": "saved_snippets", "op": "remove", "saved_snippet_id": id}),
        ])
        .await;
    others.expect_nothing().await;
}

// conformance: snippet-5, snippet-6, snippet-7, snippet-8, snippet-11
#[tokio::test]
async fn titles_and_contents_have_limits() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let (longest, too_long) = ("é".repeat(60), "é".repeat(61));
    let made = ada.post("/saved_snippets", json!({"title": longest, "content": "x"})).await.ok();
    let path = format!("/saved_snippets/{}", made["saved_snippet_id"]);
    let cases = [
        (json!({"title": " ", "content": "x"}), "title cannot be blank"),
        (json!({"title": "x", "content": "\n"}), "content cannot be blank"),
        (json!({"title": too_long, "content": "x"}), "title is too long (limit: 60 characters)"),
        (
            json!({"title": "x", "content": "x".repeat(10_001)}),
            "content is too long (limit: 10000 characters)",
        ),
    ];
    for (parameters, msg) in cases {
        ada.post("/saved_snippets", &parameters).await.error(400, "BAD_REQUEST", msg);
        ada.patch(&path, &parameters).await.error(400, "BAD_REQUEST", msg);
    }
    let missing = ada.post("/saved_snippets", &[("title", "x")]).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'content' argument");
    let missing = ada.post("/saved_snippets", &[("content", "x")]).await;
    missing.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'title' argument");
    let listed = ada.get("/saved_snippets", ()).await.ok();
    assert_eq!(listed["saved_snippets"][0]["title"], longest);
}

// conformance: snippet-12
#[tokio::test]
async fn another_users_snippet_does_not_exist() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let made = ada.post("/saved_snippets", &[("title", "a"), ("content", "b")]).await.ok();
    let path = format!("/saved_snippets/{}", made["saved_snippet_id"]);
    let msg = "Saved snippet does not exist.";
    bob.patch(&path, &[("title", "mine")]).await.error(400, "BAD_REQUEST", msg);
    bob.delete(&path, ()).await.error(400, "BAD_REQUEST", msg);
    ada.delete("/saved_snippets/9999", ()).await.error(400, "BAD_REQUEST", msg);
    assert_eq!(ada.get("/saved_snippets", ()).await.ok()["saved_snippets"][0]["title"], "a");
}

// conformance: snippet-13
#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let kept = ada.post("/saved_snippets", &[("title", "a"), ("content", "b")]).await.ok();
    server
        .check_state_sync(&[&ada], async || {
            let made = ada.post("/saved_snippets", &[("title", "c"), ("content", "d")]).await.ok();
            ada.patch(&format!("/saved_snippets/{}", kept["saved_snippet_id"]), &[("title", "e")]).await.ok();
            ada.post("/saved_snippets", &[("title", "f"), ("content", "g")]).await.ok();
            ada.delete(&format!("/saved_snippets/{}", made["saved_snippet_id"]), ()).await.ok();
        })
        .await;
}
