//! What the answer of `POST /register` says of the server itself: limits, and what it can and cannot do.

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
use crate::domain::users::passwords;
use crate::http::Resource;
use crate::http::{ApiResult, State, StatePart, StateRequest};
use crate::types::Topic;
use serde_json::{Map, Value, json};

/// The server in the state.
pub const RESOURCE: Resource = Resource { name: "server_state", state: STATE, ..Resource::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "realm", fetch: server },
    StatePart { name: "realm_billing", fetch: billing },
    StatePart { name: "video_calls", fetch: video_calls },
    StatePart { name: "giphy", fetch: giphy },
    StatePart { name: "stop_words", fetch: stop_words },
];

/// Whether digests are sent: nothing here sends mail.
pub const SEND_DIGEST_EMAILS: bool = false;

/// Clients stop showing that somebody types after so many milliseconds without news.
pub const TYPING_STARTED_EXPIRY_PERIOD_MILLISECONDS: i64 = 45_000;

/// Clients say that typing stopped after so many milliseconds without a key.
pub const TYPING_STOPPED_WAIT_PERIOD_MILLISECONDS: i64 = 12_000;

/// Clients say so again when typing goes on for so many milliseconds.
pub const TYPING_STARTED_WAIT_PERIOD_MILLISECONDS: i64 = 30_000;

/// Clients give up a poll after so many seconds: somewhat later than the heartbeat.
pub const EVENT_QUEUE_LONGPOLL_TIMEOUT_SECONDS: i64 = 90;

/// Word `realm`. The published server sends its own facts with the organization's.
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
        // Passwords are measured by their length, not by guessing them.
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
        // 1 is a server of one's own.
        ("realm_plan_type", 1),
    ];
    let switches = [
        ("server_inline_image_preview", true),
        ("zulip_plan_is_not_limited", true),
        // Nothing here asks other sites, sends mail, pushes to phones or is read without an account.
        ("server_inline_url_embed_preview", false),
        ("settings_send_digest_emails", SEND_DIGEST_EMAILS),
        ("realm_push_notifications_enabled", false),
        ("server_web_public_streams_enabled", true),
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
        // The organization of a file is never deleted by the server.
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

/// Which groups settings pages may offer for each permission.
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

/// Jitsi needs nothing from the server: clients make its links.
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

/// Word `realm_billing`: there is nothing to pay for.
fn billing(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("realm_billing".into(), json!({"has_pending_sponsorship_request": false}));
    Ok(())
}

/// Word `video_calls`: nobody can log in to Zoom through this server.
fn video_calls(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("has_zoom_token".into(), false.into());
    Ok(())
}

/// Word `giphy`: an empty key is how the published server says that it has none.
fn giphy(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("giphy_api_key".into(), "".into());
    Ok(())
}

/// Word `stop_words`: every word can be searched for.
fn stop_words(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.insert("stop_words".into(), json!([]));
    Ok(())
}
