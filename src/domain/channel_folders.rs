//! Folders that channels are shown in: the record on the wire, and statements.

use crate::error::{ApiError, ApiResult};
use crate::store::ExecuteCached;
use crate::types::{UserId, fold};
use rusqlite::{Connection, OptionalExtension, Row};
use serde::{Deserialize, Serialize};

/// A folder that channels are shown in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelFolder {
    /// Identifies the folder.
    pub id: i64,
    /// Unique among the folders that are not archived, regardless of case.
    pub name: String,
    /// The description in Markdown; may be empty.
    pub description: String,
    /// The description as HTML.
    pub rendered_description: String,
    /// When the folder was created, in UNIX seconds.
    pub date_created: i64,
    /// The id of the user who created the folder; null if unknown.
    pub creator_id: Option<UserId>,
    /// The position: folders are shown in ascending order.
    pub order: i64,
    /// True if the folder is archived. Such a folder has no channels, and none can be put into it.
    pub is_archived: bool,
}

/// The columns of [`ChannelFolder`], in order.
const COLUMNS: &str =
    "id, name, description, rendered_description, date_created, creator_id, position, is_archived";

impl ChannelFolder {
    /// Reads [`COLUMNS`].
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            name: row.get(1)?,
            description: row.get(2)?,
            rendered_description: row.get(3)?,
            date_created: row.get(4)?,
            creator_id: row.get(5)?,
            order: row.get(6)?,
            is_archived: row.get(7)?,
        })
    }
}

/// Checks a folder that a client names. An archived one takes no channels.
pub fn check_usable(connection: &Connection, folder_id: Option<i64>) -> ApiResult<()> {
    match folder_id {
        Some(id) if load(connection, id)?.is_archived => {
            Err(ApiError::bad_request("Invalid channel folder ID"))
        }
        _ => Ok(()),
    }
}

/// All folders, as they are shown.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<ChannelFolder>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM channel_folder ORDER BY position, id"))?
        .query_map([], ChannelFolder::read)?
        .collect()
}

/// Loads a folder by id. Fails with 400 if there is none.
pub fn load(connection: &Connection, id: i64) -> ApiResult<ChannelFolder> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM channel_folder WHERE id = ?1"))?
        .query_row([id], ChannelFolder::read)
        .optional()?
        .ok_or_else(|| ApiError::bad_request("Invalid channel folder ID"))
}

/// True if another active folder has this name.
pub fn is_taken(connection: &Connection, name: &str, but: Option<i64>) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM channel_folder WHERE name_key = ?1 AND NOT is_archived AND id IS NOT ?2)",
        )?
        .query_row((fold(name), but), |row| row.get(0))
}

/// True if a folder contains channels, including archived ones.
pub fn has_channels(connection: &Connection, id: i64) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM stream WHERE folder_id = ?1)")?
        .query_row([id], |row| row.get(0))
}

/// Inserts a folder after all others, and returns its id. Its order is its id, which is larger than any order so far.
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
    connection.execute_cached(
        "UPDATE channel_folder SET name = ?2, name_key = ?3, description = ?4, rendered_description = ?5,
             is_archived = ?6
         WHERE id = ?1",
        (
            folder.id,
            &folder.name,
            fold(&folder.name),
            &folder.description,
            &folder.rendered_description,
            folder.is_archived,
        ),
    )
}

/// Puts a folder at a place.
pub fn set_position(connection: &Connection, id: i64, position: i64) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE channel_folder SET position = ?2 WHERE id = ?1", (id, position))
}
