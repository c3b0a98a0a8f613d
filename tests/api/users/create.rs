//! Making users.

use crate::harness::TestServer;
use serde_json::json;

#[tokio::test]
async fn everybody_hears_of_a_new_user() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let mut queue = owner.register(json!({"event_types": ["realm_user"]})).await;
    let mut other = owner.register(json!({"event_types": ["message"]})).await;
    let ada = server.guest("ada").await;
    queue
        .expect(&[json!({
            "type": "realm_user",
            "op": "add",
            "person": {
                "user_id": ada.user_id,
                "delivery_email": "ada@example.com",
                "email": "ada@example.com",
                "full_name": "Ada",
                "date_joined": "2026-09-21T14:13+00:00",
                "is_active": true,
                "is_owner": false,
                "is_admin": false,
                "is_guest": true,
                "is_bot": false,
                "bot_type": null,
                "bot_owner_id": null,
                "role": 600,
                "timezone": "",
                "avatar_url": format!("/user_avatars/1/generated/{}.png?version=1", ada.user_id),
                "avatar_version": 1,
                "profile_data": {},
            },
        })])
        .await;
    other.expect_nothing().await;
}

#[tokio::test]
async fn a_new_user_is_in_the_state_that_events_told() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let guest = server.guest("guest").await;
    server
        .check_state_sync(&[&owner, &guest], async || {
            server.member("ada").await;
            server.bot("helper", &owner).await;
        })
        .await;
}
