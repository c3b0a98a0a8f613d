//! `POST /user_groups/{user_group_id}/deactivate`.

use crate::domain::audit::{Action, Entry};
use crate::domain::groups::events::GroupUpdated;
use crate::domain::groups::rules::Manager;
use crate::domain::groups::setting::Owner;
use crate::domain::realm::user_ids::everyone;
use crate::domain::visibility::Scope;
use crate::domain::{groups, rows, visibility};
use crate::http::{ApiError, ApiResult, Reply, User};
use crate::store::Tx;
use crate::types::{GroupId, StreamId};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::{Value, json};

/// Parameters of `POST /user_groups/{user_group_id}/deactivate`.
#[derive(Deserialize)]
pub struct DeactivateParams {
    /// The group to deactivate. The caller must be able to manage it.
    user_group_id: GroupId,
}

/// `POST /user_groups/{user_group_id}/deactivate`: deactivates a group. A group that settings or other groups refer to
/// is refused. Members and settings stay.
pub fn deactivate(tx: &mut Tx<'_>, caller: &User, params: DeactivateParams) -> ApiResult<Reply> {
    let mut group = groups::rules::find_active(tx, params.user_group_id)?;
    Manager::new(tx.ctx(caller))?.require(&group, &[])?;
    let objections = objections(tx, group.id)?;
    if !objections.is_empty() {
        let msg = "Cannot deactivate user group in use.";
        let error = ApiError::new(400, "CANNOT_DEACTIVATE_GROUP_IN_USE", msg);
        return Err(error.with("objections", objections));
    }
    group.deactivated = true;
    tx.audit(Entry::new(Action::GroupDeactivated, group.id))?;
    visibility::with_events(tx, Scope::Groups, |tx| {
        groups::update(tx, &group)?;
        let audience = everyone(tx)?;
        tx.emit(GroupUpdated::deactivated(&group), audience);
        Ok(())
    })?;
    Ok(Reply::ok())
}

/// Returns the uses of a group: groups that include it, and settings of channels, groups and the organization. Archived
/// channels and deactivated groups do not count.
fn objections(connection: &Connection, group: GroupId) -> ApiResult<Vec<Value>> {
    let mut objections = Vec::new();
    let supergroups = groups::supergroups(connection, group)?;
    if !supergroups.is_empty() {
        objections.push(json!({ "type": "subgroup", "supergroup_ids": supergroups }));
    }
    let (mut of_channels, mut of_groups, mut of_realm) = (Vec::new(), Vec::new(), Vec::new());
    let used = groups::settings_that_use(connection, group)?;
    for uses in used.chunk_by(|one, other| one.0 == other.0) {
        let Some((owner, _)) = uses.first() else { continue };
        let settings: Vec<&str> = uses.iter().map(|(_, setting)| setting.as_str()).collect();
        match owner {
            Owner::Realm => of_realm.push(json!({ "type": "realm", "settings": settings })),
            Owner::Stream(id) => {
                let stream = rows::channel::by_id(connection, StreamId(*id))?;
                if stream.is_some_and(|stream| !stream.is_archived) {
                    of_channels.push(json!({ "type": "channel", "channel_id": id, "settings": settings }));
                }
            }
            Owner::Group(id) => {
                if groups::group(connection, GroupId(*id))?.is_some_and(|owner| !owner.deactivated) {
                    of_groups.push(json!({ "type": "user_group", "group_id": id, "settings": settings }));
                }
            }
        }
    }
    objections.extend(of_channels.into_iter().chain(of_groups).chain(of_realm));
    Ok(objections)
}
