//! Flags of a user on a message: those that are stored in rows. `read` is in sets of ids ([`super::read_set`]).

/// Bits of `user_message_flags.flags`; also in the schema, as conditions of indexes.
pub mod bit {
    /// Starred by the user.
    pub const STARRED: i64 = 1;
    /// Collapsed by the user.
    pub const COLLAPSED: i64 = 1 << 1;
    /// Mentions the user, by name or through a group.
    pub const MENTIONED: i64 = 1 << 2;
    /// Has one of the user's alert words.
    pub const HAS_ALERT_WORD: i64 = 1 << 3;
    /// Mentions everybody who took part in the topic, and the user had.
    pub const TOPIC_WILDCARD_MENTIONED: i64 = 1 << 4;
    /// Was sent before the user subscribed, and received when they marked it as unread.
    pub const HISTORICAL: i64 = 1 << 5;
    /// Every flag, to ask for users who have any.
    pub const ANY: i64 = i64::MAX;
}
