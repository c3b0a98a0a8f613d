//! `PATCH /realm/user_settings_defaults`.

use crate::harness::TestServer;
use serde_json::{Value, json};

const PATH: &str = "/realm/user_settings_defaults";

// conformance: setting-16
#[tokio::test]
async fn defaults_apply_to_new_users() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let before = server.member("before").await;
    let mut queue =
        before.register(json!({"event_types": ["realm_user_settings_defaults", "user_settings"]})).await;
    owner.patch(PATH, json!({"enter_sends": true, "emojiset": "google"})).await.ok();
    queue
        .expect(&[json!({
            "type": "realm_user_settings_defaults",
            "op": "update",
            "property": "enter_sends",
            "value": true,
        })])
        .await;
    let after = server.member("after").await;
    let words = json!({"fetch_event_types": ["user_settings", "realm_user_settings_defaults"]});
    for (client, enters) in [(&before, false), (&after, true)] {
        let state = client.post("/register", words.clone()).await.ok();
        assert_eq!(state["user_settings"]["enter_sends"], enters, "{}", client.full_name);
        assert_eq!(state["realm_user_settings_defaults"]["enter_sends"], true);
        assert_eq!(state["realm_user_settings_defaults"].get("timezone"), None::<&Value>);
    }
    after.patch("/settings", json!({"enter_sends": false})).await.ok();
    let state = after.post("/register", words).await.ok();
    assert_eq!(state["user_settings"]["enter_sends"], false);
}

// conformance: setting-18
#[tokio::test]
async fn the_state_follows_the_events() {
    let server = TestServer::start().await;
    let (owner, guest) = (server.owner().await, server.guest("guest").await);
    server
        .check_state_sync(&[&owner, &guest], async || {
            let change = json!({"color_scheme": 3, "email_address_visibility": 3});
            owner.patch(PATH, change).await.ok();
            server.member("ada").await;
        })
        .await;
}

// conformance: setting-17
#[tokio::test]
async fn only_administrators_choose_for_others() {
    let server = TestServer::start().await;
    let moderator = server.moderator("mod").await;
    let msg = "Must be an organization administrator";
    moderator.patch(PATH, json!({"enter_sends": true})).await.error(400, "UNAUTHORIZED_PRINCIPAL", msg);
    let admin = server.administrator("admin").await;
    admin.patch(PATH, json!({"emojiset": "apple"})).await.error(400, "BAD_REQUEST", "Invalid emojiset");
    admin.patch(PATH, json!({"timezone": "UTC"})).await.ok_ignoring(&["timezone"]);
    // These have no default for new users.
    let own = json!({"default_language": "de", "enable_login_emails": false, "enable_marketing_emails": false,
        "allow_private_data_export": true});
    let names =
        ["allow_private_data_export", "default_language", "enable_login_emails", "enable_marketing_emails"];
    admin.patch(PATH, &own).await.ok_ignoring(&names);
    admin.patch("/settings", own).await.ok();
}
