//! The system groups: always there, their members follow from roles.

use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{GroupId, Role};
use rusqlite::Connection;
use serde::{Serialize, Serializer};

/// A system group. The chain from owners to everyone on the internet: each includes the one before it, and is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SystemGroup {
    /// The group without members.
    Nobody,
    /// Owners.
    Owners,
    /// Administrators and owners.
    Administrators,
    /// Moderators and up.
    Moderators,
    /// Members who have been here for the waiting period, and moderators and up.
    FullMembers,
    /// Everyone but guests.
    Members,
    /// Everyone with an account.
    Everyone,
    /// All users, and people without an account.
    Internet,
}

impl SystemGroup {
    /// All of them; their ids in a new file are their places here, from 1.
    pub const ALL: [Self; 8] = [
        Self::Nobody,
        Self::Owners,
        Self::Administrators,
        Self::Moderators,
        Self::FullMembers,
        Self::Members,
        Self::Everyone,
        Self::Internet,
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nobody => "role:nobody",
            Self::Owners => "role:owners",
            Self::Administrators => "role:administrators",
            Self::Moderators => "role:moderators",
            Self::FullMembers => "role:fullmembers",
            Self::Members => "role:members",
            Self::Everyone => "role:everyone",
            Self::Internet => "role:internet",
        }
    }

    /// The name shown in mentions of the group.
    pub fn display_name(self) -> &'static str {
        match self {
            Self::Nobody => "Nobody",
            Self::Owners => "Owners",
            Self::Administrators => "Administrators",
            Self::Moderators => "Moderators",
            Self::FullMembers => "Full members",
            Self::Members => "Members",
            Self::Everyone => "Everyone",
            Self::Internet => "Everyone on the internet",
        }
    }

    /// The description shown to users.
    fn description(self) -> &'static str {
        match self {
            Self::Nobody => "Nobody",
            Self::Owners => "Owners of this organization",
            Self::Administrators => "Administrators of this organization, including owners",
            Self::Moderators => "Moderators of this organization, including administrators",
            Self::FullMembers => "Members of this organization, not including new accounts and guests",
            Self::Members => "Members of this organization, not including guests",
            Self::Everyone => "Everyone in this organization, including guests",
            Self::Internet => "Everyone on the Internet",
        }
    }

    /// The group's id. Ids are given in [`SystemGroup::ALL`]'s order when a file is made.
    pub fn id(self) -> GroupId {
        let place = Self::ALL.iter().position(|group| *group == self).unwrap_or_default();
        GroupId(place as i64 + 1)
    }

    /// The system group with an id.
    pub fn with_id(id: GroupId) -> Option<Self> {
        let place = usize::try_from(id.0).ok()?.checked_sub(1)?;
        Self::ALL.get(place).copied()
    }

    /// The group that this one includes.
    fn includes(self) -> Option<Self> {
        match self {
            Self::Nobody | Self::Owners => None,
            Self::Administrators => Some(Self::Owners),
            Self::Moderators => Some(Self::Administrators),
            Self::FullMembers => Some(Self::Moderators),
            Self::Members => Some(Self::FullMembers),
            Self::Everyone => Some(Self::Members),
            Self::Internet => Some(Self::Everyone),
        }
    }

    /// The innermost group of the chain that a user belongs to.
    pub fn of(role: Role, is_new: bool) -> Self {
        match role {
            Role::Owner => Self::Owners,
            Role::Administrator => Self::Administrators,
            Role::Moderator => Self::Moderators,
            Role::Member if is_new => Self::Members,
            Role::Member => Self::FullMembers,
            Role::Guest => Self::Everyone,
        }
    }
}

impl Serialize for SystemGroup {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Creates the system groups of a new file.
pub fn set_up(tx: &mut Tx<'_>) -> ApiResult<()> {
    let exist = tx.query_row("SELECT EXISTS (SELECT 1 FROM user_group)", [], |row| row.get(0))?;
    if exist { Ok(()) } else { insert_rows(tx, tx.now()) }
}

/// Inserts the system groups and their inclusions.
pub fn insert_rows(connection: &Connection, now: i64) -> ApiResult<()> {
    let mut insert = connection.prepare(
        "INSERT INTO user_group (id, kind, name, name_key, description, date_created)
         VALUES (?1, 'system', ?2, ?2, ?3, ?4)",
    )?;
    for group in SystemGroup::ALL {
        insert.execute((group.id(), group.name(), group.description(), now))?;
    }
    let mut include =
        connection.prepare("INSERT INTO user_group_subgroup (group_id, subgroup_id) VALUES (?1, ?2)")?;
    for group in SystemGroup::ALL {
        if let Some(included) = group.includes() {
            include.execute((group.id(), included.id()))?;
        }
    }
    Ok(())
}
