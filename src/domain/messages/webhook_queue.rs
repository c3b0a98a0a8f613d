//! Which messages are to be posted: the rows, and the word that wakes the task that posts.

use crate::domain::access::channel_rows as subscriptions;
use crate::domain::access::user_rows::UserRow;
use crate::domain::messages::destination::Destination;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{MessageId, UserId};
use rusqlite::Connection;

/// A message that is to be posted.
#[derive(Clone, Debug)]
pub struct QueuedRow {
    /// Names the row.
    pub id: i64,
    /// The message.
    pub message_id: MessageId,
    /// The bot that it is for.
    pub bot_id: UserId,
    /// `direct_message` or `mention`.
    pub trigger: String,
    /// How often it was posted in vain.
    pub failed_tries: i64,
    /// When it is due, UNIX seconds.
    pub next_try: i64,
}

/// Queues a message that was sent, for the bots that it mentions or that are in its direct conversation. Messages of
/// bots are not for bots: two of them would never stop.
pub fn message_sent(
    tx: &mut Tx<'_>,
    message_id: MessageId,
    sender: &UserRow,
    address: &Destination,
    mentioned: &[UserId],
) -> ApiResult<()> {
    // In channels, bots listen to their names only.
    let is_for_bots = !mentioned.is_empty() || matches!(address, Destination::Direct(_));
    if sender.is_bot() || !is_for_bots {
        return Ok(());
    }
    let mut queued = false;
    for bot_id in bots(tx)? {
        let trigger = match address {
            Destination::Direct(user_ids) => user_ids.contains(&bot_id).then_some("direct_message"),
            Destination::Channel(stream, _) => {
                let hears = mentioned.contains(&bot_id)
                    && (stream.is_public() || subscriptions::is_subscribed(tx, bot_id, stream.stream_id)?);
                hears.then_some("mention")
            }
        };
        if let Some(trigger) = trigger {
            insert(tx, message_id, bot_id, trigger, tx.now())?;
            queued = true;
        }
    }
    if queued {
        tx.wake_tasks_after_commit();
    }
    Ok(())
}

fn bots(connection: &Connection) -> rusqlite::Result<Vec<UserId>> {
    connection
        // A number in the text, `BotType::OutgoingWebhook`, since the index holds only these rows.
        .prepare_cached("SELECT user_id FROM user WHERE bot_type = 3 AND is_active")?
        .query_map([], |row| row.get(0))?
        .collect()
}

fn insert(
    connection: &Connection,
    message_id: MessageId,
    bot_id: UserId,
    trigger: &str,
    now: i64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO outgoing_webhook (message_id, bot_id, \"trigger\", next_try) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute((message_id, bot_id, trigger, now))
        .map(|_| ())
}

/// A bot for which messages wait.
#[derive(Clone, Copy, Debug)]
pub struct WaitingBot {
    /// The bot.
    pub bot_id: UserId,
    /// Who made it, and answers for what it does.
    pub accountable: UserId,
}

/// The bots for which messages wait, in the order in which their first messages are due. It takes a step for each bot, not
/// for each message.
pub fn waiting_bots(connection: &Connection) -> rusqlite::Result<Vec<WaitingBot>> {
    connection
        .prepare_cached(
            "WITH RECURSIVE waiting (bot_id) AS (
                 SELECT min(bot_id) FROM outgoing_webhook
                 UNION ALL
                 SELECT (SELECT min(bot_id) FROM outgoing_webhook WHERE bot_id > waiting.bot_id)
                 FROM waiting WHERE waiting.bot_id IS NOT NULL
             )
             SELECT bot_id, coalesce(created_by, bot_id) FROM waiting JOIN bot ON bot.user_id = bot_id
             ORDER BY (SELECT min(next_try) FROM outgoing_webhook WHERE bot_id = waiting.bot_id), bot_id",
        )?
        .query_map([], |row| Ok(WaitingBot { bot_id: row.get(0)?, accountable: row.get(1)? }))?
        .collect()
}

/// Removes all messages for a bot. Replies to those that are being posted are not sent.
pub fn remove_all(connection: &Connection, bot_id: UserId) -> rusqlite::Result<()> {
    let statement = "DELETE FROM outgoing_webhook WHERE bot_id = ?1";
    connection.prepare_cached(statement)?.execute([bot_id]).map(|_| ())
}

/// The first messages for a bot, those that are due first before the others.
pub fn first(connection: &Connection, bot_id: UserId, limit: usize) -> rusqlite::Result<Vec<QueuedRow>> {
    connection
        .prepare_cached(
            "SELECT outgoing_webhook_id, message_id, bot_id, \"trigger\", failed_tries, next_try FROM outgoing_webhook
             WHERE bot_id = ?1 ORDER BY next_try, outgoing_webhook_id LIMIT ?2",
        )?
        .query_map((bot_id, limit as i64), |row| {
            Ok(QueuedRow {
                id: row.get(0)?,
                message_id: row.get(1)?,
                bot_id: row.get(2)?,
                trigger: row.get(3)?,
                failed_tries: row.get(4)?,
                next_try: row.get(5)?,
            })
        })?
        .collect()
}

/// Puts a row off after a failure.
pub fn put_off(connection: &Connection, id: i64, next_try: i64) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE outgoing_webhook SET failed_tries = failed_tries + 1, next_try = ?2
             WHERE outgoing_webhook_id = ?1",
        )?
        .execute((id, next_try))
        .map(|_| ())
}

/// Removes a row; answers whether it was there.
pub fn remove(connection: &Connection, id: i64) -> rusqlite::Result<bool> {
    let statement = "DELETE FROM outgoing_webhook WHERE outgoing_webhook_id = ?1";
    Ok(connection.prepare_cached(statement)?.execute([id])? > 0)
}
