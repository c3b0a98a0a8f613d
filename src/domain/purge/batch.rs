//! A batch of what is removed, in one job of the writer.

use crate::domain::channels::sql as channels;
use crate::domain::messages::delete;
use crate::domain::purge::sql::Found;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, TopicId, UserId};
use std::collections::BTreeMap;

/// How many messages one batch deletes at most, and how many rows of an account are looked at.
pub const MESSAGES: i64 = 200;

/// How many files, groups and bots one batch removes at most. Events go to everybody.
pub const OTHERS: usize = 20;

/// What a batch did.
#[derive(Debug, Default)]
pub struct Batch {
    /// How many things were removed, deactivated or archived, by what was done.
    pub done: BTreeMap<&'static str, u64>,
    /// Where the next batch goes on; `None` if nothing is left of the kind.
    pub next: Option<i64>,
    /// Users who were deactivated: the caller ends their event queues after the job.
    pub deactivated: Vec<UserId>,
}

impl Batch {
    /// Counts what was done.
    pub fn count(&mut self, what: &'static str, number: usize) {
        if number > 0 {
            *self.done.entry(what).or_default() += number as u64;
        }
    }
}

/// Deletes messages, ascending, wherever they are.
pub fn delete_messages(tx: &mut Tx<'_>, found: Vec<Found>) -> ApiResult<()> {
    let mut places: BTreeMap<(RecipientId, Option<TopicId>), (String, Vec<MessageId>)> = BTreeMap::new();
    for message in found {
        let (spelling, ids) = places.entry((message.recipient_id, message.topic_id)).or_default();
        *spelling = message.subject;
        ids.push(message.id);
    }
    for ((recipient_id, _), (subject, ids)) in places {
        match channels::by_recipient(tx, recipient_id)? {
            Some(stream) => delete::from_channel(tx, &stream, &subject, &ids, None)?,
            None => delete::direct(tx, recipient_id, &ids)?,
        }
    }
    Ok(())
}
