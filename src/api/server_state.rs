//! The server in the response of `POST /register`: limits, intervals and features.

use crate::domain::files::thumbnails;
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::permission::UserGroupSetting;
use crate::domain::groups::realm_settings::RealmGroup;
use crate::domain::images::public::EMOJI_DATA_PATH;
use crate::domain::limits::{
    MAX_AVATAR_FILE_SIZE_MIB, MAX_BULK_NEW_SUBSCRIPTION_MESSAGES, MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH,
    MAX_CHANNEL_FOLDER_NAME_LENGTH, MAX_FILE_UPLOAD_SIZE_MIB, MAX_ICON_FILE_SIZE_MIB, MAX_LOGO_FILE_SIZE_MIB,
    MAX_MESSAGE_LENGTH, MAX_REMINDER_NOTE_LENGTH, MAX_STREAM_DESCRIPTION_LENGTH, MAX_STREAM_NAME_LENGTH,
    PRESENCE_OFFLINE_THRESHOLD_SECONDS, PRESENCE_PING_INTERVAL_SECONDS,
};
use crate::domain::profile_fields::external_accounts;
use crate::domain::realm::events;
use crate::domain::users::passwords;
use crate::http::Resource;
use crate::http::{ApiResult, State, StatePart, StateRequest};
use crate::types::Topic;
use serde_json::{Map, Value, json};

/// The resource of the server's own state. It has no routes.
pub const RESOURCE: Resource =
    Resource { name: "server_state", state: STATE, set_up: events::emit_version, ..Resource::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "realm", fetch: server },
    StatePart { name: "realm_billing", fetch: billing },
    StatePart { name: "video_calls", fetch: video_calls },
    StatePart { name: "giphy", fetch: giphy },
    StatePart { name: "stop_words", fetch: stop_words },
];

/// Whether the server sends digest emails. It sends no email.
pub const SEND_DIGEST_EMAILS: bool = false;

/// After this time without a typing event, clients stop showing that a user is typing.
pub const TYPING_STARTED_EXPIRY_PERIOD_MILLISECONDS: i64 = 45_000;

/// After this time without a keystroke, clients report that typing stopped.
pub const TYPING_STOPPED_WAIT_PERIOD_MILLISECONDS: i64 = 12_000;

/// While a user types, clients report it again at this interval.
pub const TYPING_STARTED_WAIT_PERIOD_MILLISECONDS: i64 = 30_000;

/// After this time, clients abandon a poll for events. It is longer than the interval of heartbeats.
pub const EVENT_QUEUE_LONGPOLL_TIMEOUT_SECONDS: i64 = 90;

/// State part `realm`, which has the server's fields together with the organization's.
fn server(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let limits = [
        ("max_message_length", MAX_MESSAGE_LENGTH),
        ("max_topic_length", Topic::MAX_LENGTH),
        ("max_stream_name_length", MAX_STREAM_NAME_LENGTH),
        ("max_stream_description_length", MAX_STREAM_DESCRIPTION_LENGTH),
        ("max_channel_folder_name_length", MAX_CHANNEL_FOLDER_NAME_LENGTH),
        ("max_channel_folder_description_length", MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH),
        ("max_reminder_note_length", MAX_REMINDER_NOTE_LENGTH),
        ("max_bulk_new_subscription_messages", MAX_BULK_NEW_SUBSCRIPTION_MESSAGES),
        ("max_avatar_file_size_mib", MAX_AVATAR_FILE_SIZE_MIB),
        ("max_icon_file_size_mib", MAX_ICON_FILE_SIZE_MIB),
        ("max_logo_file_size_mib", MAX_LOGO_FILE_SIZE_MIB),
        ("password_min_length", passwords::MIN_LENGTH),
        ("password_max_length", passwords::MAX_LENGTH),
        // The server checks only the length of passwords.
        ("password_min_guesses", 0),
    ];
    let times = [
        ("server_presence_ping_interval_seconds", PRESENCE_PING_INTERVAL_SECONDS),
        ("server_presence_offline_threshold_seconds", PRESENCE_OFFLINE_THRESHOLD_SECONDS),
        ("server_typing_started_expiry_period_milliseconds", TYPING_STARTED_EXPIRY_PERIOD_MILLISECONDS),
        ("server_typing_stopped_wait_period_milliseconds", TYPING_STOPPED_WAIT_PERIOD_MILLISECONDS),
        ("server_typing_started_wait_period_milliseconds", TYPING_STARTED_WAIT_PERIOD_MILLISECONDS),
        ("event_queue_longpoll_timeout_seconds", EVENT_QUEUE_LONGPOLL_TIMEOUT_SECONDS),
        ("server_generation", request.app.started_at),
        // 1: self-hosted.
        ("realm_plan_type", 1),
    ];
    let switches = [
        ("server_inline_image_preview", true),
        ("zulip_plan_is_not_limited", true),
        // The server requests nothing from other sites, and sends neither emails nor push notifications.
        ("server_inline_url_embed_preview", false),
        ("settings_send_digest_emails", SEND_DIGEST_EMAILS),
        ("realm_push_notifications_enabled", false),
        // Nothing can be read without an account but files, see `server_settings`.
        ("server_web_public_streams_enabled", false),
        ("server_can_summarize_topics", false),
        ("server_avatar_changes_disabled", false),
        ("server_name_changes_disabled", false),
        ("server_needs_upgrade", false),
        ("development_environment", false),
        ("realm_is_zephyr_mirror_realm", false),
    ];
    state.extend(limits.map(|(name, value)| (name.to_owned(), value.into())));
    state.extend(times.map(|(name, value)| (name.to_owned(), value.into())));
    state.extend(switches.map(|(name, value)| (name.to_owned(), value.into())));
    let options = &request.app.options;
    let others = [
        ("server_emoji_data_url", json!(format!("{}{EMOJI_DATA_PATH}", request.info.origin))),
        ("server_supported_permission_settings", permission_settings()),
        ("server_thumbnail_formats", json!(thumbnails::FORMATS)),
        (
            "max_file_upload_size_mib",
            json!(options.max_file_upload_size_mib.unwrap_or(MAX_FILE_UPLOAD_SIZE_MIB)),
        ),
        ("server_jitsi_server_url", Value::Null),
        // The server never deletes a deactivated organization.
        ("server_min_deactivated_realm_deletion_days", Value::Null),
        ("server_max_deactivated_realm_deletion_days", Value::Null),
        ("realm_push_notifications_enabled_end_timestamp", Value::Null),
        ("realm_upload_quota_mib", json!(options.upload_quota_mib)),
        ("upgrade_text_for_wide_organization_logo", json!("")),
        ("realm_default_external_accounts", external_accounts::state()),
        ("realm_available_video_chat_providers", video_chat_providers()),
        ("giphy_rating_options", giphy_rating_options()),
    ];
    state.extend(others.map(|(name, value)| (name.to_owned(), value)));
    Ok(())
}

/// Returns the groups that settings pages may offer for each permission.
fn permission_settings() -> Value {
    let of_realm: Map<String, Value> = RealmGroup::ALL
        .iter()
        .map(|setting| (setting.name().to_owned(), json!(setting.permission())))
        .collect();
    let of_channels: Map<String, Value> = StreamSetting::ALL
        .iter()
        .map(|setting| (setting.name().to_owned(), json!(setting.permission())))
        .collect();
    let of_groups: Map<String, Value> = UserGroupSetting::ALL
        .iter()
        .map(|setting| (setting.name().to_owned(), json!(setting.permission())))
        .collect();
    json!({"realm": of_realm, "stream": of_channels, "group": of_groups})
}

/// Only Jitsi, whose links clients create without the server.
fn video_chat_providers() -> Value {
    json!({
        "disabled": {"name": "None", "id": 0},
        "jitsi_meet": {"name": "Jitsi Meet", "id": 1},
    })
}

fn giphy_rating_options() -> Value {
    json!({
        "disabled": {"name": "GIPHY integration disabled", "id": 0},
        "y": {"name": "Allow GIFs rated Y (Very young audience)", "id": 1},
        "g": {"name": "Allow GIFs rated G (General audience)", "id": 2},
        "pg": {"name": "Allow GIFs rated PG (Parental guidance)", "id": 3},
        "pg-13": {"name": "Allow GIFs rated PG-13 (Parental guidance - under 13)", "id": 4},
        "r": {"name": "Allow GIFs rated R (Restricted)", "id": 5},
    })
}

/// State part `realm_billing`: the server has no billing.
fn billing(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("realm_billing".into(), json!({"has_pending_sponsorship_request": false}));
    Ok(())
}

/// State part `video_calls`: the server has no Zoom integration.
fn video_calls(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("has_zoom_token".into(), false.into());
    Ok(())
}

/// State part `giphy`: an empty key means that there is none.
fn giphy(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("giphy_api_key".into(), "".into());
    Ok(())
}

/// State part `stop_words`: every word can be searched for.
fn stop_words(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("stop_words".into(), json!([]));
    Ok(())
}
