//! Moving messages to another topic or channel.
//!
//! - [`rules`]: validation and permissions of moves; pure functions;
//! - [`plan`]: which messages a move takes, and whether the caller may;
//! - [`receipts`]: storing a move, with who received and read the messages;
//! - here: applying it, with the events. Users who lose access to the messages get their deletion;
//! - [`notices`]: the notification bot's messages about moves.

pub mod notices;
pub mod plan;
mod receipts;
pub mod rules;

use crate::api::messages::moves::plan::Move;
use crate::api::messages::moves::receipts::Receipts;
use crate::domain::access::messages::clip;
use crate::domain::messages::audience::{
    Notified, by_known_messages, classes, readers_among, readers_besides_subscribers, recipients,
    without_guests,
};
use crate::domain::messages::events::{FlagsChanged, MessagesDeleted};
use crate::domain::messages::flags::bit;
use crate::domain::messages::read_state::by_users::ReadByUsers;
use crate::domain::messages::receipts::moved;
use crate::domain::messages::receipts::moved::ReceiverGroups;
use crate::domain::messages::topic_sql;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::realm::user_ids;
use crate::domain::subscriptions::members;
use crate::domain::user_topics::auto_follow;
use crate::domain::user_topics::moved::{TopicPlace, move_policies};
use crate::domain::{access, messages, rows};
use crate::events::Audience;
use crate::http::{ApiResult, Caller, ok_unless_refused};
use crate::store::{FollowUp, Tx, bitmap};
use crate::types::{MessageId, UserId};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::iter;

/// Applies a move: rows, read state, topic policies, and the events for users who lose access. Returns which messages
/// everyone else is to be notified of, as part of the edit. The history of `skip_history_of` is not written: its edit
/// records the move.
pub fn apply(
    tx: &mut Tx<'_>,
    caller: &Caller,
    mv: &Move,
    skip_history_of: Option<MessageId>,
) -> ApiResult<Vec<Notified>> {
    let receivers = receipts::load(tx, mv)?;
    let notified = recipients(tx, &mv.from, &mv.ids, moved::all_receivers(&receivers.before))?;
    let topic_existed = access::messages::topic(tx, mv.to.stream_id, &mv.topic.key())?
        .map(|topic_id| messages::has_messages(tx, topic_id))
        .transpose()?;
    let notified = if mv.changes_stream() {
        // Users who still see the messages see all of them in the new channel.
        vec![(mv.ids.clone(), between_channels(tx, caller, mv, skip_history_of, &receivers, &notified)?)]
    } else {
        receipts::write_rows(tx, mv, caller, skip_history_of)?;
        by_known_messages(&mv.from, &mv.ids, &receivers.before, notified)
    };
    // The policies must not reveal messages that the caller cannot see.
    if mv.is_whole_topic {
        let from = TopicPlace { stream_id: mv.from.stream_id, topic: &mv.old_topic };
        let to = TopicPlace { stream_id: mv.to.stream_id, topic: &mv.topic };
        let received = moved::all_receivers(&receivers.before);
        let saw = |tx: &Tx<'_>, user_ids: RoaringBitmap| {
            let saw = if mv.from.has_public_history() { user_ids } else { user_ids & received };
            readers_among(tx, &mv.from, saw)
        };
        let may_read_target = |tx: &Tx<'_>, user_ids| readers_among(tx, &mv.to, user_ids);
        move_policies(tx, from, to, topic_existed == Some(true), saw, may_read_target)?;
    } else if begins_topic(tx, mv)? {
        auto_follow::after_split(tx, mv.sender_id, mv.to.stream_id, &mv.topic)?;
    }
    Ok(notified)
}

/// True if the edited message is now the first of its topic that its sender can see. The rows have moved.
fn begins_topic(tx: &Tx<'_>, mv: &Move) -> ApiResult<bool> {
    let Some(topic_id) = access::messages::topic(tx, mv.to.stream_id, &mv.topic.key())? else {
        return Ok(false);
    };
    let sender = ok_unless_refused(rows::user::caller(tx, mv.sender_id))?;
    let (Some(sender), Some(named)) = (sender, mv.named.bit()) else { return Ok(false) };
    let conversation = MessageViewer::new(tx.ctx(&sender)).channel(&mv.to)?;
    let before = clip(&conversation.visible, 0..=named.saturating_sub(1));
    Ok(conversation.stream.is_some() && !topic_sql::has_any(tx, topic_id, &before)?)
}

/// Moves messages to another channel: their rows and receipts, and the events for users who lose access. Returns the
/// users to be notified of the move.
fn between_channels(
    tx: &mut Tx<'_>,
    caller: &Caller,
    mv: &Move,
    skip_history_of: Option<MessageId>,
    receivers: &Receipts,
    notified: &Audience,
) -> ApiResult<Audience> {
    let subscribers = members::audience(tx, mv.to.stream_id)?;
    let others = notified.bitmap() - subscribers.bitmap();
    let keep_access = readers_besides_subscribers(tx, &mv.to, others.clone())?;
    let lose_access = &others - &keep_access;
    let read = ReadByUsers::load(tx, mv.from.recipient_id, &mv.id_set())?;
    emit_read(tx, &read, &receivers.lost(), &(&keep_access | &receivers.subscribers));
    receipts::write_rows(tx, mv, caller, skip_history_of)?;
    receipts::transfer(tx, mv, receivers, &read)?;
    if !lose_access.is_empty() {
        let flagged = messages::users_with_any_flag(tx, mv.ids.iter().copied())?;
        LostFlags { message_ids: mv.id_set(), user_ids: flagged & &lose_access }.run(tx)?;
    }
    let losing = |with_public_queues: bool| {
        let audience = Audience::set(lose_access.clone());
        if with_public_queues { audience.and_public_queues() } else { audience }
    };
    let leaves_public = notified.is_also_public() && !mv.to.is_public();
    // Queues of all public channels lose the messages, but not those of users who can read the new channel.
    let remaining = if leaves_public {
        let others = user_ids::active_ids(tx)? - subscribers.bitmap();
        subscribers.bitmap() | readers_besides_subscribers(tx, &mv.to, others)?
    } else {
        RoaringBitmap::new()
    };
    // Queues of all public channels may keep events about the messages if others of their users can read them.
    let has_keepers = !remaining.is_subset(notified.bitmap());
    tx.withdraw_events_from(&mv.ids, &losing(leaves_public && !has_keepers))?;
    let keeper_ids = leaves_public.then(|| remaining.iter().map(UserId::from).collect::<Vec<_>>());
    let deleted = losing(leaves_public);
    for (ids, audience) in by_known_messages(&mv.from, &mv.ids, &receivers.before, deleted) {
        let place = Some((mv.from.stream_id, mv.old_topic.as_str()));
        for event in MessagesDeleted::events(&ids, place, keeper_ids.clone()) {
            tx.emit(event, audience.clone());
        }
    }
    // Subscribers of the new channel are notified if they could read the old one, and so are its other readers if their
    // queues of all public channels keep the messages. To others the event would reveal the old channel, without being
    // useful.
    let mut still = notified.bitmap() - lose_access;
    if mv.from.is_public() {
        still |= without_guests(tx, (subscribers.bitmap() | remaining) - notified.bitmap())?;
    }
    let still = Audience::set(still);
    Ok(if mv.from.is_public() && mv.to.is_public() { still.and_public_queues() } else { still })
}

/// Emits that messages are read, for those of `user_ids` who do not receive them in the new channel. They can read that channel.
/// `read` is who has read the messages.
fn emit_read(tx: &mut Tx<'_>, read: &ReadByUsers, lost: &ReceiverGroups, user_ids: &RoaringBitmap) {
    let partial = read.partial();
    let mut by_messages: BTreeMap<Vec<MessageId>, RoaringBitmap> = BTreeMap::new();
    let mut add = |unread: RoaringBitmap, users: RoaringBitmap| {
        if !unread.is_empty() {
            *by_messages.entry(unread.into_iter().map(MessageId::from).collect()).or_default() |= users;
        }
    };
    for (unread, users) in classes(lost, user_ids - &read.all - &partial) {
        add(unread, users);
    }
    for user in user_ids & partial {
        add(receipts::unread_among(read, user, lost), iter::once(user).collect());
    }
    for (ids, users) in by_messages {
        tx.emit(FlagsChanged::new(true, "read", &ids, None), Audience::set(users));
    }
}

/// Flags to delete, of users who lose access to messages. If there are many, follow-up jobs delete those of some users, unless a later
/// change has given them access again.
#[derive(Serialize, Deserialize)]
pub struct LostFlags {
    #[serde(with = "bitmap")]
    message_ids: RoaringBitmap,
    #[serde(with = "bitmap")]
    user_ids: RoaringBitmap,
}

impl FollowUp for LostFlags {
    const NAME: &'static str = "lost_flags";

    fn run(mut self, tx: &mut Tx<'_>) -> ApiResult<()> {
        let mut budget = tx.budget(Self::NAME);
        while let Some(user) = self.user_ids.min()
            && budget.next_step()
        {
            self.user_ids.remove(user);
            let user_id = UserId::from(user);
            let caller = ok_unless_refused(rows::user::caller(tx, user_id))?;
            let viewer = caller.as_ref().map(|caller| MessageViewer::new(tx.ctx(caller)));
            for (id, _) in messages::flags_among(tx, user_id, &self.message_ids, bit::ANY)? {
                let is_readable = match &viewer {
                    Some(viewer) => viewer.recipient_of(id)?.is_some(),
                    None => false,
                };
                if !is_readable {
                    messages::put_flags(tx, user_id, id, 0)?;
                }
            }
        }
        if !self.user_ids.is_empty() {
            tx.then(self)?;
        }
        Ok(())
    }
}
