//! Statements on phones.

use crate::api::web_push::bouncer::DeviceKind;
use crate::domain::limits::MAX_PUSH_DEVICES;
use crate::error::{ApiError, ApiResult};
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension, Row};

/// A phone that is registered for notifications.
#[derive(Clone, Debug)]
pub struct Device {
    /// Identifies the row.
    pub id: i64,
    /// The service that reaches it.
    pub kind: DeviceKind,
    /// The token of its app.
    pub token: String,
}

/// The columns of [`Device`], in order.
const COLUMNS: &str = "push_device.id, kind, token";

impl Device {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let kind =
            if row.get::<_, i64>(1)? == DeviceKind::Apns as i64 { DeviceKind::Apns } else { DeviceKind::Fcm };
        Ok(Self { id: row.get(0)?, kind, token: row.get(2)? })
    }
}

/// The phones of a user, in the order of their registration, without those that have ended.
pub fn of_user(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<Device>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM push_device WHERE user_id = ?1 AND api_key_id IS NOT NULL ORDER BY id"
        ))?
        .query_map([user_id], Device::read)?
        .collect()
}

/// Checks that a user may register phones: the bouncer is to forget only few of their earlier ones.
pub fn check_may_register(connection: &Connection, user_id: UserId) -> ApiResult<()> {
    let ended: i64 = connection
        .prepare_cached("SELECT count(*) FROM push_device WHERE user_id = ?1 AND api_key_id IS NULL")?
        .query_row([user_id], |row| row.get(0))?;
    if ended >= MAX_PUSH_DEVICES as i64 {
        return Err(ApiError::bad_request("The push bouncer has not forgotten your earlier devices yet"));
    }
    Ok(())
}

/// Stores a phone of the user that a key registers. `origin` is the address of this server for its app. Beyond
/// [`MAX_PUSH_DEVICES`] the oldest phone ends.
pub fn put(
    tx: &Tx<'_>,
    (user_id, api_key_id): (UserId, i64),
    (kind, token, app_id): (DeviceKind, &str, Option<&str>),
    origin: &str,
) -> ApiResult<()> {
    check_may_register(tx, user_id)?;
    tx.execute_cached(
        "INSERT INTO push_device (user_id, kind, token, app_id, api_key_id) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (user_id, kind, token) DO UPDATE SET app_id = excluded.app_id,
             api_key_id = excluded.api_key_id, failed_tries = 0, next_try = 0",
        (user_id, kind as i64, token, app_id, api_key_id),
    )?;
    tx.execute_cached(
        "UPDATE push_device SET api_key_id = NULL WHERE id IN (
             SELECT id FROM push_device WHERE user_id = ?1 AND api_key_id IS NOT NULL
             ORDER BY token = ?2 DESC, id DESC LIMIT -1 OFFSET ?3)",
        (user_id, token, MAX_PUSH_DEVICES as i64),
    )?;
    tx.execute_cached(
        "INSERT INTO push_subscription (user_id, shows_content, origin) VALUES (?1, 1, ?2)
         ON CONFLICT (user_id) WHERE session_id IS NULL
             DO UPDATE SET origin = excluded.origin, failing_since = NULL",
        (user_id, origin),
    )?;
    tx.wake_tasks_after_commit();
    Ok(())
}

/// Ends a phone of a user: the bouncer is to forget it. Returns whether there was one.
pub fn end(tx: &Tx<'_>, user_id: UserId, kind: DeviceKind, token: &str) -> rusqlite::Result<bool> {
    let ended = tx
        .prepare_cached(
            "UPDATE push_device SET api_key_id = NULL
             WHERE user_id = ?1 AND kind = ?2 AND token = ?3 AND api_key_id IS NOT NULL",
        )?
        .execute((user_id, kind as i64, token))?;
    if ended > 0 {
        tx.wake_tasks_after_commit();
    }
    Ok(ended > 0)
}

/// A phone that has ended, and that the bouncer is to forget.
#[derive(Clone, Debug)]
pub struct EndedDevice {
    /// The phone that was unregistered.
    pub device: Device,
    /// Number of failed attempts.
    pub failed_tries: i64,
    /// When the bouncer is asked, in UNIX seconds.
    pub next_try: i64,
}

/// The ended phone of a user that is due first.
pub fn first_ended(connection: &Connection, user_id: UserId) -> rusqlite::Result<Option<EndedDevice>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS}, failed_tries, next_try FROM push_device
             WHERE user_id = ?1 AND api_key_id IS NULL ORDER BY next_try, id LIMIT 1"
        ))?
        .query_row([user_id], |row| {
            Ok(EndedDevice { device: Device::read(row)?, failed_tries: row.get(3)?, next_try: row.get(4)? })
        })
        .optional()
}

/// All ended phones of a user.
pub fn ended_ids(connection: &Connection, user_id: UserId) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare_cached("SELECT id FROM push_device WHERE user_id = ?1 AND api_key_id IS NULL")?
        .query_map([user_id], |row| row.get(0))?
        .collect()
}

/// The users with ended phones that are due, each after the id of the subscription of their phones.
pub fn users_with_ended(connection: &Connection, now: i64) -> rusqlite::Result<Vec<(i64, UserId)>> {
    connection
        .prepare_cached(
            "SELECT DISTINCT phones.id, phones.user_id FROM push_device
             CROSS JOIN push_subscription AS phones ON phones.user_id = push_device.user_id AND session_id IS NULL
             WHERE api_key_id IS NULL AND next_try <= ?1",
        )?
        .query_map([now], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// When the bouncer is asked next to forget a phone, in UNIX seconds; `None` if not after `now`.
pub fn next_ended(connection: &Connection, now: i64) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT min(next_try) FROM push_device WHERE api_key_id IS NULL AND next_try > ?1")?
        .query_row([now], |row| row.get(0))
}

/// Postpones to have phones forgotten, after a failed attempt.
pub fn postpone(tx: &Tx<'_>, ids: &[i64], next_try: i64) -> rusqlite::Result<()> {
    let mut statement = tx.prepare_cached(
        "UPDATE push_device SET failed_tries = failed_tries + 1, next_try = ?2 WHERE id = ?1",
    )?;
    ids.iter().try_for_each(|id| statement.execute((id, next_try)).map(|_| ()))
}

/// Deletes phones that have ended, which the bouncer has forgotten.
pub fn delete_ended(tx: &Tx<'_>, user_id: UserId, ids: &[i64]) -> rusqlite::Result<()> {
    for id in ids {
        tx.execute_cached("DELETE FROM push_device WHERE id = ?1 AND api_key_id IS NULL", [id])?;
    }
    end_without_devices(tx, user_id)
}

/// Deletes phones of a user which the bouncer does not have any more.
pub fn delete_gone(tx: &Tx<'_>, user_id: UserId, gone: &[(DeviceKind, String)]) -> rusqlite::Result<()> {
    for (kind, token) in gone {
        tx.execute_cached(
            "DELETE FROM push_device WHERE user_id = ?1 AND kind = ?2 AND token = ?3",
            (user_id, *kind as i64, token),
        )?;
    }
    end_without_devices(tx, user_id)
}

/// Ends the subscription of a user's phones if there is none.
fn end_without_devices(tx: &Tx<'_>, user_id: UserId) -> rusqlite::Result<()> {
    tx.execute_cached(
        "DELETE FROM push_subscription WHERE user_id = ?1 AND session_id IS NULL
             AND NOT EXISTS (SELECT 1 FROM push_device WHERE user_id = ?1)",
        [user_id],
    )
}

/// The origin of a subscription of phones and its user, if the user is active.
pub fn live_phones(connection: &Connection, id: i64) -> rusqlite::Result<Option<(UserId, String)>> {
    connection
        .prepare_cached(
            "SELECT user_id, origin FROM push_subscription JOIN user USING (user_id)
             WHERE push_subscription.id = ?1 AND session_id IS NULL AND is_active",
        )?
        .query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()
}
