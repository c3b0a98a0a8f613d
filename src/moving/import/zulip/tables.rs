//! Rows of the published archive. Unknown columns are ignored; columns of settings are kept in `rest`.

use crate::moving::import::json;
use crate::types::{BotType, Role};
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

/// The largest id. Clients have ids of 31 bits, so this leaves 147 million for what comes after the import.
const MAX_ID: u32 = 2_000_000_000;

/// An id: positive, and at most two billion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u32);

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        match u32::try_from(number) {
            Ok(id @ 1..=MAX_ID) => Ok(Self(id)),
            _ => Err(D::Error::custom(format!("{number} is no id"))),
        }
    }
}

/// A time: UNIX seconds, as a number with a fraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub i64);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        json::time(f64::deserialize(deserializer)?).map(Self).map_err(D::Error::custom)
    }
}

/// `zerver_realm`.
#[derive(Deserialize)]
pub struct Realm {
    pub name: Option<String>,
    pub description: Option<String>,
    pub uuid: Option<String>,
    pub date_created: Time,
    #[serde(default)]
    pub deactivated: bool,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `zerver_userprofile`, also of placeholders.
#[derive(Deserialize)]
pub struct User {
    pub id: Id,
    pub email: String,
    pub delivery_email: String,
    #[serde(default)]
    pub full_name: String,
    #[serde(default = "member")]
    pub role: i64,
    #[serde(default = "crate::types::default_true")]
    pub is_active: bool,
    #[serde(default)]
    pub is_bot: bool,
    #[serde(default)]
    pub is_mirror_dummy: bool,
    pub bot_type: Option<i64>,
    pub bot_owner: Option<Id>,
    #[serde(default)]
    pub long_term_idle: bool,
    #[serde(default)]
    pub timezone: String,
    pub date_joined: Time,
    #[serde(default)]
    pub avatar_source: String,
    #[serde(default = "one")]
    pub avatar_version: i64,
    pub password: Option<String>,
    pub default_sending_stream: Option<Id>,
    pub default_events_register_stream: Option<Id>,
    #[serde(default)]
    pub default_all_public_streams: bool,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

impl User {
    /// The role, if it is one.
    pub fn role(&self) -> Option<Role> {
        Role::try_from(self.role).ok()
    }

    /// The kind of bot; generic if the archive does not say.
    pub fn bot_type(&self) -> Option<BotType> {
        let kind = self.bot_type.unwrap_or(1);
        self.is_bot.then(|| BotType::try_from(kind).unwrap_or(BotType::Generic))
    }
}

/// `zerver_userprofile_crossrealm`.
#[derive(Deserialize)]
pub struct SystemBot {
    pub id: Id,
    pub email: String,
    pub recipient_id: Option<Id>,
}

/// `zerver_usergroup`.
#[derive(Deserialize)]
pub struct Group {
    pub id: Id,
    /// The name, before 9.0.
    pub name: Option<String>,
}

/// `zerver_namedusergroup`.
#[derive(Deserialize)]
pub struct NamedGroup {
    pub usergroup_ptr: Option<Id>,
    pub id: Option<Id>,
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub date_created: Option<Time>,
    pub creator: Option<Id>,
    #[serde(default)]
    pub is_system_group: bool,
    #[serde(default)]
    pub deactivated: bool,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `zerver_usergroupmembership`.
#[derive(Deserialize)]
pub struct Member {
    pub user_group: Id,
    pub user_profile: Id,
}

/// `zerver_groupgroupmembership`.
#[derive(Deserialize)]
pub struct Subgroup {
    pub supergroup: Id,
    pub subgroup: Id,
}

/// `zerver_stream`.
#[derive(Deserialize)]
pub struct Stream {
    pub id: Id,
    #[serde(default)]
    pub name: String,
    pub date_created: Time,
    pub creator: Option<Id>,
    #[serde(default)]
    pub deactivated: bool,
    #[serde(default)]
    pub description: String,
    pub rendered_description: Option<String>,
    #[serde(default)]
    pub invite_only: bool,
    #[serde(default = "crate::types::default_true")]
    pub history_public_to_subscribers: bool,
    #[serde(default)]
    pub is_web_public: bool,
    pub message_retention_days: Option<i64>,
    pub folder: Option<Id>,
    #[serde(default = "one")]
    pub topics_policy: i64,
    #[serde(rename = "stream_post_policy")]
    pub post_policy: Option<i64>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// `zerver_channelfolder`.
#[derive(Deserialize)]
pub struct Folder {
    pub id: Id,
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub rendered_description: Option<String>,
    #[serde(default)]
    pub order: i64,
    pub date_created: Time,
    pub creator: Option<Id>,
    #[serde(default)]
    pub is_archived: bool,
}

/// `zerver_defaultstream`.
#[derive(Deserialize)]
pub struct DefaultStream {
    pub stream: Id,
}

/// `zerver_recipient`.
#[derive(Deserialize)]
pub struct Recipient {
    pub id: Id,
    pub r#type: i64,
    pub type_id: Id,
}

/// `zerver_huddle`.
#[derive(Deserialize)]
pub struct Huddle {
    pub id: Id,
}

/// `zerver_subscription`.
#[derive(Deserialize)]
pub struct Subscription {
    pub user_profile: Id,
    pub recipient: Id,
    #[serde(default = "crate::types::default_true")]
    pub active: bool,
    #[serde(default)]
    pub is_muted: bool,
    #[serde(default = "grey")]
    pub color: String,
    #[serde(default)]
    pub pin_to_top: bool,
    pub desktop_notifications: Option<bool>,
    pub audible_notifications: Option<bool>,
    pub push_notifications: Option<bool>,
    pub email_notifications: Option<bool>,
    pub wildcard_mentions_notify: Option<bool>,
}

/// `zerver_client`.
#[derive(Deserialize)]
pub struct Client {
    pub id: Id,
    pub name: String,
}

/// `zerver_reaction`.
#[derive(Deserialize)]
pub struct Reaction {
    pub user_profile: Id,
    pub message: Id,
    pub emoji_name: String,
    #[serde(deserialize_with = "text_or_number")]
    pub emoji_code: String,
    #[serde(rename = "reaction_type", default = "unicode_emoji")]
    pub kind: String,
}

/// `zerver_realmauditlog`.
#[derive(Deserialize)]
pub struct AuditEntry {
    pub event_type: i64,
    pub event_time: Time,
    pub modified_user: Option<Id>,
    pub modified_stream: Option<Id>,
}

/// `zerver_realmemoji`.
#[derive(Deserialize)]
pub struct Emoji {
    pub id: Id,
    pub author: Option<Id>,
    pub name: String,
    pub file_name: Option<String>,
    #[serde(default)]
    pub deactivated: bool,
}

/// `zerver_realmfilter`.
#[derive(Deserialize)]
pub struct Linkifier {
    pub id: Id,
    pub pattern: String,
    #[serde(default)]
    pub url_template: String,
    #[serde(default)]
    pub order: i64,
}

/// `zerver_realmplayground`.
#[derive(Deserialize)]
pub struct PlaygroundRow {
    pub id: Id,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub pygments_language: String,
    #[serde(default)]
    pub url_template: String,
    /// The address before the code, before 8.0.
    #[serde(default)]
    pub url_prefix: String,
}

/// `zerver_realmdomain`.
#[derive(Deserialize)]
pub struct Domain {
    pub domain: String,
    #[serde(default)]
    pub allow_subdomains: bool,
}

/// `zerver_usertopic`.
#[derive(Deserialize)]
pub struct UserTopic {
    pub user_profile: Id,
    pub stream: Id,
    #[serde(default)]
    pub topic_name: String,
    #[serde(default)]
    pub last_updated: Time,
    #[serde(default = "one")]
    pub visibility_policy: i64,
}

/// `zerver_muteduser`.
#[derive(Deserialize)]
pub struct MutedUserRow {
    pub user_profile: Id,
    pub muted_user: Id,
    pub date_muted: Time,
}

/// `zerver_alertword`.
#[derive(Deserialize)]
pub struct AlertWord {
    pub user_profile: Id,
    pub word: String,
}

/// `zerver_userstatus`.
#[derive(Deserialize)]
pub struct UserStatus {
    pub user_profile: Id,
    #[serde(default)]
    pub status_text: String,
    #[serde(default)]
    pub emoji_name: String,
    #[serde(default, deserialize_with = "text_or_number")]
    pub emoji_code: String,
    #[serde(default = "unicode_emoji")]
    pub reaction_type: String,
}

/// `zerver_userpresence`.
#[derive(Deserialize)]
pub struct Presence {
    pub user_profile: Id,
    #[serde(default)]
    pub last_update_id: i64,
    pub last_connected_time: Option<Time>,
    pub last_active_time: Option<Time>,
}

/// `zerver_savedsnippet`.
#[derive(Deserialize)]
pub struct Snippet {
    pub id: Option<Id>,
    pub user_profile: Id,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub content: String,
    pub date_created: Time,
}

/// `zerver_onboardingstep`.
#[derive(Deserialize)]
pub struct OnboardingStepRow {
    pub user: Id,
    pub onboarding_step: String,
    pub timestamp: Time,
}

/// `zerver_navigationview`.
#[derive(Deserialize)]
pub struct NavigationViewRow {
    pub user: Id,
    pub fragment: String,
    #[serde(default)]
    pub is_pinned: bool,
    pub name: Option<String>,
}

/// `zerver_customprofilefield`.
#[derive(Deserialize)]
pub struct ProfileFieldRow {
    pub id: Id,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub hint: String,
    #[serde(default)]
    pub order: i64,
    #[serde(default)]
    pub display_in_profile_summary: bool,
    #[serde(default)]
    pub required: bool,
    #[serde(default = "crate::types::default_true")]
    pub editable_by_user: bool,
    pub field_type: i64,
    #[serde(default)]
    pub field_data: String,
}

/// `zerver_customprofilefieldvalue`.
#[derive(Deserialize)]
pub struct ProfileValue {
    pub user_profile: Id,
    pub field: Id,
    pub value: String,
    pub rendered_value: Option<String>,
}

/// `zerver_service`.
#[derive(Deserialize)]
pub struct Service {
    #[serde(default)]
    pub name: String,
    pub user_profile: Id,
    #[serde(default)]
    pub base_url: String,
    #[serde(default = "one")]
    pub interface: i64,
}

/// `zerver_botconfigdata` and `zerver_botstoragedata`.
#[derive(Deserialize)]
pub struct BotData {
    pub bot_profile: Id,
    #[serde(default)]
    pub key: String,
    #[serde(default)]
    pub value: String,
}

/// `zerver_scheduledmessage`.
#[derive(Deserialize)]
pub struct ScheduledMessage {
    pub id: Id,
    pub sender: Id,
    pub recipient: Id,
    #[serde(default)]
    pub subject: String,
    pub content: String,
    pub rendered_content: Option<String>,
    pub sending_client: Option<Id>,
    pub scheduled_timestamp: Time,
    #[serde(default)]
    pub read_by_sender: bool,
    #[serde(default)]
    pub delivered: bool,
    #[serde(default)]
    pub failed: bool,
    #[serde(default = "one")]
    pub delivery_type: i64,
    pub reminder_target_message_id: Option<Id>,
    #[serde(default)]
    pub reminder_note: Option<String>,
}

/// `zerver_message`.
#[derive(Deserialize)]
pub struct Message {
    pub id: Id,
    #[serde(default = "one")]
    pub r#type: i64,
    pub sender: Id,
    pub recipient: Id,
    #[serde(default)]
    pub subject: String,
    pub content: String,
    pub rendered_content: Option<String>,
    pub date_sent: Time,
    pub sending_client: Id,
    pub last_edit_time: Option<Time>,
    pub edit_history: Option<String>,
    pub has_link: Option<bool>,
    pub has_image: Option<bool>,
    pub has_attachment: Option<bool>,
}

/// An edit in the history of a message.
#[derive(Deserialize)]
pub struct Edit {
    pub user_id: Option<Id>,
    pub timestamp: Time,
    pub prev_content: Option<String>,
    pub prev_rendered_content: Option<String>,
    #[serde(alias = "prev_subject")]
    pub prev_topic: Option<String>,
    pub topic: Option<String>,
    pub prev_stream: Option<Id>,
    pub stream: Option<Id>,
}

/// `zerver_usermessage`.
#[derive(Deserialize)]
pub struct UserMessage {
    pub user_profile: Id,
    pub message: Id,
    pub flags_mask: i64,
}

/// `zerver_attachment`.
#[derive(Deserialize)]
pub struct Attachment {
    pub id: Id,
    #[serde(default)]
    pub file_name: String,
    pub path_id: String,
    pub owner: Id,
    pub create_time: Time,
    pub content_type: Option<String>,
    #[serde(default)]
    pub messages: Vec<Id>,
    #[serde(default)]
    pub scheduled_messages: Vec<Id>,
}

/// A row of `records.json`.
#[derive(Deserialize)]
pub struct FileRecord {
    pub path: String,
    pub s3_path: Option<String>,
    pub user_profile_id: Option<Id>,
    pub file_name: Option<String>,
}

fn one() -> i64 {
    1
}

fn member() -> i64 {
    400
}

/// The color of subscriptions that have none.
pub fn grey() -> String {
    "#c2c2c2".to_owned()
}

fn unicode_emoji() -> String {
    "unicode_emoji".to_owned()
}

/// Codes of custom emoji are ids, which some archives have as numbers.
fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(D::Error::custom("a code is a text")),
    }
}
