//! Retention: deleting messages after `message_retention_days`, of the channel or the organization.
//!
//! An expired message is deleted as a user would delete it, with everything that belongs to it and with the events. The
//! messages themselves are the only state, so that messages that expire while the server is down are deleted later.

use crate::api::resource::Background;
use crate::app::App;
use crate::domain::messages::delete;
use crate::domain::{channels, messages, realm};
use crate::http::ApiResult;
use crate::scheduler;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, SECONDS_PER_DAY, TopicId};
use rusqlite::{Connection, OptionalExtension};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// The most messages that are found in one snapshot.
const BATCH: i64 = 500;

/// The most messages that are deleted in one step, fewer if they are long.
const STEP: usize = 50;

/// The task that deletes expired messages, once a minute.
pub const BACKGROUND: Background =
    |app, stopped| Box::pin(scheduler::run(app, stopped, |app| async move { remove_expired(&app).await }));

/// Deletes a batch of expired messages, the oldest of a conversation first. Returns the time of the next batch: now, or
/// `None` if nothing had expired. Nothing is deleted for a day after a jump of the clock, because a wrong date would
/// delete data permanently.
pub async fn remove_expired(app: &App) -> ApiResult<Option<i64>> {
    if !app.jump_detector.is_steady(&app.clock) {
        return Ok(None);
    }
    let now = app.clock.seconds();
    let mut cutoffs = Cutoffs { now, by_days: HashMap::new() };
    let found = app.readers.read(|snapshot| find_expired(snapshot, &mut cutoffs)).await?;
    if found.is_empty() {
        return Ok(None);
    }
    let mut expired = VecDeque::from(found);
    let remove = move |tx: &mut Tx<'_>| -> ApiResult<bool> {
        let count = messages::count_for_one_step(tx, expired.iter().take(STEP).copied())?;
        let some: Vec<MessageId> = expired.drain(..count.min(expired.len())).collect();
        remove(tx, &some, &mut cutoffs)?;
        Ok(expired.is_empty())
    };
    app.writer.run_in_steps("retention", remove).await?;
    Ok(Some(now))
}

/// The place of a message that is to be deleted.
type Place = (RecipientId, Option<TopicId>);

/// Deletes messages that are still expired: a setting may have changed, and a message may have moved or gone.
fn remove(tx: &mut Tx<'_>, ids: &[MessageId], cutoffs: &mut Cutoffs) -> ApiResult<()> {
    // By topic, with the topic as the newest of them spells it.
    let mut places: BTreeMap<Place, (String, Vec<MessageId>)> = BTreeMap::new();
    for id in ids {
        let Some((place, subject)) = place_of(tx, *id)? else { continue };
        let (spelling, ids) = places.entry(place).or_default();
        *spelling = subject;
        ids.push(*id);
    }
    let of_realm: i64 = realm::settings::MESSAGE_RETENTION_DAYS.get(tx)?;
    for ((recipient_id, _), (subject, mut ids)) in places {
        let stream = channels::by_recipient(tx, recipient_id)?;
        let of_channel = stream.as_ref().and_then(|stream| stream.message_retention_days);
        let days = of_channel.unwrap_or(of_realm);
        if days < 0 {
            continue;
        }
        let cutoff = cutoffs.of(tx, days)?;
        ids.retain(|id| *id < cutoff);
        match stream {
            _ if ids.is_empty() => {}
            Some(stream) => delete::from_channel(tx, &stream, &subject, &ids, None)?,
            None => delete::direct(tx, recipient_id, &ids)?,
        }
    }
    Ok(())
}

/// Finds a batch of expired messages of one channel, or of direct conversations. Costs two short statements without retention,
/// and a seek for each channel with it.
fn find_expired(connection: &Connection, cutoffs: &mut Cutoffs) -> ApiResult<Vec<MessageId>> {
    let of_realm: i64 = realm::settings::MESSAGE_RETENTION_DAYS.get(connection)?;
    for (recipient_id, days) in channels::limited_retention(connection, of_realm)? {
        let cutoff = cutoffs.of(connection, days)?;
        let found = in_channel_before(connection, recipient_id, cutoff, BATCH)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    if of_realm < 0 {
        return Ok(Vec::new());
    }
    let cutoff = cutoffs.of(connection, of_realm)?;
    Ok(direct_before(connection, cutoff, BATCH)?)
}

/// The oldest messages of a channel below an id.
fn in_channel_before(
    connection: &Connection,
    recipient_id: RecipientId,
    before: MessageId,
    limit: i64,
) -> rusqlite::Result<Vec<MessageId>> {
    connection
        .prepare_cached("SELECT id FROM message WHERE recipient_id = ?1 AND id < ?2 ORDER BY id LIMIT ?3")?
        .query_map((recipient_id, before, limit), |row| row.get(0))?
        .collect()
}

/// Direct messages below an id, by conversation.
fn direct_before(connection: &Connection, before: MessageId, limit: i64) -> rusqlite::Result<Vec<MessageId>> {
    connection
        .prepare_cached(
            "SELECT message.id FROM recipient CROSS JOIN message USING (recipient_id)
             WHERE user_ids IS NOT NULL AND message.id < ?1 LIMIT ?2",
        )?
        .query_map((before, limit), |row| row.get(0))?
        .collect()
}

/// The set of receivers and the topic of a message, with its spelling of the topic.
fn place_of(connection: &Connection, id: MessageId) -> rusqlite::Result<Option<(Place, String)>> {
    connection
        .prepare_cached("SELECT recipient_id, topic_id, subject FROM message WHERE id = ?1")?
        .query_row([id], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?)))
        .optional()
}

/// The first message that has not expired, by days of retention.
struct Cutoffs {
    /// In UNIX seconds.
    now: i64,
    by_days: HashMap<i64, MessageId>,
}

impl Cutoffs {
    /// Returns the id below which all messages are older than some days. Ids grow with time.
    fn of(&mut self, connection: &Connection, days: i64) -> ApiResult<MessageId> {
        if let Some(first) = self.by_days.get(&days) {
            return Ok(*first);
        }
        let since = self.now.saturating_sub(days.saturating_mul(SECONDS_PER_DAY));
        let first = match channels::first_message_since(connection, since)? {
            Some(first) => first,
            // All messages are older.
            None => MessageId(messages::newest_id(connection)?.0 + 1),
        };
        self.by_days.insert(days, first);
        Ok(first)
    }
}
