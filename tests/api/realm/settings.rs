//! `PATCH /realm`: plain settings.

use crate::channels::{channel, private_channel};
use crate::harness::{Client, TestServer};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use teamchat::domain::realm;
use teamchat::types::{ChangedBy, Kind};

/// The value of a setting in `POST /register`.
async fn shown(client: &Client, name: &str) -> Value {
    let state = client.post("/register", json!({"fetch_event_types": ["realm"]})).await.ok();
    state[format!("realm_{name}").as_str()].clone()
}

/// Settings that an administrator changes, as written in the request and as shown afterwards.
fn of_administrators() -> Vec<(&'static str, Value, Value)> {
    let same = |name, value: Value| (name, value.clone(), value);
    vec![
        same("allow_message_editing", json!(false)),
        same("avatar_changes_disabled", json!(true)),
        same("default_code_block_language", json!("python")),
        same("default_language", json!("de")),
        same("description", json!("All about **gardens**.")),
        same("digest_emails_enabled", json!(true)),
        same("digest_weekday", json!(3)),
        same("email_changes_disabled", json!(true)),
        same("enable_guest_user_dm_warning", json!(false)),
        same("enable_guest_user_indicator", json!(false)),
        same("enable_read_receipts", json!(false)),
        same("enable_spectator_access", json!(true)),
        same("giphy_rating", json!(0)),
        same("inline_image_preview", json!(false)),
        same("inline_url_embed_preview", json!(true)),
        ("jitsi_server_url", json!("\"https://meet.example.com\""), json!("https://meet.example.com")),
        same("message_content_allowed_in_email_notifications", json!(false)),
        ("message_content_delete_limit_seconds", json!("\"unlimited\""), Value::Null),
        same("message_content_edit_limit_seconds", json!(120)),
        same("message_edit_history_visibility_policy", json!("moves")),
        same("move_messages_between_streams_limit_seconds", json!(60)),
        ("move_messages_within_stream_limit_seconds", json!("\"unlimited\""), Value::Null),
        same("name", json!("The garden")),
        same("name_changes_disabled", json!(true)),
        same("org_type", json!(10)),
        same("require_e2ee_push_notifications", json!(true)),
        same("require_unique_names", json!(true)),
        same("send_welcome_emails", json!(false)),
        same("topics_policy", json!("disable_empty_topic")),
        same("video_chat_provider", json!(1)),
        same("want_advertise_in_communities_directory", json!(true)),
        same("welcome_message_custom_text", json!("Hello!")),
    ]
}

/// Settings that only an owner changes.
fn of_owners() -> Vec<(&'static str, Value, Value)> {
    let same = |name, value: Value| (name, value.clone(), value);
    vec![
        same("disallow_disposable_email_addresses", json!(false)),
        same("emails_restricted_to_domains", json!(true)),
        same("invite_required", json!(false)),
        same("message_retention_days", json!(30)),
        same("waiting_period_threshold", json!(0)),
    ]
}

/// Channels have tests of their own.
#[test]
fn every_setting_is_tried() {
    for (by, tried) in [(ChangedBy::Administrator, of_administrators()), (ChangedBy::Owner, of_owners())] {
        let tried: BTreeSet<&str> = tried.iter().map(|(name, _, _)| *name).collect();
        let rows = realm::settings::PROPERTIES.iter();
        let rows = rows.filter(|row| row.changed_by == by && !matches!(row.kind, Kind::Channel));
        assert_eq!(tried, rows.map(|row| row.name).collect(), "add a line for each new setting");
    }
}

fn update(name: &str, value: &Value) -> Value {
    match name {
        "allow_message_editing" | "message_content_edit_limit_seconds" => {
            json!({"type": "realm", "op": "update_dict", "property": "default", "data": {name: value}})
        }
        "topics_policy" => json!({"type": "realm", "op": "update_dict", "property": "default",
            "data": {"topics_policy": value, "mandatory_topics": true}}),
        _ => json!({"type": "realm", "op": "update", "property": name, "value": value}),
    }
}

fn only(name: &str, value: &Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), value.clone())]))
}

// conformance: realm-1, realm-2
#[tokio::test]
async fn settings_are_changed_emitted_and_listed() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let mut queue = guest.register(json!({"event_types": ["realm"]})).await;
    let of_owners = of_owners();
    for (by, settings) in [(&admin, of_administrators()), (&owner, of_owners)] {
        for (name, written, expected) in settings {
            let refused = ada.patch("/realm", only(name, &written)).await;
            refused.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization administrator");
            let is_same = shown(&guest, name).await == expected;
            let answer = by.patch("/realm", only(name, &written)).await.ok();
            assert_eq!(shown(&guest, name).await, expected, "{name}");
            let answered = if expected.is_string() { json!("updated") } else { expected.clone() };
            assert_eq!(answer.get(name), Some(&answered).filter(|_| !is_same), "{name}");
            if !is_same {
                queue.expect(&[update(name, &expected)]).await;
            }
            let again = by.patch("/realm", only(name, &written)).await.ok();
            assert_eq!(again.get(name), None, "{name} is so already");
        }
    }
    queue.expect_nothing().await;
}

// conformance: realm-4
#[tokio::test]
async fn many_settings_change_at_once_or_none_does() {
    let server = TestServer::start().await;
    let admin = server.administrator("admin").await;
    let mut queue = admin.register(json!({"event_types": ["realm"]})).await;
    let wrong = json!({"name": "The garden", "giphy_rating": 9});
    admin.patch("/realm", wrong).await.error(400, "BAD_REQUEST", "Invalid giphy_rating 9");
    let last = json!({"name": "The garden", "can_create_groups": {"new": 1}});
    admin.patch("/realm", last).await.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    queue.expect_nothing().await;
    let changes =
        json!({"name": "The garden", "digest_weekday": 5, "no_such_setting": 1, "mandatory_topics": true});
    let answer = admin.patch("/realm", changes).await.ok_ignoring(&["mandatory_topics", "no_such_setting"]);
    assert_eq!((&answer["name"], &answer["digest_weekday"]), (&json!("updated"), &json!(5)));
    queue.expect_kinds(&["realm/update", "realm/update"]).await;
    let nothing = json!({"name_changes_disabled": null, "message_content_edit_limit_seconds": null});
    admin.patch("/realm", nothing).await.ok();
    admin.patch("/realm", ()).await.ok();
    queue.expect_nothing().await;
}

// conformance: realm-3
#[tokio::test]
async fn joining_and_retention_settings_need_an_owner() {
    let server = TestServer::start().await;
    let admin = server.administrator("admin").await;
    let others = [
        ("authentication_methods", json!({"Email": true})),
        ("string_id", json!("garden")),
        ("can_create_groups", json!({"new": 2})),
        ("can_invite_users_group", json!({"new": 2})),
        ("can_manage_all_groups", json!({"new": 2})),
        ("can_manage_billing_group", json!({"new": 2})),
        ("create_multiuse_invite_group", json!({"new": 2})),
    ];
    let plain = of_owners().into_iter().map(|(name, written, _)| (name, written));
    for (name, written) in plain.chain(others) {
        let refused = admin.patch("/realm", only(name, &written)).await;
        refused.error(400, "UNAUTHORIZED_PRINCIPAL", "Must be an organization owner");
    }
}

// conformance: realm-5, realm-21
#[tokio::test]
async fn wrong_values_are_refused_as_published() {
    let server = TestServer::start().await;
    let owner = server.owner().await;
    let long = |length: usize| json!("x".repeat(length));
    for (name, written, msg) in [
        ("allow_message_editing", json!("perhaps"), "allow_message_editing is not valid JSON"),
        ("allow_message_editing", json!(1), "allow_message_editing is not a boolean"),
        ("default_language", json!("klingon"), "Invalid language 'klingon'"),
        ("description", long(1001), "description is too long (limit: 1000 characters)"),
        ("digest_weekday", json!(7), "Invalid digest_weekday"),
        ("giphy_rating", json!(6), "Invalid giphy_rating 6"),
        ("jitsi_server_url", json!("https://meet.example.com"), "jitsi_server_url is not valid JSON"),
        ("jitsi_server_url", json!("\"meet\""), "jitsi_server_url is not an allowed_type"),
        ("jitsi_server_url", json!(1), "jitsi_server_url is not a string"),
        (
            "message_content_edit_limit_seconds",
            json!([1]),
            "message_content_edit_limit_seconds is not an integer",
        ),
        (
            "message_content_edit_limit_seconds",
            json!("unlimited"),
            "message_content_edit_limit_seconds is not valid JSON",
        ),
        (
            "message_edit_history_visibility_policy",
            json!("some"),
            "Invalid message_edit_history_visibility_policy",
        ),
        ("name", long(41), "name is too long (limit: 40 characters)"),
        ("org_type", json!(11), "Invalid org_type"),
        ("topics_policy", json!("inherit"), "Invalid topics_policy"),
        ("video_chat_provider", json!(4), "Invalid video_chat_provider 4"),
        ("waiting_period_threshold", json!(-1), "waiting_period_threshold is too small"),
        ("waiting_period_threshold", json!(1_i64 << 40), "waiting_period_threshold is too large"),
        (
            "welcome_message_custom_text",
            long(8001),
            "welcome_message_custom_text is too long (limit: 8000 characters)",
        ),
        (
            "authentication_methods",
            json!({"Email": false}),
            "At least one authentication method must be enabled.",
        ),
        (
            "authentication_methods",
            json!({"Email": true, "LDAP": true}),
            "Invalid authentication method: LDAP. Valid methods are: ['Email']",
        ),
        ("string_id", json!("garden"), "Must be a demo organization."),
    ] {
        let refused = owner.patch("/realm", only(name, &written)).await;
        refused.error(400, "BAD_REQUEST", msg);
    }
    for name in [
        "message_content_delete_limit_seconds",
        "message_content_edit_limit_seconds",
        "message_retention_days",
        "move_messages_between_streams_limit_seconds",
        "move_messages_within_stream_limit_seconds",
    ] {
        for (written, bad) in [("0", "0"), ("-1", "-1"), ("\"ever\"", "ever")] {
            let refused = owner.patch("/realm", only(name, &json!(written))).await;
            let msg = format!("Bad value for '{name}': {bad}");
            let error = refused.error(400, "REQUEST_VARIABLE_INVALID", &msg);
            assert_eq!((&error["var_name"], &error["bad_value"]), (&json!(name), &json!(bad)));
        }
    }
    owner.patch("/realm", json!({"authentication_methods": {"Email": true}})).await.ok();
    owner.patch("/realm", json!({"message_retention_days": "\"unlimited\""})).await.ok();
    assert_eq!(shown(&owner, "message_retention_days").await, -1);
}

// conformance: realm-6
#[tokio::test]
async fn channels_for_notices_are_there_for_the_caller() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let (garden, shed) = (channel(&owner, "garden").await, private_channel(&owner, "shed").await);
    let gone = channel(&owner, "gone").await;
    owner.delete(&format!("/streams/{gone}"), ()).await.ok();
    let mut queue = admin.register(json!({"event_types": ["realm"]})).await;
    for name in [
        "new_stream_announcements_stream_id",
        "signup_announcements_stream_id",
        "zulip_update_announcements_stream_id",
    ] {
        for stream_id in [gone, 999] {
            let refused = admin.patch("/realm", only(name, &json!(stream_id))).await;
            refused.error(400, "BAD_REQUEST", "Invalid channel ID");
        }
        let answer = admin.patch("/realm", only(name, &json!(garden))).await.ok();
        assert_eq!(answer[name], garden);
        assert_eq!(shown(&admin, name).await, garden);
        admin.patch("/realm", only(name, &json!(-1))).await.ok();
        queue.expect(&[update(name, &json!(garden)), update(name, &json!(-1))]).await;
    }
    let name = "moderation_request_channel_id";
    let refused = admin.patch("/realm", only(name, &json!(garden))).await;
    refused.error(400, "BAD_REQUEST", "Moderation request channel must be private.");
    admin.patch("/realm", only(name, &json!(shed))).await.ok();
    queue.expect(&[update(name, &json!(shed))]).await;
}

// conformance: md-17, realm-7
#[tokio::test]
async fn settings_have_their_effect_at_once() {
    let server = TestServer::start().await;
    let (owner, ada) = (server.owner().await, server.member("ada").await);
    let garden = server.channel("garden", &[&owner, &ada]).await;
    let code = json!({"content": "```\n1 + 1\n```"});
    let plain = ada.post("/messages/render", &code).await.ok()["rendered"].clone();
    owner.patch("/realm", json!({"default_code_block_language": "python"})).await.ok();
    let lit = ada.post("/messages/render", &code).await.ok()["rendered"].clone();
    assert_ne!(plain, lit);
    assert!(lit.as_str().unwrap().contains("data-code-language=\"Python\""), "{lit}");
    owner
        .patch("/realm", json!({"topics_policy": "disable_empty_topic", "allow_message_editing": false}))
        .await
        .ok();
    let empty = json!({"type": "channel", "to": garden, "topic": "", "content": "hello"});
    ada.post("/messages", empty).await.error(400, "BAD_REQUEST", "Topics are required in this organization");
    let sent = json!({"type": "channel", "to": garden, "topic": "tea", "content": "hello"});
    let id = ada.post("/messages", sent).await.ok()["id"].clone();
    let edit = ada.patch(&format!("/messages/{id}"), json!({"content": "bye"})).await;
    edit.error(400, "BAD_REQUEST", "Your organization has turned off message editing");
}

// conformance: realm-8
#[tokio::test]
async fn events_and_a_new_state_agree() {
    let server = TestServer::start().await;
    let (owner, admin) = (server.owner().await, server.administrator("admin").await);
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    let shed = server.private_channel("shed", &[&owner]).await;
    // Full members may know of it: who is one depends on a setting.
    let full_members = json!({"can_add_subscribers_group": {"new": 5}});
    owner.patch(&format!("/streams/{shed}"), full_members).await.ok();
    let mut changes = Map::new();
    for (name, written, _) in of_administrators().into_iter().chain(of_owners()) {
        changes.insert(name.to_owned(), written);
    }
    changes.insert("waiting_period_threshold".to_owned(), json!(3));
    changes.insert("moderation_request_channel_id".to_owned(), json!(shed));
    server
        .check_state_sync(&[&owner, &admin, &ada, &guest], async || {
            owner.patch("/realm", Value::Object(changes)).await.ok();
        })
        .await;
    server
        .check_state_sync(&[&owner, &admin, &ada, &guest], async || {
            owner
                .patch("/realm", json!({"waiting_period_threshold": 0, "jitsi_server_url": "\"default\""}))
                .await
                .ok();
            admin.patch("/realm", json!({"message_edit_history_visibility_policy": "none"})).await.ok();
        })
        .await;
}
