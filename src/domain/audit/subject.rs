//! The objects of changes.

use crate::types::{GroupId, MessageId, StreamId, UserId};

/// The object of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub(super) kind: &'static str,
    pub(super) id: Option<i64>,
    pub(super) name: Option<String>,
}

impl Subject {
    /// The organization itself.
    pub const ORGANIZATION: Self = Self { kind: "organization", id: None, name: None };

    /// No account: a failed login with an unknown email, which is not stored because it may be a password.
    pub const UNKNOWN: Self = Self { kind: "unknown", id: None, name: None };

    /// The database file.
    pub const DATABASE: Self = Self { kind: "database", id: None, name: None };

    /// A setting of the organization.
    pub fn setting(name: &str) -> Self {
        Self::named("setting", name)
    }

    /// An object without an id.
    pub fn named(kind: &'static str, name: impl Into<String>) -> Self {
        Self { kind, id: None, name: Some(name.into()) }
    }

    /// The same object with a name.
    #[must_use]
    pub fn with_name(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    /// An object with an id.
    pub fn with_id(kind: &'static str, id: i64) -> Self {
        Self { kind, id: Some(id), name: None }
    }
}

impl From<UserId> for Subject {
    fn from(user_id: UserId) -> Self {
        Self::with_id("user", user_id.0)
    }
}

impl From<StreamId> for Subject {
    fn from(stream_id: StreamId) -> Self {
        Self::with_id("channel", stream_id.0)
    }
}

impl From<GroupId> for Subject {
    fn from(group_id: GroupId) -> Self {
        Self::with_id("group", group_id.0)
    }
}

impl From<MessageId> for Subject {
    fn from(message_id: MessageId) -> Self {
        Self::with_id("message", message_id.0)
    }
}
