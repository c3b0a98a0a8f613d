//! Visibility policies (spec, "States and transitions"; feature levels 170 and 219).

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// A user's policy for a topic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum VisibilityPolicy {
    /// Muted if the channel is. Has no row.
    #[default]
    Inherit,
    /// Muted, also in a channel that is not.
    Muted,
    /// Not muted, also in a muted channel.
    Unmuted,
    /// Not muted, and followed.
    Followed,
}

impl VisibilityPolicy {
    /// Reads the number on the wire.
    pub fn from_number(number: i64) -> Option<Self> {
        match number {
            0 => Some(Self::Inherit),
            1 => Some(Self::Muted),
            2 => Some(Self::Unmuted),
            3 => Some(Self::Followed),
            _ => None,
        }
    }

    /// The number on the wire and in the file.
    pub fn number(self) -> i64 {
        match self {
            Self::Inherit => 0,
            Self::Muted => 1,
            Self::Unmuted => 2,
            Self::Followed => 3,
        }
    }

    /// True if messages are muted, given the muting of the channel.
    pub fn mutes(self, is_channel_muted: bool) -> bool {
        match self {
            Self::Inherit => is_channel_muted,
            Self::Muted => true,
            Self::Unmuted | Self::Followed => false,
        }
    }

    /// The policy for two topics that are merged: the more visible one, so that the merge hides no messages.
    #[must_use]
    pub fn merged(self, other: Self) -> Self {
        let wish = |policy| match policy {
            Self::Followed => 3,
            Self::Unmuted => 2,
            Self::Inherit => 1,
            Self::Muted => 0,
        };
        if wish(self) >= wish(other) { self } else { other }
    }
}

impl Serialize for VisibilityPolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.number())
    }
}

impl<'de> Deserialize<'de> for VisibilityPolicy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = i64::deserialize(deserializer)?;
        Self::from_number(number).ok_or_else(|| de::Error::custom("no such visibility policy"))
    }
}

impl ToSql for VisibilityPolicy {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.number().into())
    }
}

impl FromSql for VisibilityPolicy {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let number = value.as_i64()?;
        Self::from_number(number).ok_or(FromSqlError::OutOfRange(number))
    }
}

#[cfg(test)]
mod tests {
    use crate::domain::user_topics::policy::VisibilityPolicy;
    use crate::domain::user_topics::policy::VisibilityPolicy::{Followed, Inherit, Muted, Unmuted};

    const ALL: [VisibilityPolicy; 4] = [Inherit, Muted, Unmuted, Followed];

    // conformance: topic-1
    #[test]
    fn numbers_are_those_of_the_interface() {
        assert_eq!(ALL.map(VisibilityPolicy::number), [0, 1, 2, 3]);
        assert_eq!([0, 1, 2, 3].map(VisibilityPolicy::from_number), ALL.map(Some));
        assert_eq!([-1, 4].map(VisibilityPolicy::from_number), [None; 2]);
    }

    // conformance: topic-2
    #[test]
    fn muting_follows_policies_and_channels() {
        for (policy, in_muted, in_other) in
            [(Inherit, true, false), (Muted, true, true), (Unmuted, false, false), (Followed, false, false)]
        {
            assert_eq!((policy.mutes(true), policy.mutes(false)), (in_muted, in_other), "{policy:?}");
        }
    }

    #[test]
    fn merged_topics_keep_the_most_visible_policy() {
        for one in ALL {
            for other in ALL {
                let merged = one.merged(other);
                assert_eq!(merged, other.merged(one));
                let expected = [Followed, Unmuted, Inherit, Muted]
                    .into_iter()
                    .find(|policy| *policy == one || *policy == other);
                assert_eq!(Some(merged), expected, "{one:?} and {other:?}");
            }
        }
    }
}
