//! `POST /register` without an account.

use super::{NOT_LOGGED_IN, Place};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Members of a user's reply that visitors do not get.
const ABSENT: [&str; 3] = ["last_event_id", "presence_last_update_id", "streams"];

/// Lists that are empty.
const EMPTY: [&str; 19] = [
    "unsubscribed",
    "never_subscribed",
    "realm_default_streams",
    "realm_default_stream_groups",
    "realm_bots",
    "realm_filters",
    "custom_profile_fields",
    "alert_words",
    "drafts",
    "saved_snippets",
    "scheduled_messages",
    "reminders",
    "muted_topics",
    "muted_users",
    "onboarding_steps",
    "recent_private_conversations",
    "starred_messages",
    "user_topics",
    "navigation_views",
];

// conformance: visit-16
#[tokio::test]
async fn the_state_is_that_of_somebody_without_an_account() {
    let place = Place::new().await;
    let Place { ada, visitor, owner, web, .. } = &place;
    ada.patch("/settings", json!({"email_address_visibility": 1, "timezone": "Europe/Vienna"})).await.ok();
    ada.post("/users/me/presence", json!({"status": "active"})).await.ok();
    ada.post("/users/me/status", json!({"status_text": "hidden words"})).await.ok();
    owner.post("/realm/profile_fields", json!({"name": "Favourite", "field_type": 1})).await.ok();
    owner.patch("/realm", json!({"default_language": "de"})).await.ok();
    for (name, channel) in [("Shown", *web), ("Hidden", place.secret)] {
        let made = owner.post("/channel_folders/create", json!({"name": name, "description": ""})).await.ok();
        let folder = json!({"folder_id": made["channel_folder_id"]});
        owner.patch(&format!("/streams/{channel}"), folder).await.ok();
    }
    ada.send(*web, "t", "@**all** x").await;
    let capabilities = json!({"client_capabilities": {"notification_settings_null": true}});
    let state = visitor.post("/register", &capabilities).await.ok();
    let of_user = ada.post("/register", &capabilities).await.ok();

    let names = |state: &Value| state.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    let left_out: Vec<String> = names(&of_user).difference(&names(&state)).cloned().collect();
    assert_eq!(left_out, ABSENT);
    assert!(names(&state).is_subset(&names(&of_user)));
    for name in EMPTY {
        assert_eq!(state[name], json!([]), "{name}");
    }
    for (name, expected) in [
        ("queue_id", json!(null)),
        ("user_id", json!(0)),
        ("full_name", json!("Anonymous User")),
        ("email", json!("username@example.com")),
        ("delivery_email", json!("username@example.com")),
        ("avatar_source", json!("G")),
        ("is_guest", json!(true)),
        ("is_admin", json!(false)),
        ("is_owner", json!(false)),
        ("is_moderator", json!(false)),
        ("can_create_private_streams", json!(false)),
        ("can_create_public_streams", json!(false)),
        ("can_create_streams", json!(false)),
        ("can_create_web_public_streams", json!(false)),
        ("can_invite_others_to_realm", json!(false)),
        ("presences", json!({})),
        ("user_status", json!({})),
        ("max_message_id", json!(-1)),
        ("realm_presence_disabled", json!(true)),
        ("realm_allow_message_editing", json!(false)),
        ("realm_enable_spectator_access", json!(true)),
        ("realm_name", json!("Team chat")),
        (
            "unread_msgs",
            json!({"count": 0, "pms": [], "streams": [], "huddles": [], "mentions": [], "old_unreads_missing": false}),
        ),
    ] {
        assert_eq!(state[name], expected, "{name}");
    }
    assert_eq!(state["user_settings"]["default_language"], "de");
    assert_eq!(state["user_settings"]["web_home_view"], "recent_topics");
    assert_eq!(state["user_settings"]["timezone"], "");
    let folders: Vec<&Value> =
        state["channel_folders"].as_array().unwrap().iter().map(|f| &f["name"]).collect();
    assert_eq!(folders, ["Shown"]);

    let channels: Vec<&Value> = state["subscriptions"].as_array().unwrap().iter().collect();
    assert_eq!(channels.iter().map(|channel| &channel["name"]).collect::<Vec<_>>(), ["old", "web"]);
    let personal = [
        "is_muted",
        "pin_to_top",
        "in_home_view",
        "desktop_notifications",
        "audible_notifications",
        "push_notifications",
        "email_notifications",
        "wildcard_mentions_notify",
    ];
    for channel in &channels {
        assert_eq!(
            personal.map(|name| channel[name].as_bool()),
            [
                Some(false),
                Some(false),
                Some(true),
                Some(true),
                Some(true),
                Some(true),
                Some(true),
                Some(true)
            ]
        );
        assert!(channel.get("subscribers").is_none() && channel.get("partial_subscribers").is_none());
    }
    assert_ne!(channels[0]["color"], channels[1]["color"]);

    let user = |state: &Value, id: i64| {
        let users = state["realm_users"].as_array().unwrap();
        users.iter().find(|user| user["user_id"] == id).unwrap().clone()
    };
    let shown = user(&state, ada.user_id);
    assert_eq!((&shown["delivery_email"], &shown["date_joined"]), (&json!(null), &json!("2026-09-21")));
    assert!(shown.get("profile_data").is_none());
    let count = |state: &Value| state["realm_users"].as_array().unwrap().len();
    assert_eq!(count(&state), count(&of_user));
    let text = state.to_string().replace("username@example.com", "");
    for hidden in
        ["@example.com", "Vienna", "secret", "\"name\":\"open\"", "Favourite", "Hidden", "hidden words"]
    {
        assert!(!text.contains(hidden), "{hidden}");
    }
}

// conformance: visit-17
#[tokio::test]
async fn parameters_for_queues_have_no_effect_and_others_are_refused() {
    let place = Place::new().await;
    let Place { visitor, .. } = &place;
    let register = async |parameters: Value| visitor.post("/register", parameters).await;
    let state =
        register(json!({"all_public_streams": true, "queue_lifespan_secs": 60, "event_types": ["message"],
        "fetch_event_types": ["realm"], "narrow": [["channel", "web"]], "apply_markdown": true,
        "presence_history_limit_days": 3, "client_gravatar": false, "include_subscribers": false}))
        .await
        .ok();
    assert_eq!((&state["queue_id"], state.get("realm_users")), (&json!(null), None));
    for (name, value) in
        [("client_gravatar", "true"), ("include_subscribers", "true"), ("include_subscribers", "partial")]
    {
        let msg = format!("Invalid '{name}' parameter for anonymous request");
        register(json!({name: value})).await.error(400, "BAD_REQUEST", &msg);
    }
    register(json!({"narrow": [["nonsense", "x"]]})).await.error(
        400,
        "BAD_REQUEST",
        "Operator nonsense not supported.",
    );
    assert_eq!(place.server.column("SELECT count(*) FROM event_queue").await, ["0"]);
    place.set_access(false).await;
    register(json!({"client_gravatar": true})).await.error(401, "UNAUTHORIZED", NOT_LOGGED_IN);
}
