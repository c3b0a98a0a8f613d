//! Sets of user ids by role and state of the account.

use crate::events::Audience;
use crate::types::{Role, UserId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, Params};

/// The ids of all active users.
pub fn active_ids(connection: &Connection) -> rusqlite::Result<RoaringBitmap> {
    set(connection, "SELECT user_id FROM user WHERE is_active AND NOT is_system_bot", ())
}

/// The audience of events that concern all active users.
pub fn everyone(connection: &Connection) -> rusqlite::Result<Audience> {
    Ok(Audience::set(active_ids(connection)?))
}

/// The ids of all users, deactivated ones too, except the server's own bots.
pub fn all_ids(connection: &Connection) -> rusqlite::Result<RoaringBitmap> {
    set(connection, "SELECT user_id FROM user WHERE NOT is_system_bot", ())
}

/// The ids of the active guests.
pub fn guest_ids(connection: &Connection) -> rusqlite::Result<RoaringBitmap> {
    set(connection, "SELECT user_id FROM user WHERE is_active AND role = ?1", [Role::Guest])
}

/// The ids of all active users except guests.
pub fn member_ids(connection: &Connection) -> rusqlite::Result<RoaringBitmap> {
    Ok(active_ids(connection)? - guest_ids(connection)?)
}

/// The ids of all bots.
pub fn bot_ids(connection: &Connection) -> rusqlite::Result<RoaringBitmap> {
    set(connection, "SELECT user_id FROM user WHERE bot_type IS NOT NULL", ())
}

/// Collects the ids that a query of one column returns.
pub fn set(connection: &Connection, sql: &str, params: impl Params) -> rusqlite::Result<RoaringBitmap> {
    let mut statement = connection.prepare_cached(sql)?;
    let ids = statement.query_map(params, |row| row.get::<_, UserId>(0))?;
    ids.filter_map(|id| id.map(UserId::bit).transpose()).collect()
}

/// The ids of the active owners.
pub fn owner_ids(connection: &Connection) -> rusqlite::Result<RoaringBitmap> {
    set(connection, "SELECT user_id FROM user WHERE is_active AND role = ?1", [Role::Owner])
}

/// The ids of the active administrators and owners.
pub fn administrator_ids(connection: &Connection) -> rusqlite::Result<RoaringBitmap> {
    set(connection, "SELECT user_id FROM user WHERE is_active AND role <= ?1", [Role::Administrator])
}
