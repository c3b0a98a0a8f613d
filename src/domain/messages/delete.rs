//! Deleting messages: rows and events.

use crate::domain::access;
use crate::domain::files::references;
use crate::domain::messages::audience::{by_known_messages, recipients};
use crate::domain::messages::events::MessagesDeleted;
use crate::domain::messages::receipts::moved;
use crate::domain::messages::{channel_summary, phones, reminders, sql};
use crate::domain::rows::channel::StreamRow;
use crate::error::ApiResult;
use crate::events::Audience;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, UserId};

/// Deletes messages of one topic, ascending. Everyone who could see some of them gets an event about those. `topic` is
/// the name that clients know. `deleter` gets the event even if they are not subscribed (feature level 274).
pub fn from_channel(
    tx: &mut Tx<'_>,
    stream: &StreamRow,
    topic: &str,
    ids: &[MessageId],
    deleter: Option<UserId>,
) -> ApiResult<()> {
    // The subscribers of a channel with public history get the event in any case.
    let group = if stream.has_public_history() {
        moved::group_by_former_receivers
    } else {
        moved::group_by_receivers
    };
    let groups = group(tx, stream.stream_id, stream.recipient_id, ids)?;
    let audience = recipients(tx, stream, ids, moved::all_receivers(&groups))?;
    let audience = match deleter {
        Some(user_id) if !audience.contains(user_id) => audience.with(user_id),
        _ => audience,
    };
    let notified = by_known_messages(stream, ids, &groups, audience);
    let summary = channel_summary::of(tx, stream)?;
    tx.withdraw_events(ids)?;
    references::release_deleted(tx, ids)?;
    reminders::forget_messages(tx, ids)?;
    let mentioned = phones::mentioned_in(tx, ids)?;
    for id in ids {
        sql::delete(tx, *id)?;
    }
    phones::messages_withdrawn(tx, &mentioned, ids)?;
    phones::channel_messages_withdrawn(tx, stream.stream_id, ids)?;
    moved::remove(tx, stream.recipient_id, &ids.iter().filter_map(|id| id.bit()).collect())?;
    for (ids, audience) in &notified {
        for event in MessagesDeleted::events(ids, Some((stream.stream_id, topic)), None) {
            tx.emit(event, audience.clone());
        }
    }
    channel_summary::emit_if_changed(tx, stream, summary)
}

/// Deletes messages of one direct conversation, ascending.
pub fn direct(tx: &mut Tx<'_>, recipient_id: RecipientId, ids: &[MessageId]) -> ApiResult<()> {
    let participants = access::messages::direct_user_ids(tx, recipient_id)?.unwrap_or_default();
    tx.withdraw_events(ids)?;
    references::release_deleted(tx, ids)?;
    reminders::forget_messages(tx, ids)?;
    for id in ids {
        sql::delete(tx, *id)?;
    }
    phones::messages_withdrawn(tx, &participants, ids)?;
    let audience = Audience::users(participants);
    for event in MessagesDeleted::events(ids, None, None) {
        tx.emit(event, audience.clone());
    }
    Ok(())
}

/// Withdraws the events of messages that are gone: version 0.1.0 left them in its files.
pub fn withdraw_gone(tx: &mut Tx<'_>) -> ApiResult<()> {
    let gone = tx
        .prepare_cached(
            "SELECT DISTINCT message_id FROM event WHERE message_id > 0
             AND NOT EXISTS (SELECT 1 FROM message WHERE message.id = event.message_id)",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<MessageId>>>()?;
    Ok(tx.withdraw_events(&gone)?)
}
