//! Every statement about channel folders.

use crate::domain::channels::folder::{COLUMNS, ChannelFolder};
use crate::http::{ApiError, ApiResult};
use crate::types::fold;
use rusqlite::{Connection, OptionalExtension};

/// All folders, as they are shown.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<ChannelFolder>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM channel_folder ORDER BY position, id"))?
        .query_map([], ChannelFolder::read)?
        .collect()
}

/// A folder by id.
pub fn find(connection: &Connection, id: i64) -> ApiResult<ChannelFolder> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM channel_folder WHERE id = ?1"))?
        .query_row([id], ChannelFolder::read)
        .optional()?
        .ok_or_else(|| ApiError::bad_request("Invalid channel folder ID"))
}

/// Whether another folder in use has this name.
pub fn is_taken(connection: &Connection, name: &str, but: Option<i64>) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM channel_folder WHERE name_key = ?1 AND NOT is_archived AND id IS NOT ?2)",
        )?
        .query_row((fold(name), but), |row| row.get(0))
}

/// Whether any channel is in a folder, archived channels included.
pub fn has_channels(connection: &Connection, id: i64) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM stream WHERE folder_id = ?1)")?
        .query_row([id], |row| row.get(0))
}

/// Makes a folder, after all others, and answers its id. Its order is its id, which is larger than any order so far.
pub fn insert(connection: &Connection, folder: &ChannelFolder) -> rusqlite::Result<i64> {
    let id = connection
        .prepare_cached(
            "INSERT INTO channel_folder (name, name_key, description, rendered_description, date_created, creator_id,
                 position)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0)",
        )?
        .insert((
            &folder.name,
            fold(&folder.name),
            &folder.description,
            &folder.rendered_description,
            folder.date_created,
            folder.creator_id,
        ))?;
    set_position(connection, id, id)?;
    Ok(id)
}

/// Changes a folder's name, description, or whether it is archived.
pub fn update(connection: &Connection, folder: &ChannelFolder) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE channel_folder SET name = ?2, name_key = ?3, description = ?4, rendered_description = ?5,
                 is_archived = ?6
             WHERE id = ?1",
        )?
        .execute((
            folder.id,
            &folder.name,
            fold(&folder.name),
            &folder.description,
            &folder.rendered_description,
            folder.is_archived,
        ))
        .map(|_| ())
}

/// Puts a folder at a place.
pub fn set_position(connection: &Connection, id: i64, position: i64) -> rusqlite::Result<()> {
    let statement = "UPDATE channel_folder SET position = ?2 WHERE id = ?1";
    connection.prepare_cached(statement)?.execute((id, position)).map(|_| ())
}
