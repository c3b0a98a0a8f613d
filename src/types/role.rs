//! Organization-wide roles (spec, "Authentication", 3).

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize};
use std::str::FromStr;

/// The role of a user in the organization. On the wire and in SQL it is the number of the spec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "i64", into = "i64")]
pub enum Role {
    /// 100: may do everything. Only owners appoint and remove owners.
    Owner,
    /// 200: administers users, channels and the organization.
    Administrator,
    /// 300: a member with the permissions that the organization gives to moderators.
    Moderator,
    /// 400: the default role.
    #[default]
    Member,
    /// 600: sees only the channels that they are subscribed to.
    Guest,
}

impl Role {
    /// All roles, the most powerful first.
    pub const ALL: [Self; 5] = [Self::Owner, Self::Administrator, Self::Moderator, Self::Member, Self::Guest];

    /// The names of [`ALL`](Self::ALL), in the same order.
    pub const NAMES: [&'static str; 5] = [
        Self::Owner.name(),
        Self::Administrator.name(),
        Self::Moderator.name(),
        Self::Member.name(),
        Self::Guest.name(),
    ];

    /// The number of the spec.
    pub fn code(self) -> i64 {
        match self {
            Self::Owner => 100,
            Self::Administrator => 200,
            Self::Moderator => 300,
            Self::Member => 400,
            Self::Guest => 600,
        }
    }

    /// The role's name, as the command line and the fixtures of a test server spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner",
            Self::Administrator => "administrator",
            Self::Moderator => "moderator",
            Self::Member => "member",
            Self::Guest => "guest",
        }
    }

    /// True if the role includes the permissions of an administrator; owners have them too.
    pub fn is_administrator(self) -> bool {
        matches!(self, Self::Owner | Self::Administrator)
    }

    /// True if the role includes the permissions of a moderator.
    pub fn is_moderator(self) -> bool {
        matches!(self, Self::Owner | Self::Administrator | Self::Moderator)
    }
}

impl From<Role> for i64 {
    fn from(role: Role) -> Self {
        role.code()
    }
}

impl TryFrom<i64> for Role {
    type Error = &'static str;

    fn try_from(code: i64) -> Result<Self, Self::Error> {
        Self::ALL.into_iter().find(|role| role.code() == code).ok_or("Invalid {}")
    }
}

impl FromStr for Role {
    type Err = &'static str;

    /// Reads a [`name`](Self::name).
    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|role| role.name() == name).ok_or("not a role")
    }
}

impl ToSql for Role {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.code()))
    }
}

impl FromSql for Role {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let code = i64::column_result(value)?;
        Self::try_from(code).map_err(|_| FromSqlError::OutOfRange(code))
    }
}
