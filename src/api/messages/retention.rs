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
use std::collections::{HashMap, VecDeque};

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
    // Each step is about one topic: its receivers are looked up once, and a channel may have very many.
    let step = move |tx: &mut Tx<'_>| -> ApiResult<bool> {
        let Some((place, _)) = expired.front().copied() else { return Ok(true) };
        let same = expired.iter().take(STEP).take_while(|(of, _)| *of == place).map(|(_, id)| *id);
        let count = messages::count_for_one_step(tx, same)?;
        let ids: Vec<MessageId> = expired.drain(..count).map(|(_, id)| id).collect();
        remove(tx, place, &ids, &mut cutoffs)?;
        Ok(expired.is_empty())
    };
    app.writer.run_in_steps("retention", step).await?;
    Ok(Some(now))
}

/// The conversation of a message that is to be deleted.
type Place = (RecipientId, Option<TopicId>);

/// Deletes messages of one conversation that are still expired: a setting may have changed, and a message may have moved or gone.
fn remove(tx: &mut Tx<'_>, place: Place, ids: &[MessageId], cutoffs: &mut Cutoffs) -> ApiResult<()> {
    let stream = channels::by_recipient(tx, place.0)?;
    let days = match stream.as_ref().and_then(|stream| stream.message_retention_days) {
        Some(days) => days,
        None => realm::settings::MESSAGE_RETENTION_DAYS.get(tx)?,
    };
    if days < 0 {
        return Ok(());
    }
    let cutoff = cutoffs.of(tx, days)?;
    // With the topic as the newest of them spells it.
    let (mut spelling, mut left) = (String::new(), Vec::new());
    for id in ids.iter().copied().filter(|id| *id < cutoff) {
        if let Some(subject) = subject_in(tx, id, place)? {
            spelling = subject;
            left.push(id);
        }
    }
    match stream {
        _ if left.is_empty() => Ok(()),
        Some(stream) => delete::from_channel(tx, &stream, &spelling, &left, None),
        None => delete::direct(tx, place.0, &left),
    }
}

/// Finds a batch of expired messages of one channel, or of direct conversations, by conversation. Costs two short statements without
/// retention, and a seek for each channel with it.
fn find_expired(connection: &Connection, cutoffs: &mut Cutoffs) -> ApiResult<Vec<(Place, MessageId)>> {
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

/// The oldest messages of a channel below an id, by topic.
fn in_channel_before(
    connection: &Connection,
    recipient_id: RecipientId,
    before: MessageId,
    limit: i64,
) -> rusqlite::Result<Vec<(Place, MessageId)>> {
    let mut found = connection
        .prepare_cached(
            "SELECT topic_id, id FROM message WHERE recipient_id = ?1 AND id < ?2 ORDER BY id LIMIT ?3",
        )?
        .query_map((recipient_id, before, limit), |row| Ok(((recipient_id, row.get(0)?), row.get(1)?)))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    found.sort_unstable();
    Ok(found)
}

/// Direct messages below an id, by conversation.
fn direct_before(
    connection: &Connection,
    before: MessageId,
    limit: i64,
) -> rusqlite::Result<Vec<(Place, MessageId)>> {
    connection
        .prepare_cached(
            "SELECT recipient_id, message.id FROM recipient CROSS JOIN message USING (recipient_id)
             WHERE user_ids IS NOT NULL AND message.id < ?1 LIMIT ?2",
        )?
        .query_map((before, limit), |row| Ok(((row.get(0)?, None), row.get(1)?)))?
        .collect()
}

/// A message's spelling of its topic; `None` if it is not in this conversation any more.
fn subject_in(connection: &Connection, id: MessageId, place: Place) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT subject FROM message WHERE id = ?1 AND recipient_id = ?2 AND topic_id IS ?3")?
        .query_row((id, place.0, place.1), |row| row.get(0))
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
