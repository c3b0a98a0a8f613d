//! Archiving channels, and bringing them back.

use crate::domain::access::messages::moved_receipts;
use crate::domain::audit::{Action, Entry};
use crate::domain::channel_commands::parts::SETS_PER_SUBSCRIPTION;
use crate::domain::channel_commands::subscribe;
use crate::domain::channels::default_groups;
use crate::domain::channels::events::StreamUpdated;
use crate::domain::channels::record::record;
use crate::domain::messages::read_state;
use crate::domain::messages::read_state::bulk_events::BulkReadEvents;
use crate::domain::rows::channel::StreamRow;
use crate::domain::{access, channels, notices, realm, rows, subscriptions};
use crate::error::{ApiError, ApiResult};
use crate::events::Audience;
use crate::store::{FollowUp, Tx};
use crate::types::{StreamId, UserId};
use serde::{Deserialize, Serialize};

/// Users for whom one job marks messages as read. Each takes about six microseconds.
const READERS_PER_JOB: usize = 500;

/// Archives or unarchives a channel. Archiving also takes it out of the default channels.
pub fn set_archived(tx: &mut Tx<'_>, by: UserId, stream: &StreamRow, is_archived: bool) -> ApiResult<()> {
    check_set_archived(tx, stream, is_archived)?;
    if is_archived {
        if channels::set_default(tx, stream.stream_id, false)? {
            channels::events::emit_default_streams(tx)?;
        }
        default_groups::remove_from_all(tx, stream.stream_id)?;
    }
    let action = if is_archived { Action::ChannelArchived } else { Action::ChannelRestored };
    tx.audit(Entry::new(action, stream.stream_id))?;
    let mut changed = stream.clone();
    changed.is_archived = is_archived;
    channels::update(tx, &changed)?;
    let record = record(tx, tx.now(), &changed)?;
    let audience = access::channel_viewers::users_who_can_see(tx, tx.now(), stream)?;
    tx.emit(StreamUpdated::archived(stream, record.clone()), Audience::set(audience));
    if !is_archived {
        subscribe::emit_unarchived(tx, &changed, &record)?;
    }
    let language = realm::common_language(tx)?;
    notices::channels::send(tx, vec![notices::channels::archived(language, &changed)], by)
}

/// Marks all messages of a channel as read: many clients do not show archived channels, so that users could not read
/// them there. With many subscribers, follow-up jobs mark them for the others, and emit the remaining events.
pub fn mark_read_for_subscribers(tx: &mut Tx<'_>, stream: &StreamRow) -> ApiResult<()> {
    let subscribers = subscriptions::subscribers_with_deactivated(tx, stream.stream_id)?;
    mark_read_for(tx, stream, subscribers.into_iter().map(UserId::from).collect())
}

fn mark_read_for(tx: &mut Tx<'_>, stream: &StreamRow, mut users: Vec<UserId>) -> ApiResult<()> {
    let moved = moved_receipts(tx, stream.recipient_id)?;
    let per_job = (READERS_PER_JOB / (1 + moved.len() / SETS_PER_SUBSCRIPTION)).max(1);
    let others = users.split_off(users.len().min(per_job));
    let mut unread = BulkReadEvents::default();
    for user_id in users {
        let gaps = read_state::mark_channel_read(tx, user_id, stream, &moved)?;
        unread.add(user_id, stream.recipient_id, &gaps);
    }
    unread.emit(tx)?;
    if !others.is_empty() {
        tx.then(UnreadSubscribers { stream_id: stream.stream_id, users: others })?;
    }
    Ok(())
}

/// Subscribers of an archived channel for whom its messages are not marked as read yet.
#[derive(Serialize, Deserialize)]
pub struct UnreadSubscribers {
    stream_id: StreamId,
    users: Vec<UserId>,
}

impl FollowUp for UnreadSubscribers {
    const NAME: &'static str = "archived_channel";

    fn run(self, tx: &mut Tx<'_>) -> ApiResult<()> {
        match rows::channel::by_id(tx, self.stream_id)? {
            Some(stream) if stream.is_archived => mark_read_for(tx, &stream, self.users),
            _ => Ok(()),
        }
    }
}

fn check_set_archived(tx: &Tx<'_>, stream: &StreamRow, is_archived: bool) -> ApiResult<()> {
    if stream.is_archived && is_archived {
        return Err(ApiError::bad_request("Channel is already deactivated"));
    }
    if !stream.is_archived && !is_archived {
        return Err(ApiError::bad_request("Channel is not currently deactivated"));
    }
    // Only administrators could see it, and no one could read it.
    let subscribers = rows::channel::subscribers(tx, stream.stream_id)?;
    if !is_archived && stream.invite_only && subscribers.is_empty() {
        return Err(ApiError::bad_request("Channel is private and have no subscribers"));
    }
    Ok(())
}
