//! Removing messages, whoever asks for it: rows and events.

use crate::domain::access::channel_rows::StreamRow;
use crate::domain::messages::events::MessagesDeleted;
use crate::domain::messages::receivers::{by_what_they_know, hearers};
use crate::domain::messages::{channel_summary, file_references, moved_receipts, sql};
use crate::events::Audience;
use crate::http::ApiResult;
use crate::store::Tx;
use crate::types::{MessageId, RecipientId, UserId};

/// Removes messages of one topic, ascending, and tells each who could see any of them of those. `topic` is how clients
/// know it. `deleter` is who asked for it, and sees all of them: they hear of it also where they are not subscribed
/// (feature level 274).
pub fn remove_from_channel(
    tx: &mut Tx<'_>,
    stream: &StreamRow,
    topic: &str,
    ids: &[MessageId],
    deleter: Option<UserId>,
) -> ApiResult<()> {
    let groups = moved_receipts::group_by_receivers(tx, stream.stream_id, stream.recipient_id, ids)?;
    let audience = hearers(tx, stream, ids, moved_receipts::all_users(&groups))?;
    let audience = match deleter {
        Some(user_id) if !audience.contains(user_id) => audience.with(user_id),
        _ => audience,
    };
    let told = by_what_they_know(stream, ids, &groups, audience);
    let first = channel_summary::of(tx, stream)?;
    file_references::release_deleted(tx, ids)?;
    for id in ids {
        sql::delete(tx, *id)?;
    }
    moved_receipts::remove(tx, stream.recipient_id, &ids.iter().filter_map(|id| id.bit()).collect())?;
    for (ids, audience) in &told {
        for event in MessagesDeleted::events(ids, Some((stream.stream_id, topic))) {
            tx.emit(event, audience.clone());
        }
    }
    channel_summary::tell_if_changed(tx, stream, first)
}

/// Removes messages of one direct conversation, ascending.
pub fn remove_direct(tx: &mut Tx<'_>, recipient_id: RecipientId, ids: &[MessageId]) -> ApiResult<()> {
    let people = sql::direct_user_ids(tx, recipient_id)?.unwrap_or_default();
    file_references::release_deleted(tx, ids)?;
    for id in ids {
        sql::delete(tx, *id)?;
    }
    let audience = Audience::users(people);
    for event in MessagesDeleted::events(ids, None) {
        tx.emit(event, audience.clone());
    }
    Ok(())
}
