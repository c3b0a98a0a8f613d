//! `/navigation_views`.

use crate::harness::{Client, TestServer};
use serde_json::{Value, json};

async fn views(client: &Client) -> Value {
    client.get("/navigation_views", ()).await.ok()["navigation_views"].clone()
}

// conformance: nav-1, nav-2, nav-5, nav-13, nav-14
#[tokio::test]
async fn views_are_added_listed_changed_and_removed() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let mut events = ada.register(json!({"event_types": ["navigation_view"]})).await;
    let mut others = bob.register(json!({"event_types": ["navigation_view"]})).await;
    ada.post("/navigation_views", &[("fragment", "narrow/is/starred"), ("is_pinned", "true")]).await.ok();
    let custom = json!({"fragment": " narrow/is/alerted ", "is_pinned": false, "name": " Alerts "});
    ada.post("/navigation_views", custom).await.ok();
    let starred = json!({"fragment": "narrow/is/starred", "is_pinned": true, "name": null});
    let alerts = json!({"fragment": "narrow/is/alerted", "is_pinned": false, "name": "Alerts"});
    assert_eq!(views(&ada).await, json!([starred, alerts]));
    assert_eq!(views(&bob).await, json!([]));

    ada.patch("/navigation_views/narrow/is/starred", &[("is_pinned", "false")]).await.ok();
    ada.patch("/navigation_views/narrow/is/starred", &[("is_pinned", "false")]).await.ok();
    let both = json!({"name": "Words", "is_pinned": true});
    ada.patch("/navigation_views/narrow%2Fis%2Falerted", both).await.ok();
    ada.delete("/navigation_views/narrow/is/starred", ()).await.ok();
    assert_eq!(
        views(&ada).await,
        json!([{"fragment": "narrow/is/alerted", "is_pinned": true, "name": "Words"}])
    );
    events
        .expect(&[
            json!({"type": "navigation_view", "op": "add", "navigation_view": starred}),
            json!({"type": "navigation_view", "op": "add", "navigation_view": alerts}),
            json!({"type": "navigation_view", "op": "update", "fragment": "narrow/is/starred",
                "data": {"is_pinned": false}}),
            json!({"type": "navigation_view", "op": "update", "fragment": "narrow/is/alerted",
                "data": {"name": "Words", "is_pinned": true}}),
            json!({"type": "navigation_view", "op": "remove", "fragment": "narrow/is/starred"}),
        ])
        .await;
    others.expect_nothing().await;
}

// conformance: nav-6, nav-7, nav-8, nav-9, nav-10, nav-12, nav-16, nav-17
#[tokio::test]
async fn invalid_parameters_are_refused() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let add = async |parameters: Value| ada.post("/navigation_views", parameters).await;
    add(json!({"fragment": "inbox", "is_pinned": true})).await.ok();
    add(json!({"fragment": "a", "is_pinned": true, "name": "A"})).await.ok();
    add(json!({"fragment": "b", "is_pinned": true, "name": "B"})).await.ok();
    let cases = [
        (json!({"fragment": "", "is_pinned": true}), "fragment cannot be blank"),
        (json!({"fragment": "c", "is_pinned": true, "name": " "}), "name cannot be blank"),
        (json!({"fragment": "c", "is_pinned": true}), "Custom views must have a valid name."),
        (
            json!({"fragment": "recent", "is_pinned": true, "name": "Mine"}),
            "Built-in views cannot have a custom name.",
        ),
        (json!({"fragment": "inbox", "is_pinned": false}), "Navigation view already exists."),
        (json!({"fragment": "a", "is_pinned": true, "name": "C"}), "Navigation view already exists."),
        (json!({"fragment": "c", "is_pinned": true, "name": "A"}), "Navigation view already exists."),
        (json!({"fragment": "c", "is_pinned": "yes", "name": "C"}), "is_pinned is not valid JSON"),
    ];
    for (parameters, msg) in cases {
        add(parameters).await.error(400, "BAD_REQUEST", msg);
    }
    add(json!({"is_pinned": true})).await.error(
        400,
        "REQUEST_VARIABLE_MISSING",
        "Missing 'fragment' argument",
    );
    add(json!({"fragment": "c"})).await.error(
        400,
        "REQUEST_VARIABLE_MISSING",
        "Missing 'is_pinned' argument",
    );

    let edit = async |fragment: &str, parameters: Value| {
        ada.patch(&format!("/navigation_views/{fragment}"), parameters).await
    };
    let built_in = edit("inbox", json!({"name": "Mine"})).await;
    built_in.error(400, "BAD_REQUEST", "Built-in views cannot have a custom name.");
    let taken = edit("b", json!({"name": "A"})).await;
    taken.error(400, "BAD_REQUEST", "Navigation view already exists.");
    let unknown = edit("feed", json!({"is_pinned": true})).await;
    unknown.error(400, "BAD_REQUEST", "Navigation view does not exist.");
    let unknown = ada.delete("/navigation_views/feed", ()).await;
    unknown.error(400, "BAD_REQUEST", "Navigation view does not exist.");
    assert_eq!(views(&ada).await.as_array().unwrap().len(), 3);
}

// conformance: nav-3, nav-9, nav-10, nav-11, nav-16
#[tokio::test]
async fn only_views_that_are_not_built_in_have_names() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let add = async |parameters: Value| ada.post("/navigation_views", parameters).await;
    let built_in = [
        "inbox",
        "recent",
        "feed",
        "drafts",
        "narrow/has/reaction/sender/me",
        "narrow/is/mentioned",
        "narrow/is/starred",
    ];
    let nameless = "Built-in views cannot have a custom name.";
    for fragment in built_in {
        let named = add(json!({"fragment": fragment, "is_pinned": true, "name": "Mine"})).await;
        named.error(400, "BAD_REQUEST", nameless);
        // The same holds for a view that is not in the list yet.
        let named = ada.patch(&format!("/navigation_views/{fragment}"), &[("name", "Mine")]).await;
        named.error(400, "BAD_REQUEST", nameless);
        // Some clients encode every value.
        add(json!({"fragment": fragment, "is_pinned": true, "name": null})).await.ok();
        let unnamed = json!({"is_pinned": false, "name": null});
        ada.patch(&format!("/navigation_views/{fragment}"), unnamed).await.ok();
    }
    let all = views(&ada).await;
    assert_eq!(all.as_array().unwrap().len(), built_in.len());
    for (view, fragment) in all.as_array().unwrap().iter().zip(built_in) {
        assert_eq!(*view, json!({"fragment": fragment, "is_pinned": false, "name": null}));
    }
    let custom = |name: Value| json!({"fragment": "narrow/is/alerted", "is_pinned": true, "name": name});
    add(custom(json!(null))).await.error(400, "BAD_REQUEST", "Custom views must have a valid name.");
    for blank in ["", " \t"] {
        add(custom(json!(blank))).await.error(400, "BAD_REQUEST", "name cannot be blank");
    }
    // There is no longest name.
    let long = "é".repeat(500);
    add(custom(json!(long))).await.ok();
    let path = "/navigation_views/narrow/is/alerted";
    for blank in ["", " "] {
        ada.patch(path, &[("name", blank)]).await.error(400, "BAD_REQUEST", "name cannot be blank");
    }
    ada.patch(path, json!({"name": null})).await.ok();
    // A view may keep its own name.
    ada.patch(path, json!({"name": long, "is_pinned": false})).await.ok();
    let view = json!({"fragment": "narrow/is/alerted", "is_pinned": false, "name": long});
    assert_eq!(views(&ada).await[built_in.len()], view);
    let taken = ada.patch("/navigation_views/unknown", json!({"name": long})).await;
    taken.error(400, "BAD_REQUEST", "Navigation view already exists.");
}

// conformance: nav-15, nav-17
#[tokio::test]
async fn a_fragment_with_slashes_is_named_with_and_without_encoding() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let fragment = "narrow/channel/7-général/topic/a.20b";
    let view = json!({"fragment": fragment, "is_pinned": true, "name": "A"});
    ada.post("/navigation_views", view).await.ok();
    let paths = [
        "/navigation_views/narrow/channel/7-g%C3%A9n%C3%A9ral/topic/a.20b",
        "/navigation_views/narrow%2Fchannel%2F7-g%C3%A9n%C3%A9ral%2Ftopic%2Fa.20b",
    ];
    for (path, is_pinned) in paths.into_iter().zip([false, true]) {
        ada.patch(path, json!({"is_pinned": is_pinned})).await.ok();
        assert_eq!(views(&ada).await[0]["is_pinned"], is_pinned, "{path}");
        let missing = bob.patch(path, json!({"is_pinned": is_pinned})).await;
        missing.error(400, "BAD_REQUEST", "Navigation view does not exist.");
        bob.delete(path, ()).await.error(400, "BAD_REQUEST", "Navigation view does not exist.");
    }
    ada.delete(paths[1], ()).await.ok();
    assert_eq!(views(&ada).await, json!([]));
}

// conformance: nav-4
#[tokio::test]
async fn events_reproduce_state() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    ada.post("/navigation_views", &[("fragment", "inbox"), ("is_pinned", "true")]).await.ok();
    server
        .check_state_sync(&[&ada], async || {
            let view = json!({"fragment": "x", "is_pinned": true, "name": "X"});
            ada.post("/navigation_views", view).await.ok();
            ada.patch("/navigation_views/x", &[("name", "Y")]).await.ok();
            ada.delete("/navigation_views/inbox", ()).await.ok();
        })
        .await;
}
