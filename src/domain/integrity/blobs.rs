//! Checks of sets that are stored as blobs.

use crate::store::bitmap;
use roaring::RoaringBitmap;
use rusqlite::{Connection, Row};
use std::collections::HashSet;

/// The set in a column; adds a finding if it cannot be read.
fn set(
    row: &Row<'_>,
    column: usize,
    of: &str,
    found: &mut Vec<String>,
) -> rusqlite::Result<Option<RoaringBitmap>> {
    let Ok(bytes) = row.get_ref(column)?.as_blob() else { return Ok(None) };
    Ok(match bitmap::from_blob(column, bytes) {
        Ok(set) => Some(set),
        Err(_) => {
            found.push(format!("{of}: a set of ids cannot be read"));
            None
        }
    })
}

/// Receivers of moved messages: the sets can be read, belong to channels, and no message is in two.
pub(super) fn moved_receipts(connection: &Connection, found: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT arrival_id, message_ids, arrival.user_ids, stream_id, recipient_id
         FROM arrival JOIN recipient USING (recipient_id) ORDER BY recipient_id",
    )?;
    let mut rows = statement.query([])?;
    let (mut recipient, mut seen) = (0, RoaringBitmap::new());
    while let Some(row) = rows.next()? {
        let name = format!("moved messages {}", row.get::<_, i64>(0)?);
        let messages = set(row, 1, &name, found)?.unwrap_or_default();
        set(row, 2, &name, found)?;
        if row.get::<_, Option<i64>>(3)?.is_none() {
            found.push(format!("{name} are in a direct conversation"));
        }
        let recipient_id: i64 = row.get(4)?;
        if recipient != recipient_id {
            (recipient, seen) = (recipient_id, RoaringBitmap::new());
        }
        if let Some(id) = (&seen & &messages).min() {
            found.push(format!("{name}: message {id} has two sets of receivers"));
        }
        seen |= messages;
    }
    Ok(())
}

/// Sets of read messages: they can be read, belong to their chunk, and are above a mark that is not ahead of all messages.
pub(super) fn read_sets(connection: &Connection, found: &mut Vec<String>) -> rusqlite::Result<()> {
    let newest = "SELECT max(coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'message'), 0),
        coalesce((SELECT max(id) FROM message), 0))";
    let newest: u32 = connection.query_row(newest, [], |row| row.get(0))?;
    let mut statement = connection.prepare(
        "SELECT state.user_id, state.recipient_id, chunk, bits, read_until FROM read_state AS state
         LEFT JOIN read_chunk AS piece ON piece.user_id = state.user_id AND piece.recipient_id = state.recipient_id
         UNION ALL
         SELECT user_id, recipient_id, chunk, bits, NULL FROM read_chunk AS piece WHERE NOT EXISTS (
             SELECT 1 FROM read_state WHERE user_id = piece.user_id AND recipient_id = piece.recipient_id)",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (user, recipient): (i64, i64) = (row.get(0)?, row.get(1)?);
        let name = format!("read messages of user {user} in conversation {recipient}");
        let Some(mark) = row.get::<_, Option<u32>>(4)? else {
            found.push(format!("{name} have no mark"));
            continue;
        };
        if mark > newest {
            found.push(format!("{name} go up to {mark}, and the newest message is {newest}"));
        }
        let Some(chunk) = row.get::<_, Option<u32>>(2)? else { continue };
        if let Some(bits) = set(row, 3, &name, found)?
            && let (Some(first), Some(last)) = (bits.min(), bits.max())
            && (first >> 16 != chunk || last >> 16 != chunk || first <= mark || last > newest)
        {
            found.push(format!("{name}: chunk {chunk} has the ids {first} to {last}"));
        }
    }
    Ok(())
}

/// Notifications that wait to be sent: the sets of users and of messages can be read.
pub(super) fn push(connection: &Connection, found: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "SELECT 'push_message ' || id, known_to FROM push_message UNION ALL
         SELECT 'mail_message ' || id, known_to FROM mail_message UNION ALL
         SELECT 'push_notification ' || tag || ' of subscription ' || subscription_id, message_ids FROM push_notification
         UNION ALL
         SELECT 'push_notification ' || tag || ' of subscription ' || subscription_id, shown_ids FROM push_notification",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        set(row, 1, &row.get::<_, String>(0)?, found)?;
    }
    Ok(())
}

/// The log: each event has an audience that can be read, and JSON.
pub(super) fn events(connection: &Connection, found: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut audiences = HashSet::new();
    let mut statement = connection.prepare("SELECT id, user_ids FROM event_audience")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let id: i64 = row.get(0)?;
        set(row, 1, &format!("audience {id}"), found)?;
        audiences.insert(id);
    }
    let mut statement = connection.prepare(
        "SELECT id, audience, audience_id, json_valid(payload) AND (routing IS NULL OR json_valid(routing)) FROM event",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let name = format!("event {}", row.get::<_, i64>(0)?);
        set(row, 1, &name, found)?;
        if row.get::<_, Option<i64>>(2)?.is_some_and(|id| !audiences.contains(&id)) {
            found.push(format!("{name} has an audience that is not there"));
        }
        if !row.get::<_, bool>(3)? {
            found.push(format!("{name} is not JSON"));
        }
    }
    Ok(())
}
