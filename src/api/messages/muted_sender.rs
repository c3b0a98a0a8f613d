//! Reading all of what somebody sent, for whoever has muted them.

use super::events::FlagsChanged;
use super::sight::Sight;
use super::{sql, unread};
use crate::api::subscriptions::sql as subscriptions;
use crate::events::Audience;
use crate::http::{ApiResult, Caller};
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, UserId};

/// Marks everything unread that a sender has sent to the caller as read, and tells the caller's clients.
pub fn mark_read(tx: &mut Tx<'_>, caller: &Caller, sender_id: UserId) -> ApiResult<()> {
    let channels = subscriptions::own(tx, caller.user_id)?.into_iter().map(|own| own.recipient_id);
    let conversations: Vec<RecipientId> =
        channels.chain(sql::direct_recipients(tx, caller.user_id)?).collect();
    let mut changed = Vec::new();
    for recipient_id in conversations {
        let ids = unread_of_sender(tx, caller, recipient_id, sender_id)?;
        changed.extend(unread::mark_read(tx, caller.user_id, recipient_id, &ids)?);
    }
    if !changed.is_empty() {
        changed.sort_unstable();
        tx.emit(&FlagsChanged::new(true, "read", &changed, None), Audience::user(caller.user_id));
    }
    Ok(())
}

/// The unread messages of a sender in a conversation, ascending: those in the gaps of what is read.
fn unread_of_sender(
    tx: &Tx<'_>,
    caller: &Caller,
    recipient_id: RecipientId,
    sender_id: UserId,
) -> ApiResult<Vec<MessageId>> {
    let sight = Sight::new(tx, caller, tx.now());
    let view = sight.view(recipient_id)?;
    if view.stream.is_none() && !view.people.contains(&sender_id) {
        return Ok(Vec::new());
    }
    let read = sight.read_set(recipient_id)?;
    let mut statement = tx.prepare_cached(
        "SELECT id FROM message WHERE recipient_id = ?1 AND id BETWEEN ?2 AND ?3 AND sender_id = ?4 ORDER BY id",
    )?;
    let mut ids = Vec::new();
    for received in &view.received {
        for gap in read.gaps(received.clone()) {
            let found =
                statement.query_map((recipient_id, gap.start(), gap.end(), sender_id), |row| row.get(0))?;
            ids.extend(found.collect::<Result<Vec<MessageId>, _>>()?);
        }
    }
    Ok(ids)
}
