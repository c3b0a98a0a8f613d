//! A folder as clients see it.

use crate::types::UserId;
use rusqlite::Row;
use serde::{Deserialize, Serialize};

/// A folder on the wire, in lists, events and the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChannelFolder {
    /// The id.
    pub id: i64,
    /// The name.
    pub name: String,
    /// Markdown.
    pub description: String,
    /// The description as HTML.
    pub rendered_description: String,
    /// UNIX seconds.
    pub date_created: i64,
    /// Who made it.
    pub creator_id: Option<UserId>,
    /// Folders are shown in ascending order.
    pub order: i64,
    /// An archived folder has no channels, and gets none.
    pub is_archived: bool,
}

/// The columns of [`ChannelFolder`], in order.
pub const COLUMNS: &str =
    "id, name, description, rendered_description, date_created, creator_id, position, is_archived";

impl ChannelFolder {
    /// Reads [`COLUMNS`].
    pub fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
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
