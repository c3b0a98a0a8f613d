//! Channels that become visible to users, or invisible.

use super::scope::Scope;
use crate::domain::access::channel_viewers::ChannelViewers;
use crate::domain::channels::events::{PeersChanged, StreamCreated, StreamDeleted};
use crate::domain::channels::record::Records;
use crate::domain::groups::roles::{ActiveUsersByRole, MAX_POINT_LOOKUPS};
use crate::domain::rows::channel::StreamRow;
use crate::domain::{bots, channels, rows};
use crate::error::ApiResult;
use crate::events::Audience;
use crate::store::Tx;
use crate::types::StreamId;
use roaring::RoaringBitmap;

/// Users in the scope who can see the channels in the scope.
pub(super) struct ChannelSnapshot {
    channels: Vec<(StreamRow, RoaringBitmap)>,
    /// The users in the scope who are active.
    active: RoaringBitmap,
    /// True if subscribers are included. They are left out if no subscription changes.
    with_subscribers: bool,
}

impl ChannelSnapshot {
    /// Loads it, with the roles that it was evaluated with.
    pub(super) fn load(tx: &Tx<'_>, scope: Scope<'_>, now: i64) -> ApiResult<(ActiveUsersByRole, Self)> {
        let of_all = || ChannelViewers::load_with_settings(tx, scope.among(), now);
        let of_few = || ChannelViewers::load(tx, scope.among(), now);
        let (mut viewers, rows) = match scope {
            Scope::Role(_) | Scope::Account(_) => (of_all()?, channels::all(tx)?),
            // Groups decide about private channels only.
            Scope::Members(_) | Scope::Groups | Scope::WaitingPeriod => {
                (of_all()?, channels::all_private(tx)?)
            }
            Scope::Subscriptions(_, streams) => (of_few()?, streams.to_vec()),
            Scope::Channel(stream) => {
                (of_few()?, rows::channel::by_id(tx, stream.stream_id)?.into_iter().collect())
            }
            Scope::AccessToUsers | Scope::Conversation(_) => (of_few()?, Vec::new()),
        };
        let with_subscribers = matches!(scope, Scope::Subscriptions(..));
        let mut channels = Vec::with_capacity(rows.len());
        for stream in rows {
            let seen = if with_subscribers {
                viewers.users_who_can_see(tx, &stream)?
            } else {
                viewers.without_subscription(tx, &stream)?
            };
            channels.push((stream, seen));
        }
        let roles = viewers.into_roles();
        let active = roles.active.clone();
        Ok((roles, Self { channels, active, with_subscribers }))
    }

    /// The differences to the state afterwards. Only users who were active and are active still receive events about
    /// it.
    pub(super) fn changes(self, tx: &Tx<'_>, after: Self) -> ApiResult<Vec<Change>> {
        let active = &self.active & &after.active;
        let mut changes = Vec::new();
        for ((_, seen_before), (stream, seen_after)) in self.channels.into_iter().zip(after.channels) {
            let mut gained = (&seen_after - &seen_before) & &active;
            let mut lost = (seen_before - seen_after) & &active;
            if !self.with_subscribers {
                for users in [&mut gained, &mut lost] {
                    remove_subscribers(tx, users, &stream)?;
                }
            }
            if !gained.is_empty() || !lost.is_empty() {
                changes.push(Change { stream, gained, lost });
            }
        }
        Ok(changes)
    }
}

/// Subscribers see the channel in any case. Many users may gain or lose many channels at once.
fn remove_subscribers(tx: &Tx<'_>, users: &mut RoaringBitmap, stream: &StreamRow) -> ApiResult<()> {
    if users.len() > MAX_POINT_LOOKUPS as u64 {
        *users -= rows::channel::subscribers(tx, stream.stream_id)?;
        return Ok(());
    }
    for bit in users.clone() {
        if rows::channel::is_subscribed(tx, bit.into(), stream.stream_id)? {
            users.remove(bit);
        }
    }
    Ok(())
}

/// A channel that other users can see than before.
#[derive(Debug)]
pub(super) struct Change {
    /// The channel as it is afterwards.
    pub(super) stream: StreamRow,
    /// The users who can see it now and could not before.
    pub(super) gained: RoaringBitmap,
    lost: RoaringBitmap,
}

/// Emits channels to those who can see them now, with the subscribers. Who is subscribed at the same time gets these with
/// the subscription.
pub(super) fn emit_gained(tx: &mut Tx<'_>, changes: &[Change]) -> ApiResult<()> {
    let gained = || changes.iter().filter(|change| !change.gained.is_empty());
    if gained().next().is_none() {
        return Ok(());
    }
    let stream_ids: Vec<StreamId> = gained().map(|change| change.stream.stream_id).collect();
    let records = Records::of_few(tx, tx.now(), &stream_ids)?;
    let records = gained().map(|change| records.of(&change.stream)).collect::<ApiResult<Vec<_>>>()?;
    for (Change { stream, gained, .. }, record) in gained().zip(records) {
        tx.emit(StreamCreated::new(record), Audience::set(gained.clone()));
        let subscribers = rows::channel::subscribers(tx, stream.stream_id)?;
        if !subscribers.is_empty() {
            let peers = PeersChanged::added(vec![stream.stream_id], &subscribers, stream.is_archived);
            tx.emit(peers, Audience::set(gained - subscribers));
        }
    }
    Ok(())
}

/// Emits the channels as those of bots, whose owners know them by name if they see them.
pub(super) fn emit_of_bots(tx: &mut Tx<'_>, changes: &[Change]) -> ApiResult<()> {
    for Change { stream, gained, lost } in changes {
        bots::events::emit_default_channel_again(tx, stream.stream_id, &(gained | lost))?;
    }
    Ok(())
}

/// Emits the deletion of channels to users who can no longer see them.
pub(super) fn emit_lost(tx: &mut Tx<'_>, changes: &[Change]) {
    for Change { stream, lost, .. } in changes {
        tx.emit(StreamDeleted::new(stream.stream_id, stream.is_archived), Audience::set(lost.clone()));
    }
}
