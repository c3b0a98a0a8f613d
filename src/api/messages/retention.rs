//! Removing what is too old: messages of channels after `message_retention_days` of the channel or the organization, and
//! direct messages after the organization's.
//!
//! A message that has expired is deleted as a user would delete it, with all that belongs to it and with the events of
//! that, so clients never know of messages that are not there. What expired while the server was down is removed when it
//! is back: only the messages themselves say what is left to do.

use crate::app::App;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::channels::rules::SECONDS_PER_DAY;
use crate::domain::channels::sql as channels;
use crate::domain::messages::{removal, sql};
use crate::domain::realm;
use crate::http::ApiResult;
use crate::http::Background;
use crate::scheduler;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, TopicId};
use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap};

/// Messages that are removed in one job, so that no request waits long behind it.
const BATCH: i64 = 500;

/// The task that looks once a minute.
pub const BACKGROUND: Background = |app, stopped| {
    Box::pin(scheduler::run(app, stopped, |app| Box::pin(async move { remove_expired(&app).await })))
};

/// Removes a batch of messages that have expired, the oldest of a conversation first. Answers that there may be more to do
/// now; `None` when there was nothing, and no time is worth waking for.
pub async fn remove_expired(app: &App) -> ApiResult<Option<i64>> {
    let now = app.clock.seconds();
    // Mostly nothing has expired, and the writer need not be asked.
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
                removal::remove_from_channel(tx, &stream, &subject, &ids, None)?;
            }
        }
        Some(Expired::Direct(conversations)) => {
            for (recipient_id, ids) in conversations {
                removal::remove_direct(tx, recipient_id, &ids)?;
            }
        }
        None => {}
    }
    Ok(())
}

/// Messages that have expired, as many as fit into a job; ids ascending.
enum Expired {
    /// Those of one channel by topic, each as its newest message here spells it.
    InChannel(Box<StreamRow>, BTreeMap<TopicId, (String, Vec<MessageId>)>),
    /// Direct messages by conversation.
    Direct(BTreeMap<RecipientId, Vec<MessageId>>),
}

impl Expired {
    /// Looks for some. Without any retention that is two short statements; else a seek for each channel.
    fn find(connection: &Connection, now: i64) -> ApiResult<Option<Self>> {
        let of_realm: i64 = realm::settings::MESSAGE_RETENTION_DAYS.get(connection)?;
        let mut cutoffs = Cutoffs { connection, now, known: HashMap::new() };
        for (recipient_id, days) in channels::limited_retention(connection, of_realm)? {
            let found = sql::in_channel_before(connection, recipient_id, cutoffs.of(days)?, BATCH)?;
            if found.is_empty() {
                continue;
            }
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
        for (id, recipient_id) in sql::direct_before(connection, cutoffs.of(of_realm)?, BATCH)? {
            conversations.entry(recipient_id).or_default().push(id);
        }
        Ok((!conversations.is_empty()).then_some(Self::Direct(conversations)))
    }
}

/// The first messages that have not expired, by days: channels with the same retention share one.
struct Cutoffs<'a> {
    connection: &'a Connection,
    now: i64,
    known: HashMap<i64, MessageId>,
}

impl Cutoffs<'_> {
    /// The id below which all messages are older than some days; ids grow with time.
    fn of(&mut self, days: i64) -> ApiResult<MessageId> {
        if let Some(known) = self.known.get(&days) {
            return Ok(*known);
        }
        let since = self.now.saturating_sub(days.saturating_mul(SECONDS_PER_DAY));
        let first = match channels::first_message_since(self.connection, since)? {
            Some(first) => first,
            // All of them are older.
            None => MessageId(sql::newest_id(self.connection)?.0 + 1),
        };
        self.known.insert(days, first);
        Ok(first)
    }
}
