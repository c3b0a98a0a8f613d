//! SQL statements on the `invite` table.

use crate::auth::credentials::digest;
use crate::domain::audit::{Action, Entry, Subject};
use crate::domain::invites::record::InviteRow;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx, json_column};
use crate::types::UserId;
use rusqlite::{Connection, OptionalExtension, Row};
use serde_json::json;

const COLUMNS: &str = "invite_id, key, email, invited_by_user_id, invited, expiry_date, invited_as, stream_ids,
    group_ids, include_realm_default_subscriptions, notify_referrer_on_join, welcome_message_custom_text, is_revoked, resent,
    parent_id, is_mailed";

fn read(row: &Row<'_>) -> rusqlite::Result<InviteRow> {
    Ok(InviteRow {
        invite_id: row.get(0)?,
        key: row.get(1)?,
        email: row.get(2)?,
        invited_by_user_id: row.get(3)?,
        invited: row.get(4)?,
        expiry_date: row.get(5)?,
        invited_as: row.get(6)?,
        stream_ids: json_column(row, 7)?,
        group_ids: json_column(row, 8)?,
        include_realm_default_subscriptions: row.get(9)?,
        notify_referrer_on_join: row.get(10)?,
        welcome_message_custom_text: row.get(11)?,
        is_revoked: row.get(12)?,
        resent: row.get(13)?,
        parent_id: row.get(14)?,
        is_mailed: row.get(15)?,
    })
}

/// Loads an invitation by id, whether it is usable or not.
pub fn load(connection: &Connection, invite_id: i64) -> rusqlite::Result<Option<InviteRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM invite WHERE invite_id = ?1"))?
        .query_row([invite_id], read)
        .optional()
}

/// Loads an invitation by the secret part of its link.
pub fn load_by_key(connection: &Connection, key: &str) -> rusqlite::Result<Option<InviteRow>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM invite WHERE digest = ?1"))?
        .query_row([digest(key)], read)
        .optional()
}

/// Loads the newest usable invitation for an email.
pub fn load_by_email(connection: &Connection, email: &str, now: i64) -> rusqlite::Result<Option<InviteRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM invite
             WHERE email IS NOT NULL AND lower(email) = lower(?1) AND NOT is_revoked
                 AND (expiry_date IS NULL OR expiry_date > ?2)
             ORDER BY invite_id DESC LIMIT 1"
        ))?
        .query_row((email, now), read)
        .optional()
}

/// Counts the usable invitations of inviters; `inviters` is a JSON list of their ids. People who sign up with a reusable link count
/// as that one.
pub fn count_usable(connection: &Connection, inviters: &str, now: i64) -> rusqlite::Result<u32> {
    connection
        .prepare_cached(
            "SELECT count(*) FROM invite
             WHERE invited_by_user_id IN (SELECT value FROM json_each(?1))
                 AND parent_id IS NULL AND NOT is_revoked AND (expiry_date IS NULL OR expiry_date > ?2)",
        )?
        .query_row((inviters, now), |row| row.get(0))
}

/// Lists the usable invitations of one inviter or of all, the oldest first.
pub fn list_usable(
    connection: &Connection,
    inviter: Option<UserId>,
    now: i64,
) -> rusqlite::Result<Vec<InviteRow>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM invite
             WHERE invited_by_user_id = coalesce(?1, invited_by_user_id) AND NOT is_revoked
                 AND (expiry_date IS NULL OR expiry_date > ?2)
             ORDER BY invite_id"
        ))?
        .query_map((inviter, now), read)?
        .collect()
}

/// Inserts an invitation with a new key and returns its id. The key itself is stored only where `GET /invites` lists the
/// link again.
pub fn insert(tx: &Tx<'_>, invite: &InviteRow) -> ApiResult<i64> {
    let key = invite.key.as_deref();
    let listed = key.filter(|_| invite.is_multiuse() && !invite.is_for_owner());
    let json = |ids: Vec<i64>| serde_json::Value::from(ids).to_string();
    let invite_id = tx
        .prepare_cached(
            "INSERT INTO invite (digest, key, email, invited_by_user_id, invited, expiry_date, invited_as, stream_ids,
                 group_ids, include_realm_default_subscriptions, notify_referrer_on_join, welcome_message_custom_text,
                 parent_id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .insert((
            key.map(digest),
            listed,
            &invite.email,
            invite.invited_by_user_id,
            invite.invited,
            invite.expiry_date,
            invite.invited_as,
            json(invite.stream_ids.iter().map(|id| id.0).collect()),
            json(invite.group_ids.iter().map(|id| id.0).collect()),
            invite.include_realm_default_subscriptions,
            invite.notify_referrer_on_join,
            &invite.welcome_message_custom_text,
            invite.parent_id,
        ))?;
    let invited = InviteRow { invite_id, ..invite.clone() };
    let facts = json!({ "role": invite.invited_as.name(), "is_reusable": invite.is_multiuse() });
    tx.audit(Entry::new(Action::InvitationCreated, &invited).after(facts))?;
    Ok(invite_id)
}

/// An invitation as the subject of an entry, without its link.
impl From<&InviteRow> for Subject {
    fn from(invite: &InviteRow) -> Self {
        let subject = Self::with_id("invitation", invite.invite_id);
        match &invite.email {
            Some(email) => subject.with_name(email),
            None => subject,
        }
    }
}

/// Replaces the key of an invitation now. The old link stops working.
pub fn set_key(connection: &Connection, invite_id: i64, key: &str, now: i64) -> rusqlite::Result<()> {
    let statement = "UPDATE invite SET digest = ?2, resent = ?3, is_mailed = 0 WHERE invite_id = ?1";
    connection.execute_cached(statement, (invite_id, digest(key), now))
}

/// Records that only an email to the address has the link.
pub fn set_mailed(connection: &Connection, invite_id: i64) -> rusqlite::Result<()> {
    connection.execute_cached("UPDATE invite SET is_mailed = 1 WHERE invite_id = ?1", [invite_id])
}

/// Revokes a reusable link, and deletes the links of people who sign up with it. The row stays, so that revoking it again can be
/// refused with the reason.
pub fn set_revoked(connection: &Connection, invite_id: i64) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM invite WHERE parent_id = ?1", [invite_id])?;
    let statement = "UPDATE invite SET is_revoked = 1, key = NULL WHERE invite_id = ?1";
    connection.execute_cached(statement, [invite_id])
}

/// Deletes an email invitation.
pub fn delete(connection: &Connection, invite_id: i64) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM invite WHERE invite_id = ?1", [invite_id])
}

/// Deletes all invitations for an email, once the person has joined.
pub fn delete_for_email(connection: &Connection, email: &str) -> rusqlite::Result<()> {
    let statement = "DELETE FROM invite WHERE email IS NOT NULL AND lower(email) = lower(?1)";
    connection.execute_cached(statement, [email])
}

/// Deletes the links with which people sign up at an email, with a reusable link or without an invitation.
pub fn delete_sign_ups(connection: &Connection, email: &str, parent_id: Option<i64>) -> rusqlite::Result<()> {
    let statement =
        "DELETE FROM invite WHERE email IS NOT NULL AND lower(email) = lower(?1) AND parent_id IS ?2
             AND (parent_id IS NOT NULL OR invited_by_user_id IS NULL)";
    connection.execute_cached(statement, (email, parent_id))
}

/// Revokes all invitations of a user. Returns whether any of them was usable.
pub fn revoke_all_of(connection: &Connection, user_id: UserId, now: i64) -> rusqlite::Result<bool> {
    let had_usable = !list_usable(connection, Some(user_id), now)?.is_empty();
    let statement = "DELETE FROM invite WHERE invited_by_user_id = ?1 AND email IS NOT NULL";
    connection.execute_cached(statement, [user_id])?;
    let statement = "UPDATE invite SET is_revoked = 1, key = NULL WHERE invited_by_user_id = ?1";
    connection.execute_cached(statement, [user_id])?;
    Ok(had_usable)
}

/// Deletes up to `limit` invitations that expired before a time, or were made before it and revoked. Returns their number.
pub fn delete_ended(connection: &Connection, before: i64, limit: i64) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "DELETE FROM invite WHERE invite_id IN (
                 SELECT invite_id FROM invite WHERE (invited_by_user_id IS NOT NULL OR email IS NOT NULL)
                 AND (expiry_date < ?1 OR is_revoked AND invited < ?1) LIMIT ?2)",
        )?
        .execute((before, limit))
}

/// Returns whether there is a link of the first owner that was not used.
pub fn has_unused_owner_link(connection: &Connection) -> rusqlite::Result<bool> {
    let query = "SELECT EXISTS (SELECT 1 FROM invite WHERE invited_by_user_id IS NULL AND email IS NULL AND NOT is_revoked)";
    connection.prepare_cached(query)?.query_row([], |row| row.get(0))
}

/// Deletes the links of the first owner that were not used.
pub fn delete_unused_owner_links(connection: &Connection) -> rusqlite::Result<()> {
    let statement =
        "DELETE FROM invite WHERE invited_by_user_id IS NULL AND email IS NULL AND NOT is_revoked";
    connection.execute_cached(statement, [])
}
