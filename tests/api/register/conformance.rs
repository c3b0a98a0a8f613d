//! Fields of `POST /register` that clients require. Each table has the fields without which one client refuses to
//! start: a missing or null field means a broken server to it, not an older one.

use crate::harness::TestServer;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Expected type of a field.
enum Shape {
    Bool,
    Integer,
    Text,
    /// Scheme, host and path.
    Address,
    List(&'static [(&'static str, Shape)]),
    /// An object with these members, and others.
    Object(&'static [(&'static str, Shape)]),
    /// An object of objects with these members.
    Map(&'static [(&'static str, Shape)]),
    /// One of these numbers.
    OneOf(&'static [i64]),
    /// A group's id, or members and subgroups.
    GroupSetting,
    /// Null will do.
    OrNull(&'static Shape),
}

use Shape::{Address, Bool, GroupSetting, Integer, List, Map, Object, OneOf, OrNull, Text};

const USER: &[(&str, Shape)] = &[
    ("user_id", Integer),
    ("email", Text),
    ("full_name", Text),
    ("date_joined", Text),
    ("timezone", Text),
    ("is_bot", Bool),
    ("role", Integer),
    ("avatar_version", Integer),
];

const GROUP: &[(&str, Shape)] = &[
    ("id", Integer),
    ("members", List(&[])),
    ("direct_subgroup_ids", List(&[])),
    ("name", Text),
    ("description", Text),
    ("is_system_group", Bool),
    ("deactivated", Bool),
    ("can_add_members_group", GroupSetting),
    ("can_join_group", GroupSetting),
    ("can_leave_group", GroupSetting),
    ("can_manage_group", GroupSetting),
    ("can_mention_group", GroupSetting),
    ("can_remove_members_group", GroupSetting),
];

const CHANNEL_FOLDER: &[(&str, Shape)] = &[
    ("id", Integer),
    ("name", Text),
    ("description", Text),
    ("rendered_description", Text),
    ("is_archived", Bool),
    ("order", Integer),
    ("date_created", Integer),
    ("creator_id", OrNull(&Integer)),
];

const PROFILE_FIELD: &[(&str, Shape)] = &[
    ("id", Integer),
    ("type", Integer),
    ("order", Integer),
    ("name", Text),
    ("hint", Text),
    ("field_data", Text),
];

/// The mobile app: its first snapshot, asked for without words and with these capabilities.
const MOBILE: &[(&str, Shape)] = &[
    ("queue_id", Text),
    ("last_event_id", Integer),
    ("zulip_feature_level", Integer),
    ("zulip_version", Text),
    ("zulip_merge_base", Text),
    ("alert_words", List(&[])),
    ("custom_profile_fields", List(PROFILE_FIELD)),
    ("max_stream_name_length", Integer),
    ("max_topic_length", Integer),
    ("server_presence_ping_interval_seconds", Integer),
    ("server_presence_offline_threshold_seconds", Integer),
    ("server_typing_started_expiry_period_milliseconds", Integer),
    ("server_typing_stopped_wait_period_milliseconds", Integer),
    ("server_typing_started_wait_period_milliseconds", Integer),
    ("muted_users", List(&[("id", Integer)])),
    ("presences", Map(&[("active_timestamp", Integer), ("idle_timestamp", Integer)])),
    ("realm_emoji", Map(&[("id", Text), ("name", Text), ("source_url", Text), ("deactivated", Bool)])),
    ("realm_user_groups", List(GROUP)),
    ("recent_private_conversations", List(&[("max_message_id", Integer), ("user_ids", List(&[]))])),
    ("saved_snippets", List(&[("id", Integer), ("title", Text), ("content", Text)])),
    ("subscriptions", List(&[("stream_id", Integer), ("name", Text), ("color", Text)])),
    ("channel_folders", List(CHANNEL_FOLDER)),
    (
        "unread_msgs",
        Object(&[
            ("count", Integer),
            ("pms", List(&[])),
            ("streams", List(&[])),
            ("huddles", List(&[])),
            ("mentions", List(&[])),
            ("old_unreads_missing", Bool),
        ]),
    ),
    ("starred_messages", List(&[])),
    ("streams", List(&[("stream_id", Integer), ("name", Text), ("rendered_description", Text)])),
    ("user_status", Object(&[])),
    (
        "user_settings",
        Object(&[
            ("twenty_four_hour_time", Bool),
            ("starred_message_counts", Bool),
            ("display_emoji_reaction_users", Bool),
            ("emojiset", Text),
            ("presence_enabled", Bool),
        ]),
    ),
    ("user_topics", List(&[("stream_id", Integer), ("topic_name", Text), ("visibility_policy", Integer)])),
    ("realm_can_delete_any_message_group", GroupSetting),
    ("realm_can_delete_own_message_group", GroupSetting),
    ("realm_wildcard_mention_policy", OneOf(&[1, 2, 3, 5, 6, 7])),
    ("realm_topics_policy", Text),
    ("realm_mandatory_topics", Bool),
    ("realm_name", Text),
    ("realm_waiting_period_threshold", Integer),
    ("realm_message_content_delete_limit_seconds", OrNull(&Integer)),
    ("realm_message_content_edit_limit_seconds", OrNull(&Integer)),
    ("realm_allow_message_editing", Bool),
    ("realm_enable_read_receipts", Bool),
    ("realm_presence_disabled", Bool),
    ("realm_icon_url", Text),
    ("server_emoji_data_url", Address),
    (
        "realm_default_external_accounts",
        Map(&[("name", Text), ("text", Text), ("hint", Text), ("url_pattern", Text)]),
    ),
    ("max_file_upload_size_mib", Integer),
    ("event_queue_longpoll_timeout_seconds", Integer),
    (
        "server_thumbnail_formats",
        List(&[("name", Text), ("max_width", Integer), ("max_height", Integer), ("animated", Bool)]),
    ),
    ("realm_moderation_request_channel_id", Integer),
    ("realm_empty_topic_display_name", Text),
    ("realm_users", List(USER)),
    ("realm_non_active_users", List(USER)),
    ("cross_realm_bots", List(USER)),
];

/// The words that the terminal client asks with, without any capability.
const TERMINAL_WORDS: &[&str] = &[
    "realm",
    "presence",
    "subscription",
    "message",
    "starred_messages",
    "update_message_flags",
    "muted_topics",
    "realm_user",
    "realm_user_groups",
    "user_settings",
    "realm_emoji",
    "custom_profile_fields",
    "zulip_version",
];

/// The terminal client.
const TERMINAL: &[(&str, Shape)] = &[
    ("zulip_version", Text),
    ("max_message_id", Integer),
    ("queue_id", Text),
    ("last_event_id", Integer),
    ("realm_name", Text),
    ("realm_message_retention_days", Integer),
    ("realm_allow_message_editing", Bool),
    ("realm_message_content_edit_limit_seconds", OrNull(&Integer)),
    ("realm_allow_edit_history", Bool),
    ("user_id", Integer),
    ("email", Text),
    ("full_name", Text),
    ("realm_users", List(USER)),
    ("cross_realm_bots", List(USER)),
    ("presences", Map(&[("aggregated", Object(&[])), ("website", Object(&[]))])),
    ("realm_emoji", Object(&[])),
    ("realm_user_groups", List(GROUP)),
    ("muted_topics", List(&[])),
    ("starred_messages", List(&[])),
    (
        "user_settings",
        Object(&[
            ("send_private_typing_notifications", Bool),
            ("twenty_four_hour_time", Bool),
            ("pm_content_in_desktop_notifications", Bool),
        ]),
    ),
    (
        "unread_msgs",
        Object(&[("pms", List(&[("sender_id", Integer)])), ("streams", List(&[])), ("huddles", List(&[]))]),
    ),
    ("subscriptions", List(&[("name", Text), ("stream_id", Integer), ("subscribers", List(&[]))])),
    ("custom_profile_fields", List(PROFILE_FIELD)),
];

/// Deviations of a value from the expected type, a line for each place.
fn problems(place: &str, shape: &Shape, value: &Value, found: &mut Vec<String>) {
    let members = |members: &[(&str, Shape)], value: &Value, place: &str, found: &mut Vec<String>| {
        for (name, shape) in members {
            match value.get(name) {
                Some(value) => problems(&format!("{place}.{name}"), shape, value, found),
                None => found.push(format!("{place}.{name} is missing")),
            }
        }
    };
    let is_good = match shape {
        Bool => value.is_boolean(),
        Integer => value.is_i64(),
        Text => value.is_string(),
        Address => value.as_str().is_some_and(|text| text.starts_with("http://127.0.0.1:")),
        OneOf(numbers) => value.as_i64().is_some_and(|number| numbers.contains(&number)),
        GroupSetting => {
            value.is_i64() || (value["direct_members"].is_array() && value["direct_subgroups"].is_array())
        }
        OrNull(shape) => {
            if !value.is_null() {
                problems(place, shape, value, found);
            }
            true
        }
        List(of) => {
            for (index, element) in value.as_array().into_iter().flatten().enumerate() {
                members(of, element, &format!("{place}[{index}]"), found);
            }
            value.is_array()
        }
        Object(of) => {
            members(of, value, place, found);
            value.is_object()
        }
        Map(of) => {
            for (key, element) in value.as_object().into_iter().flatten() {
                members(of, element, &format!("{place}.{key}"), found);
            }
            value.is_object()
        }
    };
    if !is_good {
        found.push(format!("{place} is {value}"));
    }
}

/// Checks a state against a table.
fn check(state: &Value, table: &[(&'static str, Shape)]) {
    let mut found = Vec::new();
    for (name, shape) in table {
        match state.get(name) {
            Some(value) => problems(name, shape, value, &mut found),
            None => found.push(format!("{name} is missing")),
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

// conformance: queue-26
#[tokio::test]
async fn register_has_fields_of_the_mobile_app() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    ada.post("/users/me/presence", &[("status", "active")]).await.ok();
    let owner = server.owner().await;
    ada.post(&format!("/users/me/muted_users/{}", owner.user_id), ()).await.ok();
    let folder = json!({"name": "Backend", "description": ""});
    owner.post("/channel_folders/create", folder).await.ok();
    owner.post("/realm/profile_fields", json!({"name": "Phone", "field_type": 1})).await.ok();
    let capabilities = json!({
        "notification_settings_null": true,
        "bulk_message_deletion": true,
        "user_avatar_url_field_optional": true,
        "stream_typing_notifications": true,
        "user_settings_object": true,
        "include_deactivated_groups": true,
        "empty_topic_name": true,
        "individual_emoji_changes": true,
    });
    let parameters = json!({
        "idle_queue_timeout": "\"mobile\"",
        "apply_markdown": true,
        "client_gravatar": false,
        "slim_presence": true,
        "client_capabilities": capabilities,
    });
    let state = ada.post("/register", parameters).await.ok();
    assert_eq!(state["idle_queue_timeout_secs"], 12 * 3600);
    assert_eq!(
        state["presences"].as_object().unwrap().keys().collect::<Vec<_>>(),
        [&ada.user_id.to_string()]
    );
    check(&state, MOBILE);
    assert_eq!(state.get("color_scheme"), None, "the older copies are for those who need them");
}

#[tokio::test]
async fn register_has_fields_of_the_terminal_client() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    ada.post("/users/me/presence", &[("status", "active")]).await.ok();
    let parameters = json!({
        "event_types": ["message", "user_settings", "realm_user"],
        "fetch_event_types": TERMINAL_WORDS,
        "client_gravatar": true,
        "apply_markdown": true,
        "include_subscribers": true,
    });
    let state = ada.post("/register", parameters).await.ok();
    assert_eq!(state["presences"].as_object().unwrap().keys().collect::<Vec<_>>(), [&ada.email]);
    check(&state, TERMINAL);
    assert_eq!(state["user_id"], ada.user_id);
    let own = json!(ada.user_id);
    assert!(state["realm_users"].as_array().unwrap().iter().any(|user| user["user_id"] == own));
}

#[tokio::test]
async fn requested_types_select_their_fields() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let versions = [
        "last_event_id",
        "msg",
        "queue_id",
        "result",
        "svc_feature_level",
        "svc_merge_base",
        "svc_version",
        "zulip_feature_level",
        "zulip_merge_base",
        "zulip_version",
    ];
    let cases: &[(&str, &[&str])] = &[
        ("giphy", &["giphy_api_key"]),
        ("video_calls", &["has_zoom_token"]),
        ("realm_billing", &["realm_billing"]),
        ("stop_words", &["stop_words"]),
        ("user_settings", &["user_settings"]),
        ("realm_user_settings_defaults", &["realm_user_settings_defaults"]),
        ("realm_user_groups", &["realm_user_groups"]),
        ("custom_profile_fields", &["custom_profile_fields", "custom_profile_field_types"]),
        ("presence", &["presences", "presence_last_update_id", "server_timestamp"]),
        ("user_status", &["user_status"]),
        ("muted_users", &["muted_users"]),
        ("channel_folders", &["channel_folders"]),
        ("nothing of that name", &[]),
    ];
    for (word, fields) in cases {
        let state = ada.post("/register", json!({"fetch_event_types": [word]})).await.ok();
        let found: BTreeSet<&str> = state.as_object().unwrap().keys().map(String::as_str).collect();
        let expected: BTreeSet<&str> = versions.iter().chain(*fields).copied().collect();
        assert_eq!(found, expected, "{word}");
    }
}

// conformance: queue-26
#[tokio::test]
async fn the_organization_is_as_published() {
    let server = TestServer::start().await;
    let ada = server.member("ada").await;
    let mut queue = ada.register(json!({"fetch_event_types": ["realm", "realm_user"]})).await;
    queue.ignore();
    insta::assert_json_snapshot!(organization(&queue.state));
}

/// The fields of the words `realm` and `realm_user` that are not users; the server's port is left out.
fn organization(state: &Value) -> Value {
    const NOT_HERE: &[&str] = &[
        "queue_id",
        "last_event_id",
        "realm_users",
        "realm_non_active_users",
        "cross_realm_bots",
        "msg",
        "result",
    ];
    let mut fields: Vec<_> = state
        .as_object()
        .unwrap()
        .iter()
        .filter(|(name, _)| {
            !NOT_HERE.contains(&name.as_str())
                && !name.starts_with("svc_")
                && !name.starts_with("zulip_version")
        })
        .map(|(name, value)| (name.clone(), without_port(value)))
        .collect();
    fields.sort_by(|one, other| one.0.cmp(&other.0));
    Value::Object(fields.into_iter().collect())
}

fn without_port(value: &Value) -> Value {
    match value.as_str().and_then(|text| text.strip_prefix("http://127.0.0.1:")) {
        Some(rest) => format!("http://127.0.0.1:PORT{}", rest.trim_start_matches(char::is_numeric)).into(),
        None => value.clone(),
    }
}

#[tokio::test]
async fn members_receive_their_permissions() {
    let server = TestServer::start().await;
    let names = [
        "can_create_public_streams",
        "can_create_private_streams",
        "can_create_streams",
        "can_create_web_public_streams",
        "can_subscribe_other_users",
        "can_invite_others_to_realm",
    ];
    let (ada, guest) = (server.member("ada").await, server.guest("guest").await);
    for (client, expected) in [(&ada, [true, true, true, false, true, true]), (&guest, [false; 6])] {
        let state = client.post("/register", json!({"fetch_event_types": ["realm_user"]})).await.ok();
        let found = names.map(|name| state[name].as_bool().unwrap());
        assert_eq!(found, expected, "{}", client.full_name);
    }
}
