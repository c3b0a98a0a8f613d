//! Small types that every part of the server shares: identifiers, roles, topics, settings and the clock.
//!
//! They do not depend on HTTP, SQL statements or events.

mod bot_type;
pub mod charset;
mod clock;
mod digest;
mod email_visibility;
mod hourly;
mod id_map;
mod ids;
mod json_text;
mod language;
mod link_key;
mod mail_pattern;
mod names;
mod network;
mod origin;
mod pattern;
pub mod property;
mod role;
mod topic;
mod uploaded_file;
pub mod version;

pub use bot_type::BotType;
pub use clock::{
    Clock, JumpDetector, LAST_SECOND, SECONDS_PER_DAY, format_days, fractional_seconds, is_valid_until,
    timestamp, whole_seconds,
};
pub use digest::{Hashing, hex};
pub use email_visibility::EmailVisibility;
pub use hourly::Hourly;
pub use id_map::{IdMap, IdSet};
pub use ids::{ClientId, EventId, GroupId, MessageId, RecipientId, StreamId, TopicId, UserId};
pub use json_text::{
    JsonOrText, MAX_JSON_VALUES, check_values, has_more_values, members_of, nullable, write_json_text,
};
pub use language::{Language, Piece, fill, pieces};
pub use link_key::random_key;
pub use mail_pattern::MailPattern;
pub use names::{
    find_forbidden_in_name, fold, folded_skeleton, is_unprintable, is_unseen, nearest_name, skeleton,
    without_forbidden, without_marks,
};
pub use network::{Network, NetworkError, address_block, address_site, is_loopback, is_public};
pub use origin::{Author, Origin};
pub use pattern::pattern;
pub use property::{
    ChangedBy, Effect, Kind, LIMITS, OnWire, Property, Setting, SettingTable, SettingUpdate, SettingValue,
    Shape, Values,
};
pub use role::Role;
pub use topic::{EMPTY_TOPIC_DISPLAY_NAME, EmptyTopic, Topic, shown_topic};
pub use uploaded_file::UploadedFile;

/// Sorts a list, and removes duplicates.
pub fn distinct<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort_unstable();
    list.dedup();
    list
}

/// The default of members that are true unless they are given: `#[serde(default = "crate::types::default_true")]`.
pub fn default_true() -> bool {
    true
}
