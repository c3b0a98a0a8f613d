//! Small types that every part of the server shares: identifiers, roles, topics, settings and the clock.
//!
//! They do not depend on HTTP, SQL statements or events.

mod bot_type;
mod clock;
mod email_visibility;
mod ids;
mod names;
mod network;
mod property;
mod role;
mod topic;
pub mod version;

pub use bot_type::BotType;
pub use clock::{Clock, JumpDetector};
pub use email_visibility::EmailVisibility;
pub use ids::{ClientId, EventId, GroupId, MessageId, RecipientId, StreamId, TopicId, UserId};
pub use names::{find_forbidden_in_name, fold, folded_skeleton, is_unprintable, is_unseen, skeleton};
pub use network::{Network, NetworkError, address_block, address_site, is_public};
pub use property::{Kind, Property, Setting, SettingTable, SettingUpdate, SettingValue, Shape, Values};
pub use role::Role;
pub use topic::{EMPTY_TOPIC_DISPLAY_NAME, EmptyTopic, Topic, shown_topic};

/// Sorts a list, and removes what is in it twice.
pub fn distinct<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort_unstable();
    list.dedup();
    list
}
