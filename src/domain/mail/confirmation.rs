//! Links that prove the new address of a user: one for each user, which works once and for a day.

use crate::auth::credentials::digest;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::{UserId, is_valid_until, random_key};
use rusqlite::{Connection, OptionalExtension};

/// Seconds for which a link works: a day.
const VALIDITY: i64 = 24 * 60 * 60;

/// Makes the secret part of a link with which an address becomes that of a user. Returns it with the time of its expiry, in UNIX
/// seconds. An earlier link of the user stops working.
pub fn create(tx: &Tx<'_>, user_id: UserId, email: &str) -> ApiResult<(String, i64)> {
    let (key, expires) = (random_key(), tx.now() + VALIDITY);
    delete_of_user(tx, user_id)?;
    tx.execute_cached(
        "INSERT INTO confirmation (digest, email, user_id, expires) VALUES (?1, ?2, ?3, ?4)",
        (digest(&key), email, user_id, expires),
    )?;
    Ok((key, expires))
}

/// The user of a link and the address that it proves, if it works at `now`.
pub fn find(connection: &Connection, key: &str, now: i64) -> ApiResult<Option<(UserId, String)>> {
    let found: Option<(UserId, String, i64)> = connection
        .prepare_cached("SELECT user_id, email, expires FROM confirmation WHERE digest = ?1")?
        .query_row([digest(key)], |row| row.try_into())
        .optional()?;
    let valid = found.filter(|(.., expires)| is_valid_until(*expires, now, VALIDITY));
    Ok(valid.map(|(user_id, email, _)| (user_id, email)))
}

/// The name of the email with the link of a user, for [`super::withdraw`].
pub fn about(user_id: UserId) -> String {
    format!("confirm_email:{user_id}")
}

/// Ends the link of a user, and drops the email with it if it waits.
pub fn delete_of_user(tx: &Tx<'_>, user_id: UserId) -> rusqlite::Result<()> {
    super::withdraw(tx, &about(user_id))?;
    tx.execute_cached("DELETE FROM confirmation WHERE user_id = ?1", [user_id])
}
