//! Queue of outgoing webhooks: rows, and waking of the task that posts them.

use crate::domain::limits::{
    Accounts, MAX_BOTS_CALLED, MAX_WAITING_WEBHOOKS, MAX_WAITING_WEBHOOKS_OF_SENDER,
};
use crate::domain::messages::destination::Destination;
use crate::domain::rows;
use crate::domain::rows::user::UserRow;
use crate::error::ApiResult;
use crate::store::{ExecuteCached, Tx};
use crate::types::{MessageId, UserId};
use rusqlite::Connection;
use std::sync::Arc;

/// A row of the queue: a message that waits to be posted for one outgoing webhook bot.
#[derive(Clone, Debug)]
pub struct QueuedRow {
    /// Names the row.
    pub id: i64,
    pub message_id: MessageId,
    pub bot_id: UserId,
    /// `direct_message` or `mention`.
    pub trigger: String,
    /// Number of failed attempts.
    pub failed_tries: i64,
    /// When it is due, UNIX seconds.
    pub next_try: i64,
}

/// Queues a message that was sent, for the bots that it mentions or that are in its direct conversation. Messages of
/// bots are not for bots: two of them would never stop. A message is posted to a few bots only, and not to bots for which
/// too many messages wait.
pub fn message_sent(
    tx: &mut Tx<'_>,
    message_id: MessageId,
    sender: &UserRow,
    destination: &Destination,
    mentioned: &[UserId],
) -> ApiResult<()> {
    // In channels, bots listen to their names only.
    let is_for_bots = !mentioned.is_empty() || matches!(destination, Destination::Direct(_));
    if sender.is_bot() || !is_for_bots {
        return Ok(());
    }
    let (mut called, mut queued) = (0, false);
    for bot_id in tx.kept(bots)?.0.iter().copied() {
        if called == MAX_BOTS_CALLED {
            break;
        }
        let trigger = match destination {
            Destination::Direct(user_ids) => user_ids.contains(&bot_id).then_some("direct_message"),
            Destination::Channel(stream, _) => {
                let is_mentioned = mentioned.contains(&bot_id)
                    && (stream.is_public() || rows::channel::is_subscribed(tx, bot_id, stream.stream_id)?);
                is_mentioned.then_some("mention")
            }
        };
        if let Some(trigger) = trigger {
            called += 1;
            if has_room(tx, sender.user_id, bot_id)? {
                insert(tx, message_id, bot_id, trigger, tx.now())?;
                queued = true;
            } else {
                tracing::warn!(%bot_id, %message_id, "a message is not posted, because too many wait");
            }
        }
    }
    if queued {
        tx.wake_tasks_after_commit();
    }
    Ok(())
}

/// True if one more message may wait for a bot: in all for the bots of its person, and of one sender, so that others cannot
/// take all places. Accounts that came by the same invitations are others, too.
fn has_room(tx: &Tx<'_>, sender_id: UserId, bot_id: UserId) -> ApiResult<bool> {
    let owners = Accounts::of(tx, bot_id, tx.now())?;
    let statement = "SELECT count(*) FROM outgoing_webhook WHERE bot_id IN (SELECT value FROM json_each(?1))";
    if !owners.have_room(statement, 1, MAX_WAITING_WEBHOOKS)? {
        return Ok(false);
    }
    if owners.is_own(sender_id) {
        return Ok(true);
    }
    let mut statement = tx.prepare_cached(
        "SELECT count(*) FROM outgoing_webhook JOIN message ON message.id = message_id
         WHERE bot_id IN (SELECT value FROM json_each(?1)) AND sender_id IN (SELECT value FROM json_each(?2))",
    )?;
    Accounts::of(tx, sender_id, tx.now())?.are_within(MAX_WAITING_WEBHOOKS_OF_SENDER, |senders| {
        let count: u32 = statement.query_row((owners.list(), senders.list()), |row| row.get(0))?;
        Ok(count as usize + 1)
    })
}

/// The active bots with an outgoing webhook.
#[derive(Clone)]
struct OutgoingBots(Arc<[UserId]>);

fn bots(connection: &Connection) -> rusqlite::Result<OutgoingBots> {
    let user_ids = connection
        // A number in the text, `BotType::OutgoingWebhook`, since the index holds only these rows.
        .prepare_cached("SELECT user_id FROM user WHERE bot_type = 3 AND is_active")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    Ok(OutgoingBots(user_ids))
}

fn insert(
    connection: &Connection,
    message_id: MessageId,
    bot_id: UserId,
    trigger: &str,
    now: i64,
) -> rusqlite::Result<()> {
    connection.execute_cached(
        "INSERT INTO outgoing_webhook (message_id, bot_id, \"trigger\", next_try) VALUES (?1, ?2, ?3, ?4)",
        (message_id, bot_id, trigger, now),
    )
}

/// A bot for which messages wait.
#[derive(Clone, Copy, Debug)]
pub struct WaitingBot {
    pub bot_id: UserId,
    /// The creator of the bot, whose quota it counts against.
    pub quota_owner: UserId,
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
        .query_map([], |row| Ok(WaitingBot { bot_id: row.get(0)?, quota_owner: row.get(1)? }))?
        .collect()
}

/// Removes all messages for a bot. Replies to those that are being posted are not sent.
pub fn remove_all(connection: &Connection, bot_id: UserId) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM outgoing_webhook WHERE bot_id = ?1", [bot_id])
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

/// Postpones a row after a failure.
pub fn postpone(connection: &Connection, id: i64, next_try: i64) -> rusqlite::Result<()> {
    connection.execute_cached(
        "UPDATE outgoing_webhook SET failed_tries = failed_tries + 1, next_try = ?2
         WHERE outgoing_webhook_id = ?1",
        (id, next_try),
    )
}

/// Postpones a row that is not tried now. This is not a failure.
pub fn defer(connection: &Connection, id: i64, next_try: i64) -> rusqlite::Result<()> {
    let statement = "UPDATE outgoing_webhook SET next_try = ?2 WHERE outgoing_webhook_id = ?1";
    connection.execute_cached(statement, (id, next_try))
}

/// Removes a row; returns false if there was none.
pub fn remove(connection: &Connection, id: i64) -> rusqlite::Result<bool> {
    let statement = "DELETE FROM outgoing_webhook WHERE outgoing_webhook_id = ?1";
    Ok(connection.prepare_cached(statement)?.execute([id])? > 0)
}
