//! A batch of deletions: a step of a job of the writer.

use crate::domain::channels;
use crate::domain::messages::delete;
use crate::domain::purge::sql::Found;
use crate::error::ApiResult;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, TopicId};
use std::collections::BTreeMap;

/// Maximum number of messages deleted by one batch, fewer if they are long, and of rows of an account checked.
pub const MESSAGES: i64 = 50;

/// Maximum number of files, groups and bots deleted by one batch. Events are sent to all users.
pub const OTHERS: usize = 5;

/// Result of a batch.
#[derive(Debug, Default)]
pub struct Batch {
    /// Numbers of deleted, deactivated or archived objects, by operation.
    pub done: BTreeMap<&'static str, u64>,
    /// Position of the next batch; `None` if nothing of the kind is left.
    pub next: Option<i64>,
}

impl Batch {
    /// Adds to a count.
    pub fn count(&mut self, what: &'static str, number: usize) {
        if number > 0 {
            *self.done.entry(what).or_default() += number as u64;
        }
    }

    /// Adds the batch that follows this one.
    pub fn add(&mut self, other: Self) {
        for (what, number) in other.done {
            *self.done.entry(what).or_default() += number;
        }
        self.next = other.next;
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
