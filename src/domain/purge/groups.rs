//! Removing the user groups of accounts.

use crate::domain::groups::GroupRow;
use crate::domain::groups::events::GroupUpdated;
use crate::domain::groups::setting::Owner;
use crate::domain::purge::batch::{Batch, OTHERS};
use crate::domain::realm::user_ids::everyone;
use crate::domain::visibility::Scope;
use crate::domain::{groups, visibility};
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::{GroupId, UserId};
use rusqlite::Connection;

/// Deletes a batch of unused groups. Clients receive it as a deactivation, which they support.
pub fn remove(tx: &mut Tx<'_>, accounts: &[UserId], from: i64) -> ApiResult<Batch> {
    let mut batch = Batch::default();
    let found = created_by(tx, &serde_json::to_string(accounts)?, from)?;
    batch.next = found.last().map(|id| id.0);
    let mut unused = Vec::new();
    for id in found {
        let is_used =
            !groups::supergroups(tx, id)?.is_empty() || !groups::settings_that_use(tx, id)?.is_empty();
        match groups::group(tx, id)? {
            Some(group) if !is_used => unused.push(group),
            _ => batch.count("groups_in_use", 1),
        }
    }
    batch.count("groups", unused.len());
    visibility::with_events(tx, Scope::Groups, |tx| {
        for group in &unused {
            if !group.deactivated {
                let audience = everyone(tx)?;
                tx.emit(GroupUpdated::deactivated(group), audience);
            }
            delete(tx, group)?;
        }
        Ok(())
    })?;
    Ok(batch)
}

fn created_by(connection: &Connection, accounts: &str, after: i64) -> rusqlite::Result<Vec<GroupId>> {
    connection
        .prepare_cached(
            "SELECT id FROM user_group
             WHERE creator_id IN (SELECT value FROM json_each(?1)) AND id > ?2 AND kind = 'named'
             ORDER BY id LIMIT ?3",
        )?
        .query_map((accounts, after, OTHERS as i64), |row| row.get(0))?
        .collect()
}

fn delete(tx: &Tx<'_>, group: &GroupRow) -> ApiResult<()> {
    let values = groups::setting::all_of(tx, Owner::Group(group.id.0))?;
    for statement in [
        "DELETE FROM group_setting WHERE owner = 'group' AND owner_id = ?1",
        "DELETE FROM user_group_subgroup WHERE subgroup_id = ?1",
        "DELETE FROM name_skeleton WHERE kind = 'user_group' AND id = ?1",
    ] {
        tx.execute_cached(statement, [group.id])?;
    }
    for value in values.into_values() {
        if groups::is_anonymous(tx, value)? {
            groups::delete_anonymous(tx, value)?;
        }
    }
    // The rows of a group are the same for every kind.
    Ok(groups::delete_anonymous(tx, group.id)?)
}
