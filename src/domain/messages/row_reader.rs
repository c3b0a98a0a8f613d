//! Reading messages from rows without copying their texts.

use crate::domain::images::avatar::Avatar;
use crate::types::{ClientId, IdMap, MessageId, RecipientId, UserId};
use rusqlite::types::Value;
use rusqlite::{Connection, Row};
use std::rc::Rc;

/// A message in the current row of a statement. Texts are borrowed from SQLite, and a content that is not asked for is not
/// read.
pub struct MessageView<'r, 's>(&'r Row<'s>);

impl<'r> MessageView<'r, '_> {
    /// The numeric columns of the row.
    pub fn head(&self) -> rusqlite::Result<MessageHead> {
        let row = self.0;
        Ok(MessageHead {
            id: row.get(0)?,
            recipient_id: row.get(1)?,
            sender_id: row.get(2)?,
            timestamp: row.get(3)?,
            attributes: row.get(4)?,
            last_edit_timestamp: row.get(5)?,
            last_moved_timestamp: row.get(6)?,
            client_id: row.get(10)?,
        })
    }

    /// The topic.
    pub fn subject(&self) -> rusqlite::Result<&'r str> {
        self.text(7)
    }

    /// Markdown.
    pub fn content(&self) -> rusqlite::Result<&'r str> {
        self.text(8)
    }

    /// HTML.
    pub fn rendered_content(&self) -> rusqlite::Result<&'r str> {
        self.text(9)
    }

    fn text(&self, column: usize) -> rusqlite::Result<&'r str> {
        Ok(self.0.get_ref(column)?.as_str()?)
    }
}

/// The numeric columns of a message.
#[derive(Clone, Copy, Debug)]
pub struct MessageHead {
    pub id: MessageId,
    /// Its set of receivers.
    pub recipient_id: RecipientId,
    pub sender_id: UserId,
    /// UNIX seconds.
    pub timestamp: i64,
    /// Bits of [`crate::domain::messages::record::attribute`].
    pub attributes: i64,
    /// UNIX seconds; `None` if the content was never edited.
    pub last_edit_timestamp: Option<i64>,
    /// UNIX seconds; `None` if it was never moved.
    pub last_moved_timestamp: Option<i64>,
    /// The program that sent it.
    pub client_id: ClientId,
}

impl MessageHead {
    /// True if an attribute's bit is set.
    pub fn has(&self, attribute: i64) -> bool {
        self.attributes & attribute != 0
    }
}

/// Reads messages by id, in the order of `ids`.
pub fn for_each_row<E: From<rusqlite::Error>>(
    connection: &Connection,
    ids: &[MessageId],
    mut each: impl FnMut(&MessageView<'_, '_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut statement = connection.prepare_cached(
        "SELECT message.id, recipient_id, sender_id, timestamp, attributes, last_edit_timestamp,
             last_moved_timestamp, subject, content, rendered_content, client_id
         FROM rarray(?1) AS wanted CROSS JOIN message ON message.id = wanted.value",
    )?;
    let mut rows = statement.query([list_of(ids.iter().map(|id| id.0))])?;
    while let Some(row) = rows.next()? {
        each(&MessageView(row))?;
    }
    Ok(())
}

/// The flags that a user has on messages, without messages that have none. One range scan over the user's flagged
/// messages, unless there are many others between the first and the last.
pub fn flags_on(
    connection: &Connection,
    user_id: UserId,
    ids: &[MessageId],
) -> rusqlite::Result<IdMap<MessageId, i64>> {
    let most_between = ids.len().max(256);
    let (Some(first), Some(last)) = (ids.iter().min(), ids.iter().max()) else { return Ok(IdMap::default()) };
    let between: IdMap<MessageId, i64> = connection
        .prepare_cached(
            "SELECT message_id, flags FROM user_message_flags
             WHERE user_id = ?1 AND message_id BETWEEN ?2 AND ?3 LIMIT ?4",
        )?
        .query_map((user_id, first, last, most_between as i64), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    if between.len() < most_between {
        return Ok(between);
    }
    connection
        .prepare_cached(
            "SELECT message_id, flags FROM rarray(?1) AS wanted CROSS JOIN user_message_flags
             ON user_id = ?2 AND message_id = wanted.value",
        )?
        .query_map((list_of(ids.iter().map(|id| id.0)), user_id), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// The parts of a sender that messages show.
pub struct SenderView<'r> {
    pub full_name: &'r str,
    /// The API email.
    pub email: &'r str,
    /// The image, with the user's id.
    pub avatar: Avatar,
}

/// Visits users, in any order.
pub fn for_each_sender<E: From<rusqlite::Error>>(
    connection: &Connection,
    ids: &[UserId],
    mut visit: impl FnMut(SenderView<'_>) -> Result<(), E>,
) -> Result<(), E> {
    if ids.is_empty() {
        return Ok(());
    }
    let mut statement = connection.prepare_cached(
        "SELECT user_id, full_name, email, avatar_version, avatar_key
         FROM rarray(?1) AS wanted CROSS JOIN user ON user_id = wanted.value",
    )?;
    let mut rows = statement.query([list_of(ids.iter().map(|id| id.0))])?;
    while let Some(row) = rows.next()? {
        let text = |column| Ok::<_, rusqlite::Error>(row.get_ref(column)?.as_str()?);
        let avatar = Avatar { user_id: row.get(0)?, version: row.get(3)?, key: row.get(4)? };
        visit(SenderView { full_name: text(1)?, email: text(2)?, avatar })?;
    }
    Ok(())
}

fn list_of(ids: impl Iterator<Item = i64>) -> Rc<Vec<Value>> {
    Rc::new(ids.map(Value::Integer).collect())
}
