//! Retention: deleting messages after `message_retention_days`, of the channel or the organization.
//!
//! An expired message is deleted as a user would delete it, with everything that belongs to it and with the events. The
//! messages themselves are the only state, so that messages that expire while the server is down are deleted later.

use crate::api::resource::Background;
use crate::app::App;
use crate::domain::channels::rules::SECONDS_PER_DAY;
use crate::domain::messages::delete;
use crate::domain::rows::channel::StreamRow;
use crate::domain::{channels, messages, realm};
use crate::http::ApiResult;
use crate::scheduler;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, TopicId};
use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap};

/// The most messages that are deleted in one job, so that no request waits long for it.
const BATCH: i64 = 500;

/// The task that deletes expired messages, once a minute.
pub const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| Box::pin(async move { remove_expired(&app).await })))
};

/// Deletes a batch of expired messages, the oldest of a conversation first. Returns the time of the next batch: now, or
/// `None` if nothing had expired. Nothing is deleted for a day after a jump of the clock, because a wrong date would
/// delete data permanently.
pub async fn remove_expired(app: &App) -> ApiResult<Option<i64>> {
    if !app.jump_detector.is_steady(&app.clock) {
        return Ok(None);
    }
    let now = app.clock.seconds();
    // Usually nothing has expired, and the writer is not needed.
    if app.readers.read(|snapshot| Expired::find(snapshot, now)).await?.is_none() {
        return Ok(None);
    }
    app.writer.run(remove_batch).await?;
    Ok(Some(now))
}

fn remove_batch(tx: &mut Tx<'_>) -> ApiResult<()> {
    match Expired::find(tx, tx.now())? {
        Some(Expired::InChannel(stream, topics)) => {
            for (subject, ids) in topics.into_values() {
                delete::from_channel(tx, &stream, &subject, &ids, None)?;
            }
        }
        Some(Expired::Direct(conversations)) => {
            for (recipient_id, ids) in conversations {
                delete::direct(tx, recipient_id, &ids)?;
            }
        }
        None => {}
    }
    Ok(())
}

/// A batch of expired messages; ids ascending.
enum Expired {
    /// Messages of one channel by topic, with the topic as the newest of them spells it.
    InChannel(Box<StreamRow>, BTreeMap<TopicId, (String, Vec<MessageId>)>),
    /// Direct messages by conversation.
    Direct(BTreeMap<RecipientId, Vec<MessageId>>),
}

impl Expired {
    /// Finds a batch. Costs two short statements without retention, and a seek for each channel with it.
    fn find(connection: &Connection, now: i64) -> ApiResult<Option<Self>> {
        let of_realm: i64 = realm::settings::MESSAGE_RETENTION_DAYS.get(connection)?;
        let mut cutoffs = Cutoffs { connection, now, by_days: HashMap::new() };
        for (recipient_id, days) in channels::limited_retention(connection, of_realm)? {
            let mut found = messages::in_channel_before(connection, recipient_id, cutoffs.of(days)?, BATCH)?;
            if found.is_empty() {
                continue;
            }
            found.truncate(messages::count_for_one_job(connection, found.iter().map(|(id, ..)| *id))?);
            let mut topics: BTreeMap<TopicId, (String, Vec<MessageId>)> = BTreeMap::new();
            for (id, topic_id, subject) in found {
                let (spelling, ids) = topics.entry(topic_id).or_default();
                *spelling = subject;
                ids.push(id);
            }
            let stream = channels::by_recipient(connection, recipient_id)?;
            return Ok(stream.map(|stream| Self::InChannel(Box::new(stream), topics)));
        }
        if of_realm < 0 {
            return Ok(None);
        }
        let mut conversations: BTreeMap<RecipientId, Vec<MessageId>> = BTreeMap::new();
        let mut found = messages::direct_before(connection, cutoffs.of(of_realm)?, BATCH)?;
        found.truncate(messages::count_for_one_job(connection, found.iter().map(|(id, _)| *id))?);
        for (id, recipient_id) in found {
            conversations.entry(recipient_id).or_default().push(id);
        }
        Ok((!conversations.is_empty()).then_some(Self::Direct(conversations)))
    }
}

/// The first message that has not expired, by days of retention.
struct Cutoffs<'a> {
    connection: &'a Connection,
    now: i64,
    by_days: HashMap<i64, MessageId>,
}

impl Cutoffs<'_> {
    /// Returns the id below which all messages are older than some days. Ids grow with time.
    fn of(&mut self, days: i64) -> ApiResult<MessageId> {
        if let Some(first) = self.by_days.get(&days) {
            return Ok(*first);
        }
        let since = self.now.saturating_sub(days.saturating_mul(SECONDS_PER_DAY));
        let first = match channels::first_message_since(self.connection, since)? {
            Some(first) => first,
            // All messages are older.
            None => MessageId(messages::newest_id(self.connection)?.0 + 1),
        };
        self.by_days.insert(days, first);
        Ok(first)
    }
}
