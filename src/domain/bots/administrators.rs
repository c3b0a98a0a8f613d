//! Administrators of bots, as sets: the receivers of their events.

use crate::domain::bots::rules::Administration;
use crate::domain::realm::user_ids;
use crate::domain::rows;
use crate::domain::rows::user::UserRow;
use crate::error::ApiResult;
use crate::types::{Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// The users who administer a bot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Administrators {
    /// They may have its key.
    pub full: RoaringBitmap,
    /// They may not: the administrators, of the bot of an owner.
    pub without_key: RoaringBitmap,
}

impl Administrators {
    /// Loads those of a bot.
    pub fn of(connection: &Connection, bot: &UserRow) -> ApiResult<Self> {
        let owner = rows::user::owner(connection, bot.bot_owner_id)?;
        let owner = owner.map(|owner| (owner.user_id, owner.role));
        Ok(RealmAdministrators::load(connection)?.of_bot(owner))
    }

    /// All of them.
    pub fn all(&self) -> RoaringBitmap {
        &self.full | &self.without_key
    }
}

/// The active owners and administrators of the organization.
#[derive(Clone, Debug, PartialEq)]
pub struct RealmAdministrators {
    owners: RoaringBitmap,
    /// Owners too.
    all: RoaringBitmap,
}

impl RealmAdministrators {
    /// Loads the active users who administer bots, by their roles.
    pub fn load(connection: &Connection) -> ApiResult<Self> {
        let (owners, all) = (user_ids::owner_ids(connection)?, user_ids::administrator_ids(connection)?);
        Ok(Self { owners, all })
    }

    /// Returns who they would be if a user had the role of a row.
    #[must_use]
    pub fn with_role_of(&self, user: &UserRow) -> Self {
        let mut changed = self.clone();
        if let Some(bit) = user.user_id.bit().filter(|_| user.is_active) {
            for (set, is_in) in [
                (&mut changed.owners, user.role == Role::Owner),
                (&mut changed.all, user.role.is_administrator()),
            ] {
                if is_in {
                    set.insert(bit);
                } else {
                    set.remove(bit);
                }
            }
        }
        changed
    }

    /// Administrators of a bot with this owner and role.
    pub fn of_bot(&self, owner: Option<(UserId, Role)>) -> Administrators {
        let owner_role = owner.map(|(_, role)| role);
        let mut full = match Administration::of(Role::Administrator, false, owner_role) {
            Administration::Full => self.all.clone(),
            _ => self.owners.clone(),
        };
        if let Some((user_id, role)) = owner
            && Administration::of(role, true, owner_role) == Administration::Full
        {
            full.extend(user_id.bit());
        }
        Administrators { without_key: &self.all - &full, full }
    }
}
