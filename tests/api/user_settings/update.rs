//! `PATCH /settings`: the settings.

use crate::harness::TestServer;
use serde_json::json;

// conformance: queue-37, setting-1
#[tokio::test]
async fn settings_are_emitted_in_both_forms() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bob = server.member("bob").await;
    let types = json!(["user_settings", "update_display_settings", "update_global_notifications"]);
    let mut new = ada
        .register(json!({"event_types": types, "client_capabilities": {"user_settings_object": true}}))
        .await;
    let mut old = ada.register(json!({"event_types": types})).await;
    let mut other = bob.register(json!({"event_types": types})).await;
    let change = json!({"default_language": "de", "enable_sounds": false, "web_font_size_px": 14, "enter_sends": false});
    ada.patch("/settings", change).await.ok();
    let language = json!({
        "type": "user_settings",
        "op": "update",
        "property": "default_language",
        "value": "de",
        "language_name": "Deutsch",
    });
    let sounds =
        json!({"type": "user_settings", "op": "update", "property": "enable_sounds", "value": false});
    let size = json!({"type": "user_settings", "op": "update", "property": "web_font_size_px", "value": 14});
    // Parameters are applied in the order of the table. Unchanged values emit no event.
    new.expect(&[language.clone(), size.clone(), sounds.clone()]).await;
    old.expect(&[
        language,
        json!({
            "type": "update_display_settings",
            "user": ada.email,
            "setting_name": "default_language",
            "setting": "de",
            "language_name": "Deutsch",
        }),
        size,
        sounds,
        json!({
            "type": "update_global_notifications",
            "user": ada.email,
            "notification_name": "enable_sounds",
            "setting": false,
        }),
    ])
    .await;
    other.expect_nothing().await;
}

// conformance: setting-7
#[tokio::test]
async fn the_state_follows_the_events() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    server
        .check_state_sync(&[&ada, &bob], async || {
            let change = json!({
                "color_scheme": 2,
                "default_language": "fr",
                "notification_sound": "none",
                "allow_private_data_export": true,
                "resolved_topic_notice_auto_read_policy": "never",
                "timezone": "Europe/Berlin",
                "full_name": "Ada Lovelace",
            });
            ada.patch("/settings", change).await.ok();
        })
        .await;
}

// conformance: setting-2
#[tokio::test]
async fn settings_of_others_stay_as_they_were() {
    let server = TestServer::start().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    for (path, change) in [
        ("/settings", json!({"twenty_four_hour_time": true})),
        ("/settings/display", json!({"emojiset": "text"})),
        ("/settings/notifications", json!({"enable_login_emails": false})),
    ] {
        ada.patch(path, change).await.ok();
    }
    let settings = async |client: &crate::harness::Client| {
        let state = client.post("/register", json!({"fetch_event_types": ["user_settings"]})).await.ok();
        let names = ["twenty_four_hour_time", "emojiset", "enable_login_emails"];
        names.map(|name| state["user_settings"][name].clone())
    };
    assert_eq!(settings(&ada).await, [json!(true), json!("text"), json!(false)]);
    assert_eq!(settings(&bob).await, [json!(false), json!("google"), json!(true)]);
}

// conformance: setting-3
#[tokio::test]
async fn one_bad_value_changes_nothing() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(json!({"event_types": ["user_settings", "realm_user"]})).await;
    let cases = [
        (json!({"enter_sends": true, "color_scheme": 9}), "Invalid color_scheme"),
        (json!({"enter_sends": true, "default_language": "xx"}), "Invalid default_language"),
        (json!({"enter_sends": true, "notification_sound": "bang"}), "Invalid notification sound 'bang'"),
        (
            json!({"enter_sends": true, "timezone": "Mars/Base"}),
            "Invalid timezone: Value error, Not a recognized time zone",
        ),
        (json!({"enter_sends": true, "full_name": " "}), "Name too short!"),
        (json!({"enter_sends": true, "email": "nowhere"}), "Invalid address."),
    ];
    for (change, msg) in cases {
        ada.patch("/settings", change).await.error(400, "BAD_REQUEST", msg);
    }
    ada.patch("/settings", json!({"dense_mode": true})).await.ok_ignoring(&["dense_mode"]);
    queue.expect_nothing().await;
}

// conformance: setting-4
#[tokio::test]
async fn bots_have_no_settings() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let bot = server.bot("helper", &ada).await;
    let msg = "This endpoint does not accept bot requests.";
    bot.patch("/settings", json!({"enter_sends": true})).await.error(400, "BAD_REQUEST", msg);
}

// conformance: setting-6
#[tokio::test]
async fn consents_are_emitted_to_administrators() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let (ada, bob) = (server.member("ada").await, server.member("bob").await);
    let types = json!({"event_types": ["realm_export_consent"]});
    let (mut of_owner, mut of_bob) = (owner.register(types.clone()).await, bob.register(types).await);
    ada.patch("/settings", json!({"allow_private_data_export": true})).await.ok();
    of_owner
        .expect(&[json!({"type": "realm_export_consent", "user_id": ada.user_id, "consented": true})])
        .await;
    of_bob.expect_nothing().await;
}

// conformance: setting-5, typing-27
#[tokio::test]
async fn typing_setting_is_at_the_top_level_for_older_clients() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let older = json!({"event_types": ["update_display_settings"]});
    let mut events = ada.register(&older).await;
    assert_eq!(events.state["receives_typing_notifications"], true);
    ada.patch("/settings", json!({"receives_typing_notifications": false})).await.ok();
    let event = json!({"type": "update_display_settings", "user": ada.email,
        "setting_name": "receives_typing_notifications", "setting": false});
    events.expect(&[event]).await;
    assert_eq!(ada.register(&older).await.state["receives_typing_notifications"], false);
    let mut newer = older;
    newer["client_capabilities"] = json!({"user_settings_object": true});
    assert_eq!(ada.register(newer).await.state.get("receives_typing_notifications"), None);
}
