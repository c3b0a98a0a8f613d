//! `DELETE /realm/emoji/{emoji_name}`.

use super::{add, all, deactivate, record};
use crate::harness::{TestServer, differences};
use reqwest::Method;
use serde_json::json;

#[tokio::test]
async fn authors_and_administrators_take_emoji_out_of_use() {
    let server = TestServer::start().await;
    let (ada, bob, eve) =
        (server.member("ada").await, server.member("bob").await, server.administrator("eve").await);
    for name in ["tick_1", "tick_2"] {
        add(&ada, name).await.ok();
    }
    let url = all(&ada).await["1"]["source_url"].clone();
    let mut events = bob.register(json!({"event_types": ["realm_emoji"]})).await;
    let refused = "Must be an organization administrator or emoji author";
    deactivate(&bob, "tick_1").await.error(400, "BAD_REQUEST", refused);
    events.expect_nothing().await;
    deactivate(&ada, "tick_1").await.ok();
    let after = json!({"1": record(1, "tick_1", &ada, true), "2": record(2, "tick_2", &ada, false)});
    events.expect(&[json!({"type": "realm_emoji", "op": "update", "realm_emoji": after})]).await;
    deactivate(&eve, "tick_2").await.ok();
    let after = json!({"1": record(1, "tick_1", &ada, true), "2": record(2, "tick_2", &ada, true)});
    events.expect(&[json!({"type": "realm_emoji", "op": "update", "realm_emoji": after})]).await;
    // The name is free again, and the image is still there for old messages.
    add(&bob, "tick_1").await.ok();
    let after = json!({"1": record(1, "tick_1", &ada, true), "2": record(2, "tick_2", &ada, true),
        "3": record(3, "tick_1", &bob, false)});
    assert_eq!(differences(&after, &all(&ada).await), [""; 0]);
    events.expect(&[json!({"type": "realm_emoji", "op": "update", "realm_emoji": after})]).await;
    deactivate(&ada, "tick_1").await.error(400, "BAD_REQUEST", refused);
    let image = server.anonymous().request_outside(Method::GET, url.as_str().unwrap()).send().await;
    assert_eq!((image.status, image.header("content-type")), (200, "image/png"));
}

#[tokio::test]
async fn unknown_objects_are_not_found() {
    let server = TestServer::start().await;
    let ada = server.owner().await;
    add(&ada, "gone").await.ok();
    deactivate(&ada, "gone").await.ok();
    for name in ["gone", "never", "smile", "a/b"] {
        let msg = format!("Emoji '{name}' does not exist");
        deactivate(&ada, name).await.error(400, "BAD_REQUEST", &msg);
    }
    server.anonymous().delete("/realm/emoji/gone", ()).await.error(
        401,
        "UNAUTHORIZED",
        "Not logged in: API authentication or user session required",
    );
}
