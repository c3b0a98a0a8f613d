//! Access without an account: the messages of web-public channels, in organizations that allow it.
//!
//! A visitor is a [`Caller`] without a row ([`Caller::VISITOR`]), so that rows are loaded through visitors as through
//! users. Their only right is [`may_read`]. What they may not read is refused like what does not exist.

use crate::auth::Caller;
use crate::domain::realm;
use crate::domain::realm::settings::ENABLE_SPECTATOR_ACCESS;
use crate::domain::rows::channel::StreamRow;
use crate::error::{ApiError, ApiResult};
use rusqlite::Connection;

/// True if visitors may read a channel: it is web-public and in use, and the organization allows it.
pub fn may_read(connection: &Connection, stream: &StreamRow) -> ApiResult<bool> {
    Ok(stream.is_web_public && !stream.is_archived && is_allowed(connection)?)
}

/// True if there is anything that visitors may read (`realm_web_public_access_enabled`).
pub fn are_admitted(connection: &Connection) -> ApiResult<bool> {
    let statement = "SELECT EXISTS (SELECT 1 FROM stream WHERE is_web_public AND NOT is_archived)";
    let has_channel = || connection.prepare_cached(statement)?.query_row([], |row| row.get(0));
    Ok(is_allowed(connection)? && has_channel()?)
}

/// Refuses a visitor while there is nothing that visitors may read.
pub fn check(connection: &Connection, caller: &Caller) -> ApiResult<()> {
    if !caller.is_visitor() || are_admitted(connection)? { Ok(()) } else { Err(ApiError::not_logged_in()) }
}

/// The setting of the organization, which closes to visitors when it is deactivated.
fn is_allowed(connection: &Connection) -> ApiResult<bool> {
    Ok(ENABLE_SPECTATOR_ACCESS.get(connection)? && !realm::is_deactivated(connection)?)
}
