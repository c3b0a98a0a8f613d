//! Statements on the server's key and on subscriptions.

use crate::api::web_push::encryption::BrowserKeys;
use crate::api::web_push::vapid::ServerKey;
use crate::auth::session::IDLE;
use crate::domain::limits::MAX_PUSH_SUBSCRIPTIONS;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension, Row};

/// Loads the server's key pair, if it was made.
pub fn load_key(connection: &Connection) -> ApiResult<Option<ServerKey>> {
    let stored: Option<Vec<u8>> = connection
        .prepare_cached("SELECT private_key FROM push_key")?
        .query_row([], |row| row.get(0))
        .optional()?;
    stored.map(|stored| ServerKey::read(&stored)).transpose()
}

/// Makes the server's key pair, unless there is one.
pub fn make_key(tx: &Tx<'_>) -> ApiResult<()> {
    tx.execute_cached(
        "INSERT OR IGNORE INTO push_key (id, private_key) VALUES (1, ?1)",
        [ServerKey::generate()?],
    )?;
    Ok(())
}

/// A browser's subscription.
#[derive(Clone, Debug)]
pub struct Subscription {
    /// The address at the push service.
    pub endpoint: String,
    /// The browser's keys.
    pub keys: BrowserKeys,
    /// True if notifications may have names and texts.
    pub shows_content: bool,
    /// Scheme and host of the page that subscribed.
    pub origin: String,
}

impl Subscription {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            endpoint: row.get(0)?,
            keys: BrowserKeys { public_key: row.get(1)?, auth_secret: row.get(2)? },
            shows_content: row.get(3)?,
            origin: row.get(4)?,
        })
    }
}

/// Loads the subscription of a session.
pub fn of_session(connection: &Connection, session_id: i64) -> rusqlite::Result<Option<Subscription>> {
    connection
        .prepare_cached(
            "SELECT endpoint, public_key, auth_secret, shows_content, origin FROM push_subscription
             WHERE session_id = ?1",
        )?
        .query_row([session_id], Subscription::read)
        .optional()
}

/// Loads a subscription and its user, if its session has not expired and the user is active.
pub fn live_subscription(
    connection: &Connection,
    id: i64,
    now: i64,
) -> rusqlite::Result<Option<(UserId, Subscription)>> {
    connection
        .prepare_cached(
            "SELECT endpoint, public_key, auth_secret, shows_content, origin, user_id FROM push_subscription
             JOIN session_use ON session_use.session_id = push_subscription.session_id
             JOIN user USING (user_id)
             WHERE push_subscription.id = ?1 AND last_used > ?2 AND is_active",
        )?
        .query_row((id, now - IDLE), |row| Ok((row.get(5)?, Subscription::read(row)?)))
        .optional()
}

/// True if a subscription has this address.
pub fn has_endpoint(connection: &Connection, id: i64, endpoint: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM push_subscription WHERE id = ?1 AND endpoint = ?2)")?
        .query_row((id, endpoint), |row| row.get(0))
}

/// Stores the subscription of a person's session in place of its former one. An endpoint belongs to one session: a browser has
/// the same one when another person logs in. Beyond [`MAX_PUSH_SUBSCRIPTIONS`] the person's oldest ends.
pub fn put(tx: &Tx<'_>, user_id: UserId, session_id: i64, subscription: &Subscription) -> ApiResult<()> {
    let Subscription { endpoint, keys, shows_content, origin } = subscription;
    tx.execute_cached(
        "DELETE FROM push_subscription WHERE endpoint = ?1 AND session_id <> ?2",
        (endpoint, session_id),
    )?;
    // The failures of a former address, and its wish to wait, are not those of a new one.
    let freed = tx
        .prepare_cached(
            "UPDATE push_notification SET failed_tries = 0, next_try = ?3
             WHERE next_try IS NOT NULL AND subscription_id IN (
                 SELECT id FROM push_subscription WHERE session_id = ?1 AND endpoint <> ?2)",
        )?
        .execute((session_id, endpoint, tx.now()))?;
    if freed > 0 {
        tx.wake_tasks_after_commit();
    }
    tx.execute_cached(
        "INSERT INTO push_subscription (user_id, session_id, endpoint, public_key, auth_secret, shows_content, origin)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
         ON CONFLICT (session_id) DO UPDATE SET endpoint = excluded.endpoint, public_key = excluded.public_key,
             auth_secret = excluded.auth_secret, shows_content = excluded.shows_content, origin = excluded.origin,
             failing_since = NULL",
        (user_id, session_id, endpoint, &keys.public_key, &keys.auth_secret, shows_content, origin),
    )?;
    tx.execute_cached(
        "DELETE FROM push_subscription WHERE id IN (
             SELECT id FROM push_subscription WHERE user_id = ?1 AND session_id <> ?2
             ORDER BY id DESC LIMIT -1 OFFSET ?3)",
        (user_id, session_id, MAX_PUSH_SUBSCRIPTIONS as i64 - 1),
    )?;
    Ok(())
}

/// Ends the subscription of a session, if it has one.
pub fn delete_of_session(tx: &Tx<'_>, session_id: i64) -> rusqlite::Result<()> {
    tx.execute_cached("DELETE FROM push_subscription WHERE session_id = ?1", [session_id])
}
