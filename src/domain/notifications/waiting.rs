//! The queues of a medium in the file: messages whose notifications are to be decided, and messages that are held for users
//! who are not away.

use crate::domain::limits::MAX_HELD_MESSAGES;
use crate::domain::messages::notification_queue::Queue;
use crate::store::{ExecuteCached, Tx, bitmap};
use crate::types::{EventId, MessageId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// A message whose notifications are to be decided.
#[derive(Debug)]
pub struct WaitingMessage {
    /// Names the row.
    pub id: i64,
    pub message_id: MessageId,
    /// The editor; `None` for a new message.
    pub edited_by: Option<UserId>,
    /// Users who know of the message: those whom it mentioned before the edit, those for whom it was sent as read if they are many,
    /// and those whose decisions are stored.
    pub known_to: RoaringBitmap,
}

/// The first waiting messages.
pub fn waiting_messages(
    connection: &Connection,
    queue: Queue,
    limit: i64,
) -> rusqlite::Result<Vec<WaitingMessage>> {
    let table = queue.waiting();
    connection
        .prepare_cached(&format!(
            "SELECT id, message_id, edited_by, known_to FROM {table} ORDER BY id LIMIT ?1"
        ))?
        .query_map([limit], |row| {
            let known_to: Option<Vec<u8>> = row.get(3)?;
            let known_to = known_to.map(|bytes| bitmap::from_blob(3, &bytes)).transpose()?;
            Ok(WaitingMessage {
                id: row.get(0)?,
                message_id: row.get(1)?,
                edited_by: row.get(2)?,
                known_to: known_to.unwrap_or_default(),
            })
        })?
        .collect()
}

/// Stores which users know of a waiting message.
pub fn note_known(tx: &Tx<'_>, queue: Queue, waiting: &WaitingMessage) -> rusqlite::Result<()> {
    let table = queue.waiting();
    tx.execute_cached(
        &format!("UPDATE {table} SET known_to = ?2 WHERE id = ?1"),
        (waiting.id, bitmap::to_blob(&waiting.known_to)),
    )
}

/// Removes waiting messages up to one.
pub fn remove_waiting(tx: &Tx<'_>, queue: Queue, until: i64) -> rusqlite::Result<()> {
    let table = queue.waiting();
    tx.execute_cached(&format!("DELETE FROM {table} WHERE id <= ?1"), [until])
}

/// A message of which a user is notified if no client of theirs receives it.
#[derive(Clone, Debug)]
pub struct HeldMessage {
    pub user_id: UserId,
    pub message_id: MessageId,
    /// A queue with this event has delivered the message.
    pub delivered_with: EventId,
}

/// Holds a message, until a time at which it is checked. Beyond [`MAX_HELD_MESSAGES`] the user's oldest is dropped.
pub fn hold(tx: &Tx<'_>, queue: Queue, held: &HeldMessage, next_check: i64) -> rusqlite::Result<()> {
    let table = queue.held();
    tx.execute_cached(
        &format!(
            "INSERT OR IGNORE INTO {table} (user_id, message_id, event_id, next_check) VALUES (?1, ?2, ?3, ?4)"
        ),
        (held.user_id, held.message_id, held.delivered_with, next_check),
    )?;
    tx.execute_cached(
        &format!(
            "DELETE FROM {table} WHERE user_id = ?1 AND message_id IN (
                 SELECT message_id FROM {table} WHERE user_id = ?1 ORDER BY message_id DESC LIMIT -1 OFFSET ?2)"
        ),
        (held.user_id, MAX_HELD_MESSAGES as i64),
    )
}

/// The held messages that are to be checked at `now`. No check is later than `latest`, unless the clock was ahead.
pub fn held_messages(
    connection: &Connection,
    queue: Queue,
    (now, latest): (i64, i64),
    limit: i64,
) -> rusqlite::Result<Vec<HeldMessage>> {
    let table = queue.held();
    let load = |condition: &str, time: i64| -> rusqlite::Result<Vec<HeldMessage>> {
        connection
            .prepare_cached(&format!(
                "SELECT user_id, message_id, event_id FROM {table} WHERE next_check {condition} ?1
                 ORDER BY next_check LIMIT ?2"
            ))?
            .query_map((time, limit), |row| {
                Ok(HeldMessage { user_id: row.get(0)?, message_id: row.get(1)?, delivered_with: row.get(2)? })
            })?
            .collect()
    };
    let due = load("<=", now)?;
    if due.is_empty() { load(">", latest) } else { Ok(due) }
}

/// When held messages are checked next, in UNIX seconds; `None` if there are none.
pub fn next_check(connection: &Connection, queue: Queue) -> rusqlite::Result<Option<i64>> {
    let table = queue.held();
    connection
        .prepare_cached(&format!("SELECT min(next_check) FROM {table}"))?
        .query_row([], |row| row.get(0))
}

/// Postpones the check of a held message.
pub fn postpone_check(
    tx: &Tx<'_>,
    queue: Queue,
    held: &HeldMessage,
    next_check: i64,
) -> rusqlite::Result<()> {
    let table = queue.held();
    tx.execute_cached(
        &format!("UPDATE {table} SET next_check = ?3 WHERE user_id = ?1 AND message_id = ?2"),
        (held.user_id, held.message_id, next_check),
    )
}

/// Does not hold a message any more.
pub fn release(tx: &Tx<'_>, queue: Queue, held: &HeldMessage) -> rusqlite::Result<()> {
    let table = queue.held();
    tx.execute_cached(
        &format!("DELETE FROM {table} WHERE user_id = ?1 AND message_id = ?2"),
        (held.user_id, held.message_id),
    )
}

/// True if no message waits and none is held.
pub fn is_clear(connection: &Connection, queue: Queue) -> rusqlite::Result<bool> {
    let (waiting, held) = (queue.waiting(), queue.held());
    connection
        .prepare_cached(&format!(
            "SELECT NOT EXISTS (SELECT 1 FROM {waiting}) AND NOT EXISTS (SELECT 1 FROM {held})"
        ))?
        .query_row([], |row| row.get(0))
}

/// Removes a few messages from the queues: the server does not use the medium any more. Returns false if there are none.
pub fn clear_some(tx: &Tx<'_>, queue: Queue) -> rusqlite::Result<bool> {
    let (waiting, held) = (queue.waiting(), queue.held());
    let statements = [
        format!("DELETE FROM {waiting} WHERE id IN (SELECT id FROM {waiting} LIMIT 100)"),
        format!(
            "DELETE FROM {held} WHERE (user_id, message_id) IN (SELECT user_id, message_id FROM {held} LIMIT 100)"
        ),
    ];
    for statement in statements {
        if tx.prepare_cached(&statement)?.execute([])? > 0 {
            return Ok(true);
        }
    }
    Ok(false)
}
