//! The notifications of subscriptions in the file, some of which wait for a push service or the bouncer.

use crate::app::Options;
use crate::domain::limits::{MAX_MESSAGES_OF_NOTIFICATION, MAX_PUSH_NOTIFICATIONS, MAX_SHOWN_ON_PHONES};
use crate::domain::messages::notification_queue::Queue;
use crate::domain::messages::read_state;
use crate::domain::notifications::waiting;
use crate::domain::realm::user_ids;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx, bitmap};
use crate::types::{MessageId, RecipientId, UserId};
use roaring::RoaringBitmap;
use rusqlite::{Connection, OptionalExtension, Row};
use std::collections::BTreeSet;

/// The transports that the operator has turned on. Rows of the others wait, and are outdated after a day.
#[derive(Clone, Copy, Debug)]
pub struct Transports {
    /// True if browsers get the notification.
    pub browsers: bool,
    /// The push bouncer.
    pub phones: bool,
}

impl Transports {
    /// Returns the transports of a server.
    pub fn of(options: &Options) -> Self {
        Self { browsers: !options.web_push.is_off, phones: options.push_bouncer.is_some() }
    }

    /// True if one is on.
    pub fn has_any(self) -> bool {
        self.browsers || self.phones
    }
}

/// The active people with subscriptions.
pub fn subscribed_users(connection: &Connection, transports: Transports) -> rusqlite::Result<RoaringBitmap> {
    user_ids::set(
        connection,
        "SELECT DISTINCT user_id FROM push_subscription CROSS JOIN user USING (user_id)
         WHERE is_active AND iif(session_id IS NULL, ?1, ?2)",
        (transports.phones, transports.browsers),
    )
}

/// True if a user is active and has a subscription.
pub fn is_subscribed(
    connection: &Connection,
    user_id: UserId,
    transports: Transports,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM push_subscription CROSS JOIN user USING (user_id)
                 WHERE user_id = ?1 AND is_active AND iif(session_id IS NULL, ?2, ?3))",
        )?
        .query_row((user_id, transports.phones, transports.browsers), |row| row.get(0))
}

/// Adds a message to the notifications of all subscriptions of a user, under the tag of its conversation. It is sent at once,
/// unless the push service asked to wait. A message that is in a notification already is not sent again: if it was edited soon after
/// it was sent, both decisions may be to notify of it.
pub fn add(
    tx: &Tx<'_>,
    user_id: UserId,
    tag: &str,
    message_id: MessageId,
    transports: Transports,
) -> rusqlite::Result<()> {
    let subscriptions: Vec<i64> = tx
        .prepare_cached(
            "SELECT id FROM push_subscription WHERE user_id = ?1 AND iif(session_id IS NULL, ?2, ?3)",
        )?
        .query_map((user_id, transports.phones, transports.browsers), |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    if !subscriptions.is_empty() {
        tx.wake_tasks_after_commit();
    }
    for subscription_id in subscriptions {
        let mut message_ids = message_ids(tx, subscription_id, tag)?.unwrap_or_default();
        if message_id.bit().is_none_or(|bit| !message_ids.insert(bit)) {
            continue;
        }
        while message_ids.len() > MAX_MESSAGES_OF_NOTIFICATION {
            message_ids.remove_smallest(1);
        }
        tx.execute_cached(
            "INSERT INTO push_notification (subscription_id, tag, message_ids, queued, next_try)
             SELECT ?1, ?2, ?3, ?4, max(?4, coalesce(max(next_try), 0)) FROM push_notification
             WHERE subscription_id = ?1 AND failed_tries > 0
             ON CONFLICT DO UPDATE SET message_ids = excluded.message_ids, queued = excluded.queued,
                 next_try = excluded.next_try",
            (subscription_id, tag, bitmap::to_blob(&message_ids), tx.now()),
        )?;
        tx.execute_cached(
            "DELETE FROM push_notification WHERE subscription_id = ?1 AND tag IN (
                 SELECT tag FROM push_notification WHERE subscription_id = ?1
                 ORDER BY queued DESC, tag = ?2 DESC LIMIT -1 OFFSET ?3)",
            (subscription_id, tag, MAX_PUSH_NOTIFICATIONS as i64),
        )?;
    }
    Ok(())
}

fn message_ids(
    connection: &Connection,
    subscription_id: i64,
    tag: &str,
) -> rusqlite::Result<Option<RoaringBitmap>> {
    connection
        .prepare_cached("SELECT message_ids FROM push_notification WHERE subscription_id = ?1 AND tag = ?2")?
        .query_row((subscription_id, tag), |row| read_set(row, 0))
        .optional()
}

fn read_set(row: &Row<'_>, column: usize) -> rusqlite::Result<RoaringBitmap> {
    let bytes: Vec<u8> = row.get(column)?;
    bitmap::from_blob(column, &bytes)
}

fn read_optional_set(row: &Row<'_>, column: usize) -> rusqlite::Result<RoaringBitmap> {
    let bytes: Option<Vec<u8>> = row.get(column)?;
    bytes.map_or_else(|| Ok(RoaringBitmap::new()), |bytes| bitmap::from_blob(column, &bytes))
}

/// Names a notification.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NotificationKey {
    /// The id of the subscription that receives it.
    pub subscription_id: i64,
    /// The conversation.
    pub tag: String,
}

/// A notification that waits for the push service.
#[derive(Clone, Debug)]
pub struct DueNotification {
    /// Identifies the notification.
    pub key: NotificationKey,
    /// The address at the push service; `None` for phones.
    pub endpoint: Option<String>,
    /// The owner of the subscription.
    pub user_id: UserId,
}

/// The waiting notifications that are due, the first of each subscription.
pub fn due_notifications(
    connection: &Connection,
    now: i64,
    transports: Transports,
) -> rusqlite::Result<Vec<DueNotification>> {
    connection
        .prepare_cached(
            "SELECT subscription_id, tag, endpoint, user_id, min(next_try) AS first
             FROM push_notification JOIN push_subscription ON push_subscription.id = subscription_id
             WHERE next_try IS NOT NULL AND next_try <= ?1 AND iif(session_id IS NULL, ?2, ?3)
             GROUP BY subscription_id ORDER BY first",
        )?
        .query_map((now, transports.phones, transports.browsers), |row| {
            let key = NotificationKey { subscription_id: row.get(0)?, tag: row.get(1)? };
            Ok(DueNotification { key, endpoint: row.get(2)?, user_id: row.get(3)? })
        })?
        .collect()
}

/// When notifications are due next, in UNIX seconds; `None` if none wait.
pub fn next_due(connection: &Connection, now: i64) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached(
            "SELECT min(next_try) FROM push_notification WHERE next_try IS NOT NULL AND next_try > ?1",
        )?
        .query_row([now], |row| row.get(0))
}

/// A stored notification.
#[derive(Clone, Debug)]
pub struct NotificationRow {
    /// The conversation.
    pub tag: String,
    /// The messages that it is about, some of which may be read or deleted since.
    pub message_ids: RoaringBitmap,
    /// True if the browser may still show an earlier one.
    pub is_shown: bool,
    /// When its newest message was added, in UNIX seconds.
    pub queued: i64,
    /// Number of failed attempts.
    pub failed_tries: i64,
    /// When it is due; `None` if the push service has it.
    pub next_try: Option<i64>,
    /// The messages that phones show.
    pub shown_ids: RoaringBitmap,
}

/// All notifications of a subscription, the newest first.
pub fn notifications_of(
    connection: &Connection,
    subscription_id: i64,
) -> rusqlite::Result<Vec<NotificationRow>> {
    connection
        .prepare_cached(
            "SELECT tag, message_ids, is_shown, queued, failed_tries, next_try, shown_ids FROM push_notification
             WHERE subscription_id = ?1 ORDER BY queued DESC, tag",
        )?
        .query_map([subscription_id], |row| {
            Ok(NotificationRow {
                tag: row.get(0)?,
                message_ids: read_set(row, 1)?,
                is_shown: row.get(2)?,
                queued: row.get(3)?,
                failed_tries: row.get(4)?,
                next_try: row.get(5)?,
                shown_ids: read_optional_set(row, 6)?,
            })
        })?
        .collect()
}

/// The push service has a notification about `sent`; `outdated` are read or not accessible any more. Messages that were added
/// meanwhile are sent next. The notifications with the tags `closed` are closed by it.
pub fn sent(
    tx: &Tx<'_>,
    key: &NotificationKey,
    (sent, outdated): (&RoaringBitmap, &RoaringBitmap),
    closed: &[String],
) -> rusqlite::Result<()> {
    mark_working(tx, key.subscription_id)?;
    for tag in closed {
        tx.execute_cached(
            "DELETE FROM push_notification WHERE subscription_id = ?1 AND tag = ?2 AND next_try IS NULL",
            (key.subscription_id, tag),
        )?;
    }
    let Some(stored) = message_ids(tx, key.subscription_id, &key.tag)? else { return Ok(()) };
    let stored = stored - outdated;
    let next_try = (!stored.is_subset(sent)).then_some(tx.now());
    tx.execute_cached(
        "UPDATE push_notification SET message_ids = ?3, is_shown = 1, failed_tries = 0, next_try = ?4
         WHERE subscription_id = ?1 AND tag = ?2",
        (key.subscription_id, &key.tag, bitmap::to_blob(&stored), next_try),
    )
}

/// Phones show `added` of a notification. They do not show `dropped`, and will not. What is left is sent next, and what was read or
/// deleted while the bouncer was asked is taken back next; a notification without messages is deleted.
pub fn phones_show(
    tx: &Tx<'_>,
    key: &NotificationKey,
    added: &RoaringBitmap,
    dropped: &RoaringBitmap,
) -> ApiResult<()> {
    let (id, tag) = (key.subscription_id, &key.tag);
    let stored = tx
        .prepare_cached(
            "SELECT message_ids, shown_ids, user_id FROM push_notification
             CROSS JOIN push_subscription ON push_subscription.id = subscription_id
             WHERE subscription_id = ?1 AND tag = ?2",
        )?
        .query_row((id, tag), |row| Ok((read_set(row, 0)?, read_optional_set(row, 1)?, row.get(2)?)))
        .optional()?;
    let Some((message_ids, shown_ids, user_id)) = stored else { return Ok(()) };
    let message_ids = message_ids - dropped;
    let mut shown_ids = (shown_ids | added) - dropped;
    if message_ids.is_empty() && shown_ids.is_empty() {
        let mut statement =
            tx.prepare_cached("DELETE FROM push_notification WHERE subscription_id = ?1 AND tag = ?2")?;
        statement.execute((id, tag))?;
        return Ok(());
    }
    let has_more = !message_ids.is_subset(&shown_ids);
    let excess = shown_ids.len().saturating_sub(MAX_SHOWN_ON_PHONES);
    shown_ids.remove_smallest(excess);
    let is_due = has_more || has_withdrawn(tx, user_id, &shown_ids)?;
    let next_try = is_due.then_some(tx.now());
    let shown_ids = (!shown_ids.is_empty()).then(|| bitmap::to_blob(&shown_ids));
    tx.execute_cached(
        "UPDATE push_notification SET message_ids = ?3, shown_ids = ?4, failed_tries = 0, next_try = ?5
         WHERE subscription_id = ?1 AND tag = ?2",
        (id, tag, bitmap::to_blob(&message_ids), shown_ids, next_try),
    )?;
    Ok(())
}

/// True if a user has read one of these messages, or it was deleted.
fn has_withdrawn(connection: &Connection, user_id: UserId, ids: &RoaringBitmap) -> ApiResult<bool> {
    let ids: Vec<u32> = ids.iter().collect();
    let found: Vec<(u32, RecipientId)> = connection
        .prepare_cached(
            "SELECT message.id, recipient_id FROM json_each(?1) CROSS JOIN message ON message.id = value",
        )?
        .query_map([serde_json::to_string(&ids)?], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    if found.len() < ids.len() {
        return Ok(true);
    }
    let conversations: BTreeSet<RecipientId> = found.iter().map(|(_, recipient_id)| *recipient_id).collect();
    for conversation in conversations {
        let read = read_state::load(connection, user_id, conversation)?;
        if found.iter().any(|(id, recipient_id)| *recipient_id == conversation && read.contains(*id)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Records that a subscription does not fail any more.
pub fn mark_working(tx: &Tx<'_>, subscription_id: i64) -> rusqlite::Result<()> {
    tx.execute_cached(
        "UPDATE push_subscription SET failing_since = NULL WHERE id = ?1 AND failing_since IS NOT NULL",
        [subscription_id],
    )
}

/// Has the waiting notifications of a subscription wait until a time, in UNIX seconds. This is no failed attempt.
pub fn hold_back(tx: &Tx<'_>, subscription_id: i64, until: i64) -> rusqlite::Result<()> {
    tx.execute_cached(
        "UPDATE push_notification SET next_try = max(next_try, ?2)
         WHERE subscription_id = ?1 AND next_try IS NOT NULL",
        (subscription_id, until),
    )
}

/// Gives a notification up, unless messages were added to those of the attempt. One that the browser may show stays, to be closed.
pub fn give_up(tx: &Tx<'_>, key: &NotificationKey, attempted: &RoaringBitmap) -> rusqlite::Result<()> {
    match message_ids(tx, key.subscription_id, &key.tag)? {
        Some(stored) if stored.is_subset(attempted) => {}
        _ => return Ok(()),
    }
    tx.execute_cached(
        "DELETE FROM push_notification WHERE subscription_id = ?1 AND tag = ?2 AND NOT is_shown",
        (key.subscription_id, &key.tag),
    )?;
    tx.execute_cached(
        "UPDATE push_notification SET next_try = NULL, failed_tries = 0
         WHERE subscription_id = ?1 AND tag = ?2",
        (key.subscription_id, &key.tag),
    )
}

/// Postpones a notification after a failed attempt, and with it all others of the subscription.
pub fn postpone(tx: &Tx<'_>, key: &NotificationKey, next_try: i64) -> rusqlite::Result<()> {
    tx.execute_cached(
        "UPDATE push_notification SET failed_tries = failed_tries + (tag = ?2), next_try = max(next_try, ?3)
         WHERE subscription_id = ?1 AND next_try IS NOT NULL",
        (key.subscription_id, &key.tag, next_try),
    )
}

/// Records that a subscription fails. Returns since when, in UNIX seconds.
pub fn mark_failing(tx: &Tx<'_>, subscription_id: i64) -> rusqlite::Result<Option<i64>> {
    tx.prepare_cached(
        "UPDATE push_subscription SET failing_since = coalesce(failing_since, ?2) WHERE id = ?1
         RETURNING failing_since",
    )?
    .query_row((subscription_id, tx.now()), |row| row.get(0))
    .optional()
}

/// Ends a subscription: the push service or the session does not have it any more.
pub fn end_subscription(tx: &Tx<'_>, subscription_id: i64) -> rusqlite::Result<()> {
    tx.execute_cached("DELETE FROM push_subscription WHERE id = ?1", [subscription_id])
}

/// True if all queues are empty.
pub fn is_clear(connection: &Connection) -> rusqlite::Result<bool> {
    let has_notifications: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM push_notification)")?
        .query_row([], |row| row.get(0))?;
    Ok(!has_notifications && waiting::is_clear(connection, Queue::Push)?)
}

/// Removes a few rows from the queues: there is no transport. Returns false if there are none.
pub fn clear_some(tx: &Tx<'_>) -> rusqlite::Result<bool> {
    let removed = tx
        .prepare_cached(
            "DELETE FROM push_notification WHERE (subscription_id, tag) IN
                 (SELECT subscription_id, tag FROM push_notification LIMIT 100)",
        )?
        .execute([])?;
    Ok(removed > 0 || waiting::clear_some(tx, Queue::Push)?)
}
