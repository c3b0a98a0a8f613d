//! Drafts: their records, and changes that other resources cause.

use crate::error::ApiResult;
use crate::events::{Audience, uniform_event};
use crate::store::{ExecuteCached, Tx, json_column};
use crate::types::{StreamId, UserId};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};
use serde::{Deserialize, Serialize};

/// The kind of recipient of a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DraftType {
    /// No recipient yet.
    #[serde(rename = "")]
    Unaddressed,
    /// A channel and topic.
    Stream,
    /// A direct message.
    Private,
}

/// A draft of a message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Draft {
    /// The draft's id.
    pub id: i64,
    /// `stream` for a channel message, `private` for a direct message, empty without a recipient.
    pub r#type: DraftType,
    /// For `stream`, a list with the id of the channel; for `private`, the user ids of the recipients without the
    /// caller; otherwise empty.
    pub to: Vec<i64>,
    /// The topic; empty except for `stream`.
    pub topic: String,
    /// The text in Markdown.
    pub content: String,
    /// When it was last edited, in UNIX seconds.
    pub timestamp: i64,
}

/// `drafts`, `op: update`: a draft was replaced.
#[derive(Serialize, Deserialize)]
pub struct DraftChanged {
    draft: Draft,
}

impl DraftChanged {
    /// A changed draft.
    pub fn new(draft: Draft) -> Self {
        Self { draft }
    }
}

uniform_event!(DraftChanged: "drafts", op "update", version 1);

/// Reads a draft from the columns `id`, `stream_id`, `user_ids`, `topic`, `content` and `last_edit_time`.
pub fn read_row(row: &Row<'_>) -> rusqlite::Result<Draft> {
    let (r#type, to) = match row.get(1)? {
        Some(stream_id) => (DraftType::Stream, vec![stream_id]),
        None if row.get_ref(2)? == ValueRef::Null => (DraftType::Unaddressed, Vec::new()),
        None => (DraftType::Private, json_column(row, 2)?),
    };
    Ok(Draft {
        id: row.get(0)?,
        r#type,
        to,
        topic: row.get(3)?,
        content: row.get(4)?,
        timestamp: row.get(5)?,
    })
}

/// Deletes the drafts of a user who turns off their synchronization. Emits nothing: clients keep their own copies.
pub fn delete_all(connection: &Connection, user_id: UserId) -> rusqlite::Result<()> {
    connection.execute_cached("DELETE FROM draft WHERE user_id = ?1", [user_id])
}

/// Removes the recipient of all drafts for a channel that is being deleted. The texts stay.
pub fn remove_channel(tx: &mut Tx<'_>, stream_id: StreamId) -> ApiResult<()> {
    let changed: Vec<(UserId, Draft)> = tx
        .prepare_cached(
            "UPDATE draft SET stream_id = NULL, topic = ''
             WHERE stream_id = ?1 AND user_id IN (SELECT user_id FROM user)
             RETURNING id, stream_id, user_ids, topic, content, last_edit_time, user_id",
        )?
        .query_map([stream_id], |row| Ok((row.get(6)?, read_row(row)?)))?
        .collect::<Result<_, _>>()?;
    for (user_id, draft) in changed {
        tx.emit(DraftChanged::new(draft), Audience::user(user_id));
    }
    Ok(())
}
