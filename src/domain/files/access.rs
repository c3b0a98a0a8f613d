//! Access to uploaded files: of the uploader, and of everyone who may read a message that links to the file.

use crate::auth::Ctx;
use crate::domain::access::messages::MessageAccess;
use crate::domain::files::sql;
use crate::domain::files::sql::AttachmentRow;
use crate::error::{ApiError, ApiResult};
use percent_encoding::percent_decode_str;
use rusqlite::Connection;

/// Loads a file that the caller may load. The refusal must not reveal to a visitor that the file exists.
pub fn find(ctx: Ctx<'_>, path_id: &str) -> ApiResult<AttachmentRow> {
    let refuse = |error| if ctx.caller.is_visitor() { ApiError::not_logged_in() } else { error };
    let row = sql::by_path_id(&ctx, path_id)?.ok_or_else(|| refuse(does_not_exist()))?;
    if may_load(ctx, &row)? { Ok(row) } else { Err(refuse(not_authorized())) }
}

/// True if the caller may load a file.
pub fn may_load(ctx: Ctx<'_>, row: &AttachmentRow) -> ApiResult<bool> {
    let mut room = usize::MAX;
    may_load_within(&MessageAccess::new(ctx), row, &mut room)
}

/// True if the caller may load a file, where at most `room` of the messages that link to it count, the newest first. Takes the
/// number of these from `room`.
pub fn may_load_within(access: &MessageAccess<'_>, row: &AttachmentRow, room: &mut usize) -> ApiResult<bool> {
    if row.user_id == access.caller.user_id {
        return Ok(true);
    }
    let mut is_readable = false;
    sql::any_message_of(access.connection, row.id, |message_id, recipient_id| -> ApiResult<bool> {
        let Some(rest) = room.checked_sub(1) else { return Ok(true) };
        *room = rest;
        is_readable = access.can_read(recipient_id, message_id)?;
        Ok(is_readable)
    })?;
    Ok(is_readable)
}

/// The file of a link in a message, by the part after `/user_uploads/`.
pub fn by_address(connection: &Connection, path_id: &str) -> ApiResult<Option<AttachmentRow>> {
    // Clients may or may not percent-encode letters beyond ASCII.
    let Ok(path_id) = percent_decode_str(path_id).decode_utf8() else { return Ok(None) };
    Ok(sql::by_path_id(connection, &path_id)?)
}

/// The refusal of a file that does not exist. The address of a file is a path, so the status is that of unknown paths.
pub fn does_not_exist() -> ApiError {
    ApiError::new(404, "BAD_REQUEST", "This file does not exist or has been deleted.")
}

/// The refusal of a file that the caller may not load. It may reveal that the file exists: paths cannot be guessed.
fn not_authorized() -> ApiError {
    ApiError::new(403, "BAD_REQUEST", "You are not authorized to view this file.")
}
