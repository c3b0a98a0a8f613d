//! Who may load an uploaded file: its uploader, and whoever may read a message that links to it.

use crate::domain::access::channel_rows as channels;
use crate::domain::files::sql;
use crate::domain::files::sql::AttachmentRow;
use crate::domain::messages::access::Sight;
use crate::domain::messages::sql as messages;
use crate::http::{ApiError, ApiResult, Caller, User};
use percent_encoding::percent_decode_str;
use rusqlite::Connection;

/// Finds a file for somebody who wants to load it; `None` stands for somebody without an account.
pub fn find(
    connection: &Connection,
    viewer: Option<&User>,
    now: i64,
    path_id: &str,
) -> ApiResult<AttachmentRow> {
    let row = sql::by_path_id(connection, path_id)?;
    let Some(viewer) = viewer else {
        // Somebody without an account is told the same of all files but those that everybody may see.
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
    let sight = Sight::new(connection, caller, now);
    sql::any_message_of(connection, row.id, |message_id, recipient_id| {
        sight.visible(recipient_id, message_id)
    })
}

/// Whether a file is linked to where everybody may read.
fn is_web_public(connection: &Connection, row: &AttachmentRow) -> ApiResult<bool> {
    sql::any_message_of(connection, row.id, |_, recipient_id| {
        let Some(stream_id) = messages::stream_of(connection, recipient_id)? else { return Ok(false) };
        Ok(channels::by_id(connection, stream_id)?.is_some_and(|stream| stream.is_web_public))
    })
}

/// The file that an address in a message leads to, by what follows `/user_uploads/` in it.
pub fn by_address(connection: &Connection, path_id: &str) -> ApiResult<Option<AttachmentRow>> {
    // Some clients write letters beyond ASCII as they are, others do not.
    let Ok(path_id) = percent_decode_str(path_id).decode_utf8() else { return Ok(None) };
    Ok(sql::by_path_id(connection, &path_id)?)
}

/// The refusal of a file that is not there.
pub fn does_not_exist() -> ApiError {
    ApiError::no_such_resource("This file does not exist or has been deleted.")
}

/// The refusal of a file that is not for the caller. Its address cannot be guessed: who knows it was told.
fn not_authorized() -> ApiError {
    ApiError::new(403, "BAD_REQUEST", "You are not authorized to view this file.")
}
