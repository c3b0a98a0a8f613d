//! Statements on uploaded files. Those on their contents are in [`super::blobs`].

use crate::domain::limits::{MAX_SHOWN_ATTACHMENTS, MAX_SHOWN_LINKING_MESSAGES};
use crate::store::ExecuteCached;
use crate::types::{MessageId, RecipientId, UserId};
use rusqlite::{Connection, OptionalExtension, Row};

const COLUMNS: &str =
    "id, user_id, path_id, name, content_type, size, create_time, content_id, width, height";

/// An uploaded file's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachmentRow {
    pub id: i64,
    /// The uploader.
    pub user_id: UserId,
    /// The part of the URL after `/user_uploads/`.
    pub path_id: String,
    /// The uploader's name of the file.
    pub name: String,
    /// Media type.
    pub content_type: String,
    /// Bytes.
    pub size: u64,
    /// UNIX seconds.
    pub create_time: i64,
    /// The content in [`super::blobs`].
    pub content_id: i64,
    /// Width and height in pixels, of an image that has thumbnails.
    pub dimensions: Option<(u32, u32)>,
}

impl AttachmentRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (width, height): (Option<u32>, Option<u32>) = (row.get(8)?, row.get(9)?);
        Ok(Self {
            id: row.get(0)?,
            user_id: row.get(1)?,
            path_id: row.get(2)?,
            name: row.get(3)?,
            content_type: row.get(4)?,
            size: row.get::<_, i64>(5)? as u64,
            create_time: row.get(6)?,
            content_id: row.get(7)?,
            dimensions: width.zip(height),
        })
    }
}

/// Inserts the row of `upload_state` unless it exists.
pub fn set_up(connection: &Connection, secret: [u8; 32]) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT OR IGNORE INTO upload_state (id, space_used, secret) VALUES (1, 0, ?1)",
        [secret],
    )
}

/// The size of all files, in bytes.
pub fn space_used(connection: &Connection) -> rusqlite::Result<u64> {
    connection
        .prepare_cached("SELECT space_used FROM upload_state")?
        .query_row([], |row| Ok(row.get::<_, i64>(0)? as u64))
}

/// Schedules the deletion of a user's files without links.
pub fn expire_unclaimed_of(connection: &Connection, user_id: UserId) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE attachment SET unclaimed_since = 0 WHERE user_id = ?1 AND unclaimed_since IS NOT NULL",
        [user_id],
    )
}

/// The key that signs temporary URLs.
pub fn secret(connection: &Connection) -> rusqlite::Result<Vec<u8>> {
    connection.prepare_cached("SELECT secret FROM upload_state")?.query_row([], |row| row.get(0))
}

/// The organization's id, the first part of every path id.
pub fn realm_id(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT id FROM realm")?.query_row([], |row| row.get(0))
}

/// Inserts a file, ignoring its `id`, and adds its size to the used space. Returns the id.
pub fn insert(connection: &Connection, file: &AttachmentRow) -> rusqlite::Result<i64> {
    let (width, height) = file.dimensions.unzip();
    let id = connection
        .prepare_cached(
            "INSERT INTO attachment (user_id, path_id, name, content_type, size, create_time, content_id,
                 width, height, unclaimed_since)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?6)",
        )?
        .insert((
            file.user_id,
            &file.path_id,
            &file.name,
            &file.content_type,
            file.size as i64,
            file.create_time,
            file.content_id,
            width,
            height,
        ))?;
    connection.execute_cached("UPDATE upload_state SET space_used = space_used + ?1", [file.size as i64])?;
    Ok(id)
}

/// Sets the user to whom a file belongs.
pub fn set_user(connection: &Connection, id: i64, user_id: UserId) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE attachment SET user_id = ?2 WHERE id = ?1", (id, user_id))
}

/// Removes a file's row with its thumbnails and claims, and gives its room back. Its content is removed apart.
pub fn delete(connection: &Connection, file: &AttachmentRow) -> rusqlite::Result<()> {
    for statement in [
        "DELETE FROM thumbnail WHERE attachment_id = ?1",
        "DELETE FROM attachment_message WHERE attachment_id = ?1",
        "DELETE FROM attachment_scheduled_message WHERE attachment_id = ?1",
        "DELETE FROM attachment WHERE id = ?1",
    ] {
        connection.execute_cached(statement, [file.id])?;
    }
    connection.execute_cached("UPDATE upload_state SET space_used = space_used - ?1", [file.size as i64])
}

/// A file by id.
pub fn by_id(connection: &Connection, id: i64) -> rusqlite::Result<Option<AttachmentRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM attachment WHERE id = ?1"))?
        .query_row([id], AttachmentRow::read)
        .optional()
}

/// The oldest files of a user.
pub fn first_of_user(
    connection: &Connection,
    user_id: UserId,
    limit: usize,
) -> rusqlite::Result<Vec<AttachmentRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM attachment WHERE user_id = ?1 ORDER BY id LIMIT ?2"))?
        .query_map((user_id, limit as i64), AttachmentRow::read)?
        .collect()
}

/// A file by its path.
pub fn by_path_id(connection: &Connection, path_id: &str) -> rusqlite::Result<Option<AttachmentRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM attachment WHERE path_id = ?1"))?
        .query_row([path_id], AttachmentRow::read)
        .optional()
}

/// A user's newest files, ascending.
pub fn of_user(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<AttachmentRow>> {
    let statement = format!(
        "SELECT {COLUMNS} FROM attachment WHERE user_id = ?1 ORDER BY id DESC LIMIT {MAX_SHOWN_ATTACHMENTS}"
    );
    let mut files: Vec<_> = connection
        .prepare_cached(&statement)?
        .query_map([user_id], AttachmentRow::read)?
        .collect::<Result<_, _>>()?;
    files.reverse();
    Ok(files)
}

/// The newest messages that link to a file, ascending, with their times in UNIX seconds.
pub fn messages_of(connection: &Connection, id: i64) -> rusqlite::Result<Vec<(MessageId, i64)>> {
    let mut messages: Vec<_> = connection
        .prepare_cached(
            "SELECT message.id, timestamp FROM attachment_message JOIN message ON message.id = message_id
             WHERE attachment_id = ?1 ORDER BY message_id DESC LIMIT ?2",
        )?
        .query_map((id, MAX_SHOWN_LINKING_MESSAGES), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    messages.reverse();
    Ok(messages)
}

/// True if `wanted` returns true for one of the messages that link to a file, which are checked newest first.
pub fn any_message_of<E: From<rusqlite::Error>>(
    connection: &Connection,
    id: i64,
    mut wanted: impl FnMut(MessageId, RecipientId) -> Result<bool, E>,
) -> Result<bool, E> {
    let mut statement = connection.prepare_cached(
        "SELECT message.id, recipient_id FROM attachment_message JOIN message ON message.id = message_id
         WHERE attachment_id = ?1 ORDER BY message_id DESC",
    )?;
    let mut rows = statement.query([id])?;
    while let Some(row) = rows.next()? {
        if wanted(row.get(0)?, row.get(1)?)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The files that a message links to.
pub fn of_message(connection: &Connection, id: MessageId) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare_cached("SELECT attachment_id FROM attachment_message WHERE message_id = ?1")?
        .query_map([id], |row| row.get(0))?
        .collect()
}

/// The files that a scheduled message links to.
pub fn of_scheduled_message(connection: &Connection, id: i64) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare_cached(
            "SELECT attachment_id FROM attachment_scheduled_message WHERE scheduled_message_id = ?1",
        )?
        .query_map([id], |row| row.get(0))?
        .collect()
}

/// Inserts a reference from a message to a file.
pub fn claim(connection: &Connection, id: i64, message_id: MessageId) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT OR IGNORE INTO attachment_message (attachment_id, message_id) VALUES (?1, ?2)",
        (id, message_id),
    )?;
    set_unclaimed_since(connection, id, None)
}

/// Inserts a reference from a scheduled message to a file.
pub fn claim_for_scheduled(connection: &Connection, id: i64, scheduled: i64) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT OR IGNORE INTO attachment_scheduled_message (attachment_id, scheduled_message_id)
         VALUES (?1, ?2)",
        (id, scheduled),
    )?;
    set_unclaimed_since(connection, id, None)
}

/// Deletes the reference from a message to a file.
pub fn release(connection: &Connection, id: i64, message_id: MessageId) -> rusqlite::Result<()> {
    connection.execute_cached(
        "DELETE FROM attachment_message WHERE attachment_id = ?1 AND message_id = ?2",
        (id, message_id),
    )
}

/// Deletes the references of a scheduled message.
pub fn release_scheduled(connection: &Connection, scheduled: i64) -> rusqlite::Result<()> {
    connection.execute_cached(
        "DELETE FROM attachment_scheduled_message WHERE scheduled_message_id = ?1",
        [scheduled],
    )
}

/// True if any sent or scheduled message references a file.
pub fn is_claimed(connection: &Connection, id: i64) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM attachment_message WHERE attachment_id = ?1)
                 OR EXISTS (SELECT 1 FROM attachment_scheduled_message WHERE attachment_id = ?1)",
        )?
        .query_row([id], |row| row.get(0))
}

/// Sets the time since which no message references a file; `None` if one does.
pub fn set_unclaimed_since(connection: &Connection, id: i64, since: Option<i64>) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE attachment SET unclaimed_since = ?2 WHERE id = ?1", (id, since))
}

/// The file that has had no references for the longest time, and since when, in UNIX seconds.
pub fn longest_unclaimed(connection: &Connection) -> rusqlite::Result<Option<(AttachmentRow, i64)>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS}, unclaimed_since FROM attachment WHERE unclaimed_since IS NOT NULL
             ORDER BY unclaimed_since LIMIT 1"
        ))?
        .query_row([], |row| Ok((AttachmentRow::read(row)?, row.get(10)?)))
        .optional()
}

/// Stores a thumbnail.
pub fn insert_thumbnail(
    connection: &Connection,
    id: i64,
    format: &str,
    bytes: &[u8],
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO thumbnail (attachment_id, format, bytes) VALUES (?1, ?2, ?3)",
        (id, format, bytes),
    )
}

/// The bytes of a file's thumbnail in a format such as `840x560.webp`; `None` if it was not made.
pub fn thumbnail(connection: &Connection, id: i64, format: &str) -> rusqlite::Result<Option<Vec<u8>>> {
    connection
        .prepare_cached("SELECT bytes FROM thumbnail WHERE attachment_id = ?1 AND format = ?2")?
        .query_row((id, format), |row| row.get(0))
        .optional()
}
