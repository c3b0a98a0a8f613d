//! Clients and addresses from which users logged in. Guesses from elsewhere do not lock such an address, and users are
//! notified of a login from another place or client.
//!
//! They are stored in the file, so that they survive a restart. Addresses are digests: they are only compared.

use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::{UserId, address_block};
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};
use std::net::IpAddr;

/// Seconds for which guesses from elsewhere do not lock an address, after its last login or the last use of its
/// session.
const KNOWN_FOR: i64 = 30 * 24 * 60 * 60;

/// Seconds for which a place is remembered.
const REMEMBERED_FOR: i64 = 365 * 24 * 60 * 60;

/// Number of remembered addresses of a person: the latest.
const ADDRESSES: i64 = 32;

/// Number of remembered clients of a person at an address: the latest. Clients choose their names, and many of them at one
/// address do not displace other addresses.
const CLIENTS: i64 = 8;

/// Seconds in which a second use of sessions and keys at an address is not recorded.
const USE_PRECISION: i64 = 24 * 60 * 60;

/// Origin of a login.
#[derive(Clone, Debug)]
pub struct LoginSource {
    /// The client's name, or the browser and its system.
    pub client: String,
    /// The client's address.
    pub address: IpAddr,
}

/// True if a person recently logged in from this address, or used a session or an API key there.
pub fn is_known_address(
    connection: &Connection,
    user_id: UserId,
    address: IpAddr,
    now: i64,
) -> ApiResult<bool> {
    was_used(connection, user_id, address, now - KNOWN_FOR)
}

/// True if a person used an address after a time, in UNIX seconds.
fn was_used(connection: &Connection, user_id: UserId, address: IpAddr, after: i64) -> ApiResult<bool> {
    let statement =
        "SELECT EXISTS (SELECT 1 FROM known_login WHERE user_id = ?1 AND address = ?2 AND last_used > ?3)";
    let bound = (user_id, digest(user_id, address), after);
    Ok(connection.prepare_cached(statement)?.query_row(bound, |row| row.get(0))?)
}

/// Remembers a place. Returns whether others were remembered, and not this one.
pub fn record(tx: &Tx<'_>, user_id: UserId, client: &str, address: IpAddr) -> ApiResult<bool> {
    let (has_others, is_remembered): (bool, bool) = tx
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM known_login WHERE user_id = ?1),
                 EXISTS (SELECT 1 FROM known_login WHERE user_id = ?1 AND address = ?2 AND client = ?3)",
        )?
        .query_row((user_id, digest(user_id, address), client), |row| row.try_into())?;
    tx.execute_cached(
        "INSERT INTO known_login (user_id, address, client, last_used) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET last_used = max(last_used, excluded.last_used)",
        (user_id, digest(user_id, address), client, tx.now()),
    )?;
    tx.execute_cached(
        "DELETE FROM known_login WHERE user_id = ?1 AND (last_used <= ?2
             OR address IN (
                 SELECT address FROM known_login WHERE user_id = ?1
                 GROUP BY address ORDER BY max(last_used) DESC LIMIT -1 OFFSET ?3)
             OR (address, client) IN (
                 SELECT address, client FROM known_login WHERE user_id = ?1 AND address = ?4
                 ORDER BY last_used DESC, client = ?5 DESC LIMIT -1 OFFSET ?6))",
        (user_id, tx.now() - REMEMBERED_FOR, ADDRESSES, digest(user_id, address), client, CLIENTS),
    )?;
    Ok(has_others && !is_remembered)
}

/// Remembers where a session or an API key of a person is used, at most once a day for an address.
pub fn record_use(tx: &Tx<'_>, user_id: UserId, client: &str, address: IpAddr) -> ApiResult<()> {
    if !was_used(tx, user_id, address, tx.now() - USE_PRECISION)? {
        record(tx, user_id, client, address)?;
    }
    Ok(())
}

/// Like [`record_use`], for an API key. Keys of bots have no places, and a revoked key has none any more.
pub fn record_use_of_key(tx: &Tx<'_>, api_key_id: i64, address: IpAddr) -> ApiResult<()> {
    let statement = "SELECT user_id, client FROM api_key JOIN user USING (user_id)
                     WHERE id = ?1 AND bot_type IS NULL AND NOT is_system_bot";
    let found: Option<(UserId, String)> =
        tx.prepare_cached(statement)?.query_row([api_key_id], |row| row.try_into()).optional()?;
    match found {
        Some((user_id, client)) => record_use(tx, user_id, &client, address),
        None => Ok(()),
    }
}

/// Forgets all places of a person, whose password is another one now.
pub fn forget(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    tx.execute_cached("DELETE FROM known_login WHERE user_id = ?1", [user_id])?;
    Ok(())
}

/// The digest of a person's address, of IPv6 its /64 network.
fn digest(user_id: UserId, address: IpAddr) -> Vec<u8> {
    let digest = Sha256::digest(format!("{} {}", user_id.0, address_block(address)).as_bytes());
    digest.iter().take(16).copied().collect()
}
