//! The server in the response of `POST /register`: limits, intervals and features.

use crate::api::resource::{Resource, State, StatePart, StateRequest};
use crate::domain::files::thumbnails;
use crate::domain::files::thumbnails::ThumbnailFormat;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::groups::permission::{Permission, UserGroupSetting};
use crate::domain::images::public::EMOJI_DATA_PATH;
use crate::domain::limits::{
    MAX_AVATAR_FILE_SIZE_MIB, MAX_BULK_NEW_SUBSCRIPTION_MESSAGES, MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH,
    MAX_CHANNEL_FOLDER_NAME_LENGTH, MAX_FILE_UPLOAD_SIZE_MIB, MAX_ICON_FILE_SIZE_MIB, MAX_LOGO_FILE_SIZE_MIB,
    MAX_MESSAGE_LENGTH, MAX_REMINDER_NOTE_LENGTH, MAX_STREAM_DESCRIPTION_LENGTH, MAX_STREAM_NAME_LENGTH,
    PRESENCE_OFFLINE_THRESHOLD_SECONDS, PRESENCE_PING_INTERVAL_SECONDS,
};
use crate::domain::profile_fields::external_accounts;
use crate::domain::profile_fields::external_accounts::ExternalAccount;
use crate::domain::realm;
use crate::domain::users::passwords;
use crate::http::ApiResult;
use crate::types::Topic;
use serde::Serialize;
use std::collections::BTreeMap;
use teamchat_markdown::emoji::TABLE_CHECKSUM;

/// The resource of the server's own state. It has no routes.
pub const RESOURCE: Resource =
    Resource { name: "server_state", state: STATE, set_up: realm::events::emit_version, ..Resource::EMPTY };

const STATE: &[StatePart] = &[
    StatePart { name: "realm", fetch: server },
    StatePart { name: "realm_billing", fetch: billing },
    StatePart { name: "video_calls", fetch: video_calls },
    StatePart { name: "giphy", fetch: giphy },
    StatePart { name: "stop_words", fetch: stop_words },
];

/// After this time without a typing event, clients stop showing that a user is typing.
const TYPING_STARTED_EXPIRY_PERIOD_MILLISECONDS: i64 = 45_000;

/// After this time without a keystroke, clients report that typing stopped.
const TYPING_STOPPED_WAIT_PERIOD_MILLISECONDS: i64 = 12_000;

/// While a user types, clients report it again at this interval.
const TYPING_STARTED_WAIT_PERIOD_MILLISECONDS: i64 = 30_000;

/// After this time, clients abandon a poll for events. It is longer than the interval of heartbeats.
const EVENT_QUEUE_LONGPOLL_TIMEOUT_SECONDS: i64 = 90;

/// The server in the answer of `POST /register`.
#[derive(Serialize)]
struct ServerState {
    /// The maximum length of a message, in characters.
    max_message_length: usize,
    /// The maximum length of a topic, in characters.
    max_topic_length: usize,
    /// The maximum length of the name of a channel, in characters.
    max_stream_name_length: usize,
    /// The maximum length of the description of a channel, in characters.
    max_stream_description_length: usize,
    /// The maximum length of the name of a channel folder, in characters.
    max_channel_folder_name_length: usize,
    /// The maximum length of the description of a channel folder, in characters.
    max_channel_folder_description_length: usize,
    /// The maximum length of the note of a reminder, in characters.
    max_reminder_note_length: usize,
    /// The maximum number of users who are subscribed at once and get a message about it. If there are more, none of
    /// them gets one.
    max_bulk_new_subscription_messages: usize,
    /// The maximum size of the image of a user, in MiB.
    max_avatar_file_size_mib: usize,
    /// The maximum size of the icon of the organization, in MiB.
    max_icon_file_size_mib: usize,
    /// The maximum size of a logo of the organization, in MiB.
    max_logo_file_size_mib: usize,
    /// The maximum size of an uploaded file, in MiB.
    max_file_upload_size_mib: u64,
    /// The minimum length of a password, in characters.
    password_min_length: usize,
    /// The maximum length of a password, in characters.
    password_max_length: usize,
    /// Always 0: the server checks only the length of passwords.
    password_min_guesses: usize,
    /// The interval at which clients report the presence of their user, in seconds.
    server_presence_ping_interval_seconds: i64,
    /// The time without a report after which a user is offline, in seconds.
    server_presence_offline_threshold_seconds: i64,
    /// The time without a `typing` event after which clients stop showing that a user is typing, in milliseconds.
    server_typing_started_expiry_period_milliseconds: i64,
    /// The time without a keystroke after which clients report that typing stopped, in milliseconds.
    server_typing_stopped_wait_period_milliseconds: i64,
    /// The interval at which clients report that their user is still typing, in milliseconds.
    server_typing_started_wait_period_milliseconds: i64,
    /// The time after which clients abandon a poll for events, in seconds. It is longer than the interval of
    /// heartbeats.
    event_queue_longpoll_timeout_seconds: i64,
    /// When the server started, in UNIX seconds.
    server_generation: i64,
    /// Always 1, for a self-hosted server.
    realm_plan_type: i64,
    /// Always true: messages have previews of images.
    server_inline_image_preview: bool,
    /// Always false: the server requests nothing from other sites.
    server_inline_url_embed_preview: bool,
    /// Always true: the server has no plans.
    zulip_plan_is_not_limited: bool,
    /// True if the server sends email, and so digests.
    settings_send_digest_emails: bool,
    /// True if phones receive push notifications, through a push bouncer. `GET /users/me/web_push` is for browsers.
    realm_push_notifications_enabled: bool,
    /// Always null.
    realm_push_notifications_enabled_end_timestamp: Option<i64>,
    /// Always true: the organization decides whether channels can be read without an account.
    server_web_public_streams_enabled: bool,
    /// Always false: there is no language model.
    server_can_summarize_topics: bool,
    /// Always false: only the organization can prevent users from changing their image.
    server_avatar_changes_disabled: bool,
    /// Always false: only the organization can prevent users from changing their name.
    server_name_changes_disabled: bool,
    /// Always false: the server does not report that it is outdated.
    server_needs_upgrade: bool,
    /// Always false.
    development_environment: bool,
    /// Always false: no network is mirrored.
    realm_is_zephyr_mirror_realm: bool,
    /// The URL of the table of emoji, as JSON.
    server_emoji_data_url: String,
    /// The accepted and default groups of each permission.
    server_supported_permission_settings: PermissionSettings,
    /// The formats in which the server creates thumbnails of images.
    server_thumbnail_formats: [ThumbnailFormat; 2],
    /// Always null: the server has no default Jitsi server. The organization can set one.
    server_jitsi_server_url: Option<String>,
    /// Always null: the server never deletes a deactivated organization.
    server_min_deactivated_realm_deletion_days: Option<i64>,
    /// Always null: the server never deletes a deactivated organization.
    server_max_deactivated_realm_deletion_days: Option<i64>,
    /// The maximum size of the files of all users together, in MiB; null for no limit.
    realm_upload_quota_mib: Option<u64>,
    /// Always empty.
    upgrade_text_for_wide_organization_logo: &'static str,
    /// The sites of built-in external accounts, by the `subtype` in `field_data`.
    realm_default_external_accounts: BTreeMap<&'static str, ExternalAccount>,
    /// The providers of video calls, by name. Clients create the links.
    realm_available_video_chat_providers: VideoChatProviders,
    /// The values of `giphy_rating`, by name.
    giphy_rating_options: GiphyRatings,
}

/// The accepted and default groups of each permission, by the names of permissions.
#[derive(Serialize)]
struct PermissionSettings {
    /// The permissions of the organization.
    realm: BTreeMap<&'static str, Permission>,
    /// The permissions of channels.
    stream: BTreeMap<&'static str, Permission>,
    /// The permissions of groups.
    group: BTreeMap<&'static str, Permission>,
}

/// A possible value of a setting.
#[derive(Serialize)]
struct Choice {
    /// The name of the value, for people.
    name: &'static str,
    /// The value of the setting.
    id: i64,
}

/// State part `realm`, which has the server's fields together with the organization's.
fn server(request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    let options = &request.app.options;
    state.add(&ServerState {
        max_message_length: MAX_MESSAGE_LENGTH,
        max_topic_length: Topic::MAX_LENGTH,
        max_stream_name_length: MAX_STREAM_NAME_LENGTH,
        max_stream_description_length: MAX_STREAM_DESCRIPTION_LENGTH,
        max_channel_folder_name_length: MAX_CHANNEL_FOLDER_NAME_LENGTH,
        max_channel_folder_description_length: MAX_CHANNEL_FOLDER_DESCRIPTION_LENGTH,
        max_reminder_note_length: MAX_REMINDER_NOTE_LENGTH,
        max_bulk_new_subscription_messages: MAX_BULK_NEW_SUBSCRIPTION_MESSAGES,
        max_avatar_file_size_mib: MAX_AVATAR_FILE_SIZE_MIB,
        max_icon_file_size_mib: MAX_ICON_FILE_SIZE_MIB,
        max_logo_file_size_mib: MAX_LOGO_FILE_SIZE_MIB,
        max_file_upload_size_mib: options.max_file_upload_size_mib.unwrap_or(MAX_FILE_UPLOAD_SIZE_MIB),
        password_min_length: passwords::MIN_LENGTH,
        password_max_length: passwords::MAX_LENGTH,
        password_min_guesses: 0,
        server_presence_ping_interval_seconds: PRESENCE_PING_INTERVAL_SECONDS,
        server_presence_offline_threshold_seconds: PRESENCE_OFFLINE_THRESHOLD_SECONDS,
        server_typing_started_expiry_period_milliseconds: TYPING_STARTED_EXPIRY_PERIOD_MILLISECONDS,
        server_typing_stopped_wait_period_milliseconds: TYPING_STOPPED_WAIT_PERIOD_MILLISECONDS,
        server_typing_started_wait_period_milliseconds: TYPING_STARTED_WAIT_PERIOD_MILLISECONDS,
        event_queue_longpoll_timeout_seconds: EVENT_QUEUE_LONGPOLL_TIMEOUT_SECONDS,
        server_generation: request.app.started_at,
        realm_plan_type: 1,
        server_inline_image_preview: true,
        server_inline_url_embed_preview: false,
        zulip_plan_is_not_limited: true,
        settings_send_digest_emails: options.mail.is_some(),
        realm_push_notifications_enabled: options.push_bouncer.is_some(),
        realm_push_notifications_enabled_end_timestamp: None,
        server_web_public_streams_enabled: true,
        server_can_summarize_topics: false,
        server_avatar_changes_disabled: false,
        server_name_changes_disabled: false,
        server_needs_upgrade: false,
        development_environment: false,
        realm_is_zephyr_mirror_realm: false,
        server_emoji_data_url: format!("{}{EMOJI_DATA_PATH}?v={:x}", request.info.origin, *TABLE_CHECKSUM),
        server_supported_permission_settings: permission_settings(),
        server_thumbnail_formats: thumbnails::FORMATS,
        server_jitsi_server_url: None,
        server_min_deactivated_realm_deletion_days: None,
        server_max_deactivated_realm_deletion_days: None,
        realm_upload_quota_mib: options.upload_quota_mib,
        upgrade_text_for_wide_organization_logo: "",
        realm_default_external_accounts: external_accounts::by_subtype(),
        realm_available_video_chat_providers: CALL_PROVIDERS,
        giphy_rating_options: RATINGS_OF_ANIMATIONS,
    })
}

/// Returns the groups that settings pages may offer for each permission.
fn permission_settings() -> PermissionSettings {
    PermissionSettings {
        realm: RealmGroup::ALL.iter().map(|setting| (setting.name(), setting.permission())).collect(),
        stream: StreamSetting::ALL.iter().map(|setting| (setting.name(), setting.permission())).collect(),
        group: UserGroupSetting::ALL.iter().map(|setting| (setting.name(), setting.permission())).collect(),
    }
}

/// The providers of video calls, in the order in which clients offer them. Clients create links to Jitsi without the
/// server.
#[derive(Serialize)]
struct VideoChatProviders {
    disabled: Choice,
    jitsi_meet: Choice,
}

const CALL_PROVIDERS: VideoChatProviders = VideoChatProviders {
    disabled: Choice { name: "None", id: 0 },
    jitsi_meet: Choice { name: "Jitsi Meet", id: 1 },
};

/// The ratings of animations, in the order in which clients offer them.
#[derive(Serialize)]
struct GiphyRatings {
    disabled: Choice,
    y: Choice,
    g: Choice,
    pg: Choice,
    #[serde(rename = "pg-13")]
    pg_13: Choice,
    r: Choice,
}

const RATINGS_OF_ANIMATIONS: GiphyRatings = GiphyRatings {
    disabled: Choice { name: "GIPHY integration disabled", id: 0 },
    y: Choice { name: "Allow GIFs rated Y (Very young audience)", id: 1 },
    g: Choice { name: "Allow GIFs rated G (General audience)", id: 2 },
    pg: Choice { name: "Allow GIFs rated PG (Parental guidance)", id: 3 },
    pg_13: Choice { name: "Allow GIFs rated PG-13 (Parental guidance - under 13)", id: 4 },
    r: Choice { name: "Allow GIFs rated R (Restricted)", id: 5 },
};

/// The plan of the organization. This server has no plans.
#[derive(Serialize)]
struct Billing {
    /// Always false.
    has_pending_sponsorship_request: bool,
}

/// State part `realm_billing`: the server has no billing.
fn billing(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.set::<Billing>("realm_billing", &Billing { has_pending_sponsorship_request: false })
}

/// State part `video_calls`: always false, because the server has no Zoom integration.
fn video_calls(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.set::<bool>("has_zoom_token", &false)
}

/// State part `giphy`: always empty, because the server has no key for the service.
fn giphy(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.set::<str>("giphy_api_key", "")
}

/// State part `stop_words`: words that a search ignores. Always empty.
fn stop_words(_request: &StateRequest<'_>, state: &mut State) -> ApiResult<()> {
    state.set::<[&str; 0]>("stop_words", &[])
}
