//! Default channel groups: rows, and the `default_stream_groups` event.

use crate::domain::realm::user_ids;
use crate::error::ApiResult;
use crate::events::{Audience, uniform_event};
use crate::store::Tx;
use crate::types::StreamId;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// A default channel group: channels that new users can choose when they join.
#[derive(Serialize, Deserialize)]
pub struct GroupRecord {
    /// The name, unique among the groups.
    pub name: String,
    /// Identifies the group.
    pub id: i64,
    /// The description as plain text.
    pub description: String,
    /// The ids of its channels, ascending.
    pub streams: Vec<StreamId>,
}

/// `default_stream_groups`: a group changed. The event has all groups.
#[derive(Serialize, Deserialize)]
pub struct GroupsChanged {
    default_stream_groups: Vec<GroupRecord>,
}

uniform_event!(GroupsChanged: "default_stream_groups", version 1);

/// Removes an archived channel from all groups, and emits the groups if that changed any.
pub fn remove_from_all(tx: &mut Tx<'_>, stream_id: StreamId) -> ApiResult<()> {
    let statement = "DELETE FROM default_stream_group_stream WHERE stream_id = ?1";
    if tx.prepare_cached(statement)?.execute([stream_id])? > 0 {
        emit_changed(tx)?;
    }
    Ok(())
}

/// Emits the list of all groups to members.
pub fn emit_changed(tx: &mut Tx<'_>) -> ApiResult<()> {
    let event = GroupsChanged { default_stream_groups: list(tx)? };
    let members = user_ids::member_ids(tx)?;
    tx.emit(event, Audience::set(members));
    Ok(())
}

/// All groups, by name.
pub fn list(connection: &Connection) -> rusqlite::Result<Vec<GroupRecord>> {
    let mut streams = connection.prepare_cached(
        "SELECT stream_id FROM default_stream_group_stream WHERE group_id = ?1 ORDER BY stream_id",
    )?;
    connection
        .prepare_cached("SELECT name, id, description FROM default_stream_group ORDER BY name")?
        .query_map([], |row| {
            let id: i64 = row.get(1)?;
            let streams = streams.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?;
            Ok(GroupRecord { name: row.get(0)?, id, description: row.get(2)?, streams })
        })?
        .collect()
}

/// Removes a channel from a group. Returns whether it was in the group.
pub fn delete_stream(connection: &Connection, group_id: i64, stream_id: StreamId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("DELETE FROM default_stream_group_stream WHERE group_id = ?1 AND stream_id = ?2")?
        .execute((group_id, stream_id))
        .map(|rows| rows > 0)
}
