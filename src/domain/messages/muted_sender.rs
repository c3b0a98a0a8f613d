//! Reading all of what somebody sent, for whoever has muted them.

use crate::domain::messages::access::{Ranges, Sight, contains};
use crate::domain::messages::events::FlagsChanged;
use crate::domain::messages::unread;
use crate::domain::subscriptions::sql as subscriptions;
use crate::events::Audience;
use crate::http::{ApiResult, Caller};
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, UserId};
use rusqlite::Connection;
use std::collections::HashMap;

/// Marks everything unread that a sender has sent to the caller as read, and tells the caller's clients.
pub fn mark_read(tx: &mut Tx<'_>, caller: &Caller, sender_id: UserId) -> ApiResult<()> {
    let mut changed = Vec::new();
    for (recipient_id, ids) in unread_of_sender(tx, caller, sender_id)? {
        changed.extend(unread::mark_read(tx, caller.user_id, recipient_id, &ids)?);
    }
    if !changed.is_empty() {
        changed.sort_unstable();
        tx.emit(FlagsChanged::new(true, "read", &changed, None), Audience::user(caller.user_id));
    }
    Ok(())
}

/// The unread messages of a sender by conversation, ascending. One walk over what they sent since the first that the
/// caller may not have read, however many conversations there are.
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
        "SELECT id, recipient_id FROM message INDEXED BY message_sender WHERE sender_id = ?1 AND id >= ?2 ORDER BY id",
    )?;
    let mut rows = statement.query((sender_id, first))?;
    while let Some(row) = rows.next()? {
        let (id, recipient_id): (MessageId, RecipientId) = (row.get(0)?, row.get(1)?);
        if unread.get(&recipient_id).is_some_and(|ranges| contains(ranges, id)) {
            found.entry(recipient_id).or_default().push(id);
        }
    }
    Ok(found)
}

/// The ids that the caller received and has not read, by conversation: of their channels, and of the direct conversations
/// that the sender takes part in.
fn unread_ranges(tx: &Tx<'_>, caller: &Caller, sender_id: UserId) -> ApiResult<HashMap<RecipientId, Ranges>> {
    let sight = Sight::new(tx, caller, tx.now());
    let channels = subscriptions::own(tx, caller.user_id)?.into_iter().map(|own| own.recipient_id);
    let mut unread = HashMap::new();
    for recipient_id in channels.chain(common_conversations(tx, caller.user_id, sender_id)?) {
        let (view, read) = (sight.view(recipient_id)?, sight.read_set(recipient_id)?);
        let gaps: Ranges = view.received.iter().flat_map(|received| read.gaps(received.clone())).collect();
        if !gaps.is_empty() {
            unread.insert(recipient_id, gaps);
        }
    }
    Ok(unread)
}

/// The direct conversations that both of two users take part in.
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
