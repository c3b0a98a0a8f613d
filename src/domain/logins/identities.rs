//! Identities of people at providers of OpenID Connect: one for each person and provider.

use crate::domain::audit::{Action, Entry};
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension};
use serde_json::json;

/// The person of an identity.
pub fn user_of(connection: &Connection, issuer: &str, subject: &str) -> rusqlite::Result<Option<UserId>> {
    connection
        .prepare_cached("SELECT user_id FROM identity WHERE issuer = ?1 AND subject = ?2")?
        .query_row([issuer, subject], |row| row.get(0))
        .optional()
}

/// True if a person has an identity at a provider.
pub fn has_one(connection: &Connection, user_id: UserId, issuer: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM identity WHERE user_id = ?1 AND issuer = ?2)")?
        .query_row((user_id, issuer), |row| row.get(0))
}

/// Stores the identity with which a person logs in for the first time.
pub fn insert(tx: &Tx<'_>, user_id: UserId, issuer: &str, subject: &str) -> ApiResult<()> {
    tx.execute_cached(
        "INSERT INTO identity (issuer, subject, user_id, date_created) VALUES (?1, ?2, ?3, ?4)",
        (issuer, subject, user_id, tx.now()),
    )?;
    let facts = json!({ "issuer": issuer, "subject": subject });
    tx.audit(Entry::new(Action::IdentityLinked, user_id).by(user_id).after(facts))
}

/// Deletes the identities of a person whose account is deleted.
pub fn delete_all(tx: &Tx<'_>, user_id: UserId) -> rusqlite::Result<()> {
    tx.execute_cached("DELETE FROM identity WHERE user_id = ?1", [user_id])
}
