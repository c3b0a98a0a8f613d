//! Clients and addresses from which people logged in. Guesses from elsewhere do not lock such an address, and people are told
//! of a login from another place or client.
//!
//! They are in the file, so that a restart makes nobody a stranger. Addresses are digests: they are only compared.

use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{UserId, address_block};
use rusqlite::Connection;
use sha2::{Digest, Sha256};
use std::net::IpAddr;

/// How long guesses from elsewhere do not lock an address, after its last login or the last use of its session, in seconds.
const KNOWN_FOR: i64 = 30 * 24 * 60 * 60;

/// How long a place is remembered, in seconds.
const REMEMBERED_FOR: i64 = 365 * 24 * 60 * 60;

/// How many places of a person are remembered: the latest.
const PLACES: i64 = 32;

/// Where a login comes from.
#[derive(Clone, Debug)]
pub struct LoginSource {
    /// The client's name, or the browser and its system.
    pub client: String,
    /// The client's address.
    pub address: IpAddr,
}

/// Whether a person logged in from this address lately, or used a session there.
pub fn is_known_address(
    connection: &Connection,
    user_id: UserId,
    address: IpAddr,
    now: i64,
) -> ApiResult<bool> {
    let statement =
        "SELECT EXISTS (SELECT 1 FROM known_login WHERE user_id = ?1 AND address = ?2 AND last_used > ?3)";
    let found = connection
        .prepare_cached(statement)?
        .query_row((user_id, digest(user_id, address), now - KNOWN_FOR), |row| row.get(0))?;
    Ok(found)
}

/// Remembers a place. Returns whether others were remembered, and not this one.
pub fn record(tx: &Tx<'_>, user_id: UserId, client: &str, address: IpAddr) -> ApiResult<bool> {
    let (has_others, is_remembered): (bool, bool) = tx
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM known_login WHERE user_id = ?1),
                 EXISTS (SELECT 1 FROM known_login WHERE user_id = ?1 AND address = ?2 AND client = ?3)",
        )?
        .query_row((user_id, digest(user_id, address), client), |row| row.try_into())?;
    tx.prepare_cached(
        "INSERT INTO known_login (user_id, address, client, last_used) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO UPDATE SET last_used = max(last_used, excluded.last_used)",
    )?
    .execute((user_id, digest(user_id, address), client, tx.now()))?;
    tx.prepare_cached(
        "DELETE FROM known_login WHERE user_id = ?1 AND (last_used <= ?2 OR (address, client) IN (
             SELECT address, client FROM known_login WHERE user_id = ?1 ORDER BY last_used DESC LIMIT -1 OFFSET ?3))",
    )?
    .execute((user_id, tx.now() - REMEMBERED_FOR, PLACES))?;
    Ok(has_others && !is_remembered)
}

/// Forgets all places of a person, whose password is another one now.
pub fn forget(tx: &Tx<'_>, user_id: UserId) -> ApiResult<()> {
    tx.prepare_cached("DELETE FROM known_login WHERE user_id = ?1")?.execute([user_id])?;
    Ok(())
}

/// The digest of a person's address, of IPv6 its /64 network.
fn digest(user_id: UserId, address: IpAddr) -> Vec<u8> {
    let digest = Sha256::digest(format!("{} {}", user_id.0, address_block(address)).as_bytes());
    digest.iter().take(16).copied().collect()
}
