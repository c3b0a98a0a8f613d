//! Who may load an uploaded file: its uploader, and everyone who may read a message that links to it.

use crate::domain::access::channel_rows as channels;
use crate::domain::access::messages::{MessageAccess, stream_of};
use crate::domain::files::sql;
use crate::domain::files::sql::AttachmentRow;
use crate::domain::realm::settings::ENABLE_SPECTATOR_ACCESS;
use crate::http::{ApiError, ApiResult, Caller, User};
use percent_encoding::percent_decode_str;
use rusqlite::Connection;

/// Loads a file that the viewer may load; `None` is a visitor without an account.
pub fn find(
    connection: &Connection,
    viewer: Option<&User>,
    now: i64,
    path_id: &str,
) -> ApiResult<AttachmentRow> {
    let row = sql::by_path_id(connection, path_id)?;
    let Some(viewer) = viewer else {
        // The refusal must not tell a visitor whether the file exists.
        return match row {
            Some(row) if is_web_public(connection, &row)? => Ok(row),
            _ => Err(ApiError::not_logged_in()),
        };
    };
    let row = row.ok_or_else(does_not_exist)?;
    if may_load(connection, viewer, now, &row)? { Ok(row) } else { Err(not_authorized()) }
}

/// Whether a user may load a file.
pub fn may_load(connection: &Connection, caller: &Caller, now: i64, row: &AttachmentRow) -> ApiResult<bool> {
    if row.user_id == caller.user_id {
        return Ok(true);
    }
    let access = MessageAccess::new(connection, caller, now);
    sql::any_message_of(connection, row.id, |message_id, recipient_id| {
        access.can_read(recipient_id, message_id)
    })
}

/// Whether a message that visitors may read links to a file: one in a web-public channel that is not archived, while the
/// organization lets them in.
fn is_web_public(connection: &Connection, row: &AttachmentRow) -> ApiResult<bool> {
    if !ENABLE_SPECTATOR_ACCESS.get(connection)? {
        return Ok(false);
    }
    sql::any_message_of(connection, row.id, |_, recipient_id| {
        let Some(stream_id) = stream_of(connection, recipient_id)? else { return Ok(false) };
        let stream = channels::by_id(connection, stream_id)?;
        Ok(stream.is_some_and(|stream| stream.is_web_public && !stream.is_archived))
    })
}

/// The file of a link in a message, by what follows `/user_uploads/` in it.
pub fn by_address(connection: &Connection, path_id: &str) -> ApiResult<Option<AttachmentRow>> {
    // Clients may or may not percent-encode letters beyond ASCII.
    let Ok(path_id) = percent_decode_str(path_id).decode_utf8() else { return Ok(None) };
    Ok(sql::by_path_id(connection, &path_id)?)
}

/// The refusal of a file that does not exist. The address of a file is a path, so the status is that of unknown paths.
pub fn does_not_exist() -> ApiError {
    ApiError::new(404, "BAD_REQUEST", "This file does not exist or has been deleted.")
}

/// The refusal of a file that the caller may not load. It may tell that the file exists: paths cannot be guessed.
fn not_authorized() -> ApiError {
    ApiError::new(403, "BAD_REQUEST", "You are not authorized to view this file.")
}
