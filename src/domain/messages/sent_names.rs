//! Names that clients gave to recently sent messages: the queue and the local id of `POST /messages`. A client that did
//! not get the reply sends the same again, and receives the id of the stored message.

use crate::domain::messages::destination::Destination;
use crate::domain::messages::sql::NameCounts;
use crate::error::ApiResult;
use crate::events::QueueId;
use crate::store::{ExecuteCached, Tx};
use crate::types::{MessageId, UserId};
use rusqlite::{Connection, OptionalExtension};
use sha2::{Digest, Sha256};

/// Number of messages of a sender that keep their names.
const KEPT: i64 = 200;

/// The most senders whose names are counted.
const CAPACITY: usize = 4096;

/// The name of a message. The destination and the content are parts of it: a program that gives all its messages the same
/// local id is not taken for one that repeats itself.
pub struct SentName([u8; 32]);

impl SentName {
    /// Returns the name of a message with this destination and content.
    pub fn new((queue, local_id): &(QueueId, String), destination: &Destination, content: &str) -> Self {
        let (to, topic) = match destination {
            Destination::Channel(stream, topic) => (format!("channel {}", stream.stream_id), topic.as_str()),
            Destination::Direct(user_ids) => {
                let user_ids: Vec<String> = user_ids.iter().map(ToString::to_string).collect();
                (format!("direct {}", user_ids.join(" ")), "")
            }
        };
        let mut hasher = Sha256::new();
        for part in [&*queue.0, local_id, &to, topic, content] {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }
}

/// Returns the message of a sender with this name.
pub fn find(
    connection: &Connection,
    sender_id: UserId,
    name: &SentName,
) -> rusqlite::Result<Option<MessageId>> {
    connection
        .prepare_cached("SELECT message_id FROM sent_name WHERE sender_id = ?1 AND digest = ?2")?
        .query_row((sender_id, name.0), |row| row.get(0))
        .optional()
}

/// Keeps the name of a message that was sent, and drops the oldest name of the sender if there are too many. They are counted
/// once: counting takes longer than all else here.
pub fn keep(tx: &mut Tx<'_>, sender_id: UserId, name: &SentName, id: MessageId) -> ApiResult<()> {
    let known = tx.cache::<NameCounts>().and_then(|counts| counts.0.get(&sender_id)).copied();
    let mut count = match known {
        Some(count) => count,
        None => tx
            .prepare_cached("SELECT count(*) FROM sent_name WHERE sender_id = ?1")?
            .query_row([sender_id], |row| row.get(0))?,
    };
    tx.execute_cached(
        "INSERT INTO sent_name (sender_id, digest, message_id) VALUES (?1, ?2, ?3)",
        (sender_id, name.0, id),
    )?;
    count += 1;
    if count > KEPT {
        let statement = "DELETE FROM sent_name WHERE sender_id = ?1
             AND message_id = (SELECT min(message_id) FROM sent_name WHERE sender_id = ?1)";
        count -= tx.prepare_cached(statement)?.execute([sender_id])? as i64;
    }
    let counts = tx.cache_mut::<NameCounts>().1;
    if counts.0.len() >= CAPACITY {
        counts.0.clear();
    }
    counts.0.insert(sender_id, count);
    Ok(())
}
