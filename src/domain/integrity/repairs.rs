//! Repairs: rows that follow from others are derived again.

use crate::domain::search::index;
use rusqlite::Connection;

/// Indexes the messages that are missing, and removes entries of messages that are not there.
pub(super) fn search_index(connection: &Connection, _now: i64) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM message_search WHERE rowid IN
             (SELECT id FROM message_search_docsize WHERE id NOT IN (SELECT id FROM message))",
        [],
    )?;
    index::add_missing(connection)
}

/// Has files without links expire from now on, and those with links stay.
pub(super) fn file_links(connection: &Connection, now: i64) -> rusqlite::Result<()> {
    let is_linked = "(id IN (SELECT attachment_id FROM attachment_message)
        OR id IN (SELECT attachment_id FROM attachment_scheduled_message))";
    connection.execute(&format!("UPDATE attachment SET unclaimed_since = NULL WHERE {is_linked}"), [])?;
    let sql = format!(
        "UPDATE attachment SET unclaimed_since = ?1 WHERE unclaimed_since IS NULL AND NOT {is_linked}"
    );
    connection.execute(&sql, [now]).map(|_| ())
}

/// Has contents without files removed, in pieces, by the server.
pub(super) fn orphaned_contents(connection: &Connection, _now: i64) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM upload_piece WHERE content_id NOT IN (SELECT content_id FROM upload_content)",
        [],
    )?;
    connection
        .execute(
            "UPDATE upload_content SET removed_from = 0
             WHERE removed_from IS NULL AND content_id NOT IN (SELECT content_id FROM attachment)",
            [],
        )
        .map(|_| ())
}

/// Counts the size of all files.
pub(super) fn space_used(connection: &Connection, _now: i64) -> rusqlite::Result<()> {
    connection
        .execute("UPDATE upload_state SET space_used = (SELECT coalesce(sum(size), 0) FROM attachment)", [])
        .map(|_| ())
}
