//! Archiving channels, and bringing them back.

use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::messages::moved_receipts;
use crate::domain::access::{channel_rows, channel_viewers};
use crate::domain::channels::events::StreamUpdated;
use crate::domain::channels::record::record;
use crate::domain::channels::{default_groups, events, sql};
use crate::domain::membership::subscribe;
use crate::domain::messages::read_state;
use crate::domain::messages::read_state::unlisted::Unlisted;
use crate::domain::notices::channels as notices;
use crate::domain::subscriptions::sql as subscriptions;
use crate::events::Audience;
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::UserId;

/// Archives or unarchives a channel. Archiving also takes it out of the default channels.
pub fn set_archived(tx: &mut Tx<'_>, by: UserId, stream: &StreamRow, is_archived: bool) -> ApiResult<()> {
    check_set_archived(tx, stream, is_archived)?;
    if is_archived {
        if sql::set_default(tx, stream.stream_id, false)? {
            events::emit_default_streams(tx)?;
        }
        default_groups::remove_from_all(tx, stream.stream_id)?;
    }
    let mut changed = stream.clone();
    changed.is_archived = is_archived;
    sql::update(tx, &changed)?;
    let record = record(tx, tx.now(), &changed)?;
    let audience = channel_viewers::users_who_can_see(tx, tx.now(), stream)?;
    tx.emit(StreamUpdated::archived(stream, record.clone()), Audience::set(audience));
    if !is_archived {
        subscribe::emit_unarchived(tx, &changed, &record)?;
    }
    notices::send(tx, vec![notices::archived(&changed)], by)
}

/// Marks all messages of a channel as read: many clients do not show archived channels, so nobody could read them
/// there. Of very many users, some are told by further jobs.
pub fn mark_read_for_subscribers(tx: &mut Tx<'_>, stream: &StreamRow) -> ApiResult<()> {
    let arrivals = moved_receipts(tx, stream.recipient_id)?;
    let mut unread = Unlisted::default();
    for user_id in subscriptions::subscribers_with_deactivated(tx, stream.stream_id)? {
        let user_id = UserId::from(user_id);
        let gaps = read_state::mark_channel_read(tx, user_id, stream, &arrivals)?;
        unread.add(user_id, stream.recipient_id, &gaps);
    }
    unread.emit(tx)
}

fn check_set_archived(tx: &Tx<'_>, stream: &StreamRow, is_archived: bool) -> ApiResult<()> {
    if stream.is_archived && is_archived {
        return Err(ApiError::bad_request("Channel is already deactivated"));
    }
    if !stream.is_archived && !is_archived {
        return Err(ApiError::bad_request("Channel is not currently deactivated"));
    }
    // Only administrators could see it, and nobody could read it.
    let subscribers = channel_rows::subscribers(tx, stream.stream_id)?;
    if !is_archived && stream.invite_only && subscribers.is_empty() {
        return Err(ApiError::bad_request("Channel is private and have no subscribers"));
    }
    Ok(())
}
