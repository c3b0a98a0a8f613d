//! Flags of users on messages that are stored in rows. The flag `read` is stored in [`super::read_state`].

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
    /// Mentions the participants of the topic, and the user is one.
    pub const TOPIC_WILDCARD_MENTIONED: i64 = 1 << 4;
    /// The user received it late (see `receipts::historical`).
    pub const HISTORICAL: i64 = 1 << 5;
    /// Any flag.
    pub const ANY: i64 = i64::MAX;
}
