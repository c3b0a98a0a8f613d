//! `POST /default_streams` and `DELETE /default_streams`.

use super::{NO_CHANNEL, channel, private_channel};
use crate::harness::TestServer;
use serde_json::json;

// conformance: channel-48
#[tokio::test]
async fn default_channels_are_emitted_to_members() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let guest = server.guest("guest").await;
    let (one, two) = (channel(&ada, "one").await, channel(&ada, "two").await);
    let mut queue = ada.register(json!({"event_types": ["default_streams"]})).await;
    let mut guests = guest.register(json!({"event_types": ["default_streams"]})).await;
    for id in [two, one, one] {
        owner.post("/default_streams", json!({"stream_id": id})).await.ok();
    }
    owner.delete("/default_streams", json!({"stream_id": two})).await.ok();
    owner.delete("/default_streams", json!({"stream_id": two})).await.ok();
    let event = |ids: &[i64]| json!({"type": "default_streams", "default_streams": ids});
    queue.expect(&[event(&[two]), event(&[one, two]), event(&[one])]).await;
    guests.expect_nothing().await;
    for (client, expected) in [(&ada, json!([one])), (&guest, json!([]))] {
        let queue = client.register(json!({"fetch_event_types": ["default_streams"]})).await;
        assert_eq!(queue.state["realm_default_streams"], expected);
    }
}

// conformance: channel-49
#[tokio::test]
async fn new_members_begin_in_the_default_channels() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let id = channel(&owner, "default").await;
    owner.post("/default_streams", json!({"stream_id": id})).await.ok();
    let mut queue = owner.register(json!({"event_types": ["subscription"]})).await;
    let (ada, _guest) = (server.member("ada").await, server.guest("guest").await);
    server.bot("helper", &ada).await;
    let members = owner.get(&format!("/streams/{id}/members"), ()).await.ok();
    assert_eq!(members["subscribers"], json!([owner.user_id, ada.user_id]));
    queue
        .expect(&[
            json!({"type": "subscription", "op": "peer_add", "stream_ids": [id], "user_ids": [ada.user_id]}),
        ])
        .await;
}

// conformance: channel-50
#[tokio::test]
async fn refusals() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let (public, private) = (channel(&ada, "public").await, private_channel(&owner, "private").await);
    let error = owner.post("/default_streams", json!({"stream_id": private})).await;
    error.error(400, "BAD_REQUEST", "Private channels cannot be made default.");
    for method in [reqwest::Method::POST, reqwest::Method::DELETE] {
        let call = |client: &crate::harness::Client, id: i64| {
            client.request(method.clone(), "/default_streams").form(json!({"stream_id": id})).send()
        };
        let error = call(&ada, public).await;
        error.error(400, "BAD_REQUEST", "You do not have permission to change default channels.");
        let (status, code, msg) = NO_CHANNEL;
        call(&owner, 9999).await.error(status, code, msg);
        let error = owner.request(method.clone(), "/default_streams").send().await;
        error.error(400, "REQUEST_VARIABLE_MISSING", "Missing 'stream_id' argument");
    }
}
