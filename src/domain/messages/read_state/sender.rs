//! Marking the messages of a sender as read, when a user mutes them.

use crate::auth::Caller;
use crate::domain::access::messages::{Ranges, contains};
use crate::domain::limits::MAX_MUTED_MESSAGES;
use crate::domain::messages::events::FlagsChanged;
use crate::domain::messages::read_state;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::subscriptions;
use crate::error::ApiResult;
use crate::events::Audience;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, UserId};
use rusqlite::Connection;
use std::collections::HashMap;

/// Marks the unread messages of a sender as read for the caller, of the newest [`MAX_MUTED_MESSAGES`], and emits that.
pub fn mark_sender_read(tx: &mut Tx<'_>, caller: &Caller, sender_id: UserId) -> ApiResult<()> {
    let mut changed = Vec::new();
    for (recipient_id, ids) in unread_of_sender(tx, caller, sender_id)? {
        changed.extend(read_state::mark_read(tx, caller.user_id, recipient_id, &ids)?);
    }
    if !changed.is_empty() {
        changed.sort_unstable();
        tx.emit(FlagsChanged::new(true, "read", &changed, None), Audience::user(caller.user_id));
    }
    Ok(())
}

/// The caller's unread messages of a sender by conversation, ascending. One scan over the sender's messages from the
/// newest to the caller's first unread one, however many conversations there are, or to the limit.
fn unread_of_sender(
    tx: &Tx<'_>,
    caller: &Caller,
    sender_id: UserId,
) -> ApiResult<HashMap<RecipientId, Vec<MessageId>>> {
    let mut found: HashMap<RecipientId, Vec<MessageId>> = HashMap::new();
    let unread = unread_ranges(tx, caller, sender_id)?;
    let Some(first) = unread.values().filter_map(|ranges| ranges.first()).map(|range| *range.start()).min()
    else {
        return Ok(found);
    };
    let mut statement = tx.prepare_cached(
        "SELECT id, recipient_id FROM message INDEXED BY message_sender WHERE sender_id = ?1 AND id >= ?2
         ORDER BY id DESC LIMIT ?3",
    )?;
    let mut rows = statement.query((sender_id, first, MAX_MUTED_MESSAGES))?;
    while let Some(row) = rows.next()? {
        let (id, recipient_id): (MessageId, RecipientId) = (row.get(0)?, row.get(1)?);
        if unread.get(&recipient_id).is_some_and(|ranges| contains(ranges, id)) {
            found.entry(recipient_id).or_default().push(id);
        }
    }
    for ids in found.values_mut() {
        ids.reverse();
    }
    Ok(found)
}

/// The ids that the caller received and has not read, by conversation: of their channels, and of direct conversations
/// with the sender.
fn unread_ranges(tx: &Tx<'_>, caller: &Caller, sender_id: UserId) -> ApiResult<HashMap<RecipientId, Ranges>> {
    let viewer = MessageViewer::new(tx.ctx(caller));
    let channels = subscriptions::own(tx, caller.user_id)?.into_iter().map(|own| own.recipient_id);
    let mut unread = HashMap::new();
    for recipient_id in channels.chain(common_conversations(tx, caller.user_id, sender_id)?) {
        let (conversation, read) = (viewer.conversation(recipient_id)?, viewer.read_set(recipient_id)?);
        let gaps: Ranges =
            conversation.received.iter().flat_map(|received| read.gaps(received.clone())).collect();
        if !gaps.is_empty() {
            unread.insert(recipient_id, gaps);
        }
    }
    Ok(unread)
}

/// The direct conversations of two users.
fn common_conversations(
    connection: &Connection,
    one: UserId,
    other: UserId,
) -> rusqlite::Result<Vec<RecipientId>> {
    connection
        .prepare_cached(
            "SELECT recipient_id FROM direct_participant AS own
                 JOIN direct_participant AS other USING (recipient_id)
             WHERE own.user_id = ?1 AND other.user_id = ?2",
        )?
        .query_map((one, other), |row| row.get(0))?
        .collect()
}
