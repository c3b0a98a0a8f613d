//! Identifiers, each kind a type of its own, so that a channel's id cannot be passed as a user's.

use roaring::RoaringBitmap;
use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Defines an identifier: an integer on the wire and in SQL, a type of its own in Rust.
macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl $name {
            /// The number as a member of a compressed set; `None` if it is out of range, so that no row has it.
            pub fn bit(self) -> Option<u32> {
                u32::try_from(self.0).ok()
            }

            /// True if a compressed set has the number.
            pub fn is_in(self, set: &RoaringBitmap) -> bool {
                self.bit().is_some_and(|bit| set.contains(bit))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }

        impl From<u32> for $name {
            fn from(bit: u32) -> Self {
                Self(i64::from(bit))
            }
        }
    };
}

identifier! {
    /// A person or bot, `user_id` on the wire.
    UserId
}
identifier! {
    /// A channel, `stream_id` (and in newer fields `channel_id`) on the wire.
    StreamId
}
identifier! {
    /// A message. Later messages have greater ids; at most 2147483647.
    MessageId
}
identifier! {
    /// A topic of one channel. Internal: the wire names topics by text.
    TopicId
}
identifier! {
    /// A conversation, `recipient_id` on the wire: a channel, or the participants of direct messages.
    RecipientId
}
identifier! {
    /// A user group, named or anonymous.
    GroupId
}
identifier! {
    /// The program that sent a request, by its name.
    ClientId
}
identifier! {
    /// An event: its number in the log, and its id in all queues.
    EventId
}
