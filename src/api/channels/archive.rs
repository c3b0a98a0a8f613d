//! `DELETE /streams/{stream_id}`: archiving a channel. Its messages stay and can be read; nothing can be sent to it.

use crate::api::channels::default;
use crate::auth::Ctx;
use crate::domain::access::channel_rows;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::{channel_viewers, channels};
use crate::domain::channels::events::StreamUpdated;
use crate::domain::channels::record::record;
use crate::domain::channels::{default_groups, sql};
use crate::domain::messages::events::FlagsChanged;
use crate::domain::messages::{moved_receipts, unread};
use crate::domain::notices::channels as notices;
use crate::domain::{membership, subscriptions as domain_subscriptions};
use crate::events::Audience;
use crate::http::{ApiError, ApiResult, Reply, User};
use crate::store::Tx;
use crate::types::{MessageId, StreamId, UserId};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Parameters of `DELETE /streams/{stream_id}`.
#[derive(Deserialize)]
pub struct ArchiveParams {
    /// The channel.
    stream_id: StreamId,
}

/// `DELETE /streams/{stream_id}`: archives a channel.
pub fn archive(tx: &mut Tx<'_>, caller: &User, params: ArchiveParams) -> ApiResult<Reply> {
    let stream = channels::find_to_administer(Ctx::in_job(tx, caller), params.stream_id)?;
    set_archived(tx, caller.user_id, &stream, true)?;
    Ok(Reply::ok())
}

/// Archives a channel, or brings it back.
pub fn set_archived(tx: &mut Tx<'_>, by: UserId, stream: &StreamRow, is_archived: bool) -> ApiResult<()> {
    check(tx, stream, is_archived)?;
    if is_archived {
        default::set(tx, stream.stream_id, false)?;
        default_groups::forget(tx, stream.stream_id)?;
    }
    let mut changed = stream.clone();
    changed.is_archived = is_archived;
    sql::update(tx, &changed)?;
    let record = record(tx, tx.now(), &changed)?;
    let audience = channel_viewers::users_who_can_see(tx, tx.now(), stream)?;
    tx.emit(StreamUpdated::archived(stream, record.clone()), Audience::set(audience));
    if !is_archived {
        membership::subscribe::emit_unarchived(tx, &changed, &record)?;
    }
    notices::send(tx, vec![notices::archived(&changed)], by)?;
    if is_archived { read_by_everybody(tx, stream) } else { Ok(()) }
}

/// Nothing of an archived channel stays unread: many clients show no way to it any more.
fn read_by_everybody(tx: &mut Tx<'_>, stream: &StreamRow) -> ApiResult<()> {
    let arrivals = moved_receipts::of(tx, stream.recipient_id)?;
    let mut unread_by: BTreeMap<Vec<MessageId>, Vec<UserId>> = BTreeMap::new();
    for user_id in domain_subscriptions::sql::subscribers_with_deactivated(tx, stream.stream_id)? {
        let user_id = UserId::from(user_id);
        let read = unread::read_all(tx, user_id, stream, &arrivals)?;
        if !read.is_empty() {
            unread_by.entry(read).or_default().push(user_id);
        }
    }
    for (messages, users) in unread_by {
        tx.emit(FlagsChanged::new(true, "read", &messages, None), Audience::users(users));
    }
    Ok(())
}

fn check(tx: &Tx<'_>, stream: &StreamRow, is_archived: bool) -> ApiResult<()> {
    if stream.is_archived && is_archived {
        return Err(ApiError::bad_request("Channel is already deactivated"));
    }
    if !stream.is_archived && !is_archived {
        return Err(ApiError::bad_request("Channel is not currently deactivated"));
    }
    // Bringing it back would show it to nobody but administrators who cannot read it.
    let subscribers = channel_rows::subscribers(tx, stream.stream_id)?;
    if !is_archived && stream.invite_only && subscribers.is_empty() {
        return Err(ApiError::bad_request("Channel is private and have no subscribers"));
    }
    Ok(())
}
