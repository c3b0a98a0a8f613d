//! Tests of the harness.

use super::{TestServer, differences, mask};
use serde_json::json;

#[tokio::test]
#[should_panic(expected = "Owner has events that the test has not looked at")]
async fn unread_events_fail_the_test() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let _queue = owner.register(()).await;
    server.member("ada").await;
}

#[tokio::test]
async fn ignored_queues_accept_unread_events() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let mut queue = owner.register(()).await;
    server.member("ada").await;
    queue.ignore();
}

#[tokio::test]
#[should_panic(expected = "[0].person.full_name: expected \"Bob\", found \"Ada\"")]
async fn another_event_than_expected_fails_the_test() {
    let server = TestServer::start().await;
    let mut queue = server.owner().await.register(json!({"event_types": ["realm_user"]})).await;
    server.member("ada").await;
    queue.expect(&[json!({"type": "realm_user", "op": "add", "person": {"full_name": "Bob"}})]).await;
}

#[test]
fn differences_name_their_places() {
    let expected = json!({"a": [1, 2], "b": "*", "c": {"d": null}, "e": 1});
    assert_eq!(differences(&expected, &json!({"e": 1, "c": {"d": null}, "b": [{}], "a": [1, 2]})), [""; 0]);
    let found = json!({"a": [1, 3, 4], "b": 0, "c": {}, "e": "1", "f": true});
    assert_eq!(
        differences(&expected, &found),
        [
            "  .a[1]: expected 2, found 3",
            "  .a[2]: not expected, found 4",
            "  .c.d: missing, expected null",
            "  .e: expected 1, found \"1\"",
            "  .f: not expected, found true",
        ]
    );
}

#[tokio::test]
async fn acknowledged_changes_survive_a_crash() {
    let mut server = TestServer::start().await;
    let owner = server.owner().await;
    let mut queue = owner.register(json!({"event_types": ["realm_user"]})).await;
    let ada = server.member("ada").await;
    server.crash().await;
    queue.expect_kinds(&["realm_user/add"]).await;
    ada.get("/users/me", ()).await.ok();
}

#[tokio::test]
async fn snapshots_mask_varying_values() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let queue = owner.register(json!({"event_types": ["typing"], "fetch_event_types": []})).await;
    let regenerated = owner.post("/users/me/api_key/regenerate", ()).await.ok();
    insta::assert_json_snapshot!(mask(&json!([queue.state, regenerated])));
}

// conformance: role-1
#[tokio::test]
async fn every_role_can_call() {
    let mut server = TestServer::start().await;
    let clients = [
        (server.owner().await, 100),
        (server.administrator("admin").await, 200),
        (server.moderator("moderator").await, 300),
        (server.member("member").await, 400),
        (server.guest("guest").await, 600),
    ];
    server.restart().await;
    for (client, role) in clients {
        let own = client.get("/users/me", ()).await.ok();
        assert_eq!((&own["role"], &own["user_id"]), (&json!(role), &json!(client.user_id)));
    }
}
