//! Links that end mail of a kind: `/accounts/unsubscribe/{type}/{key}`. They need no login, work repeatedly and never expire.
//!
//! | type | setting |
//! |---|---|
//! | `missed_messages` | `enable_offline_email_notifications` |
//! | `digest` | `enable_digest_emails` |
//! | `login` | `enable_login_emails` |

use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::{UserId, random_key};
use rusqlite::{Connection, OptionalExtension};

/// The link of a user, below the base of links.
pub fn link(tx: &Tx<'_>, url: &str, user_id: UserId, kind: &str) -> ApiResult<String> {
    Ok(format!("{url}/accounts/unsubscribe/{kind}/{}", key(tx, user_id)?))
}

/// The key of a user, which is made when it is first needed.
pub fn key(tx: &Tx<'_>, user_id: UserId) -> ApiResult<String> {
    tx.execute_cached(
        "INSERT OR IGNORE INTO unsubscribe_key (user_id, key) VALUES (?1, ?2)",
        (user_id, random_key()),
    )?;
    let mut statement = tx.prepare_cached("SELECT key FROM unsubscribe_key WHERE user_id = ?1")?;
    Ok(statement.query_row([user_id], |row| row.get(0))?)
}

/// Forgets the key of a user, whose account is deleted.
pub fn forget(tx: &Tx<'_>, user_id: UserId) -> rusqlite::Result<()> {
    tx.execute_cached("DELETE FROM unsubscribe_key WHERE user_id = ?1", [user_id])
}

/// The user of a key; `None` if there is none.
pub fn find(connection: &Connection, key: &str) -> ApiResult<Option<UserId>> {
    let mut statement = connection.prepare_cached("SELECT user_id FROM unsubscribe_key WHERE key = ?1")?;
    Ok(statement.query_row([key], |row| row.get(0)).optional()?)
}

/// The setting that a type of links turns off; `None` if there is no such type.
pub fn setting(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "missed_messages" => "enable_offline_email_notifications",
        "digest" => "enable_digest_emails",
        "login" => "enable_login_emails",
        _ => return None,
    })
}
