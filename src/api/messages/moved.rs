//! Who is told of a move. To those who lose sight of the messages they are deleted; the others hear where they went.

use crate::api::messages::moving;
use crate::api::messages::moving::{Move, Receipts};
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::{channel_rows as subscriptions, user_rows as users};
use crate::domain::messages::access::{Sight, within};
use crate::domain::messages::events::{FlagsChanged, MessagesDeleted};
use crate::domain::messages::flags::bit;
use crate::domain::messages::receivers::{
    Told, by_what_they_know, hearers, readers_besides_subscribers, without_guests,
};
use crate::domain::messages::{moved_receipts, sql, topic_sql};
use crate::domain::subscriptions::members;
use crate::domain::user_topics::auto_follow;
use crate::domain::user_topics::moved::{TopicPlace, move_policies};
use crate::events::Audience;
use crate::http::{ApiResult, Caller};
use crate::store::Tx;
use crate::types::{MessageId, UserId};
use roaring::RoaringBitmap;
use std::collections::BTreeMap;

/// Moves messages: rows, read state, policies for the topic. Tells those who lose sight of them; answers who is to hear
/// of the move of which messages, which may be part of a larger edit. `skip_history_of` is a message whose history
/// tells of the move already.
pub fn carry_out(
    tx: &mut Tx<'_>,
    caller: &Caller,
    mv: &Move,
    skip_history_of: Option<MessageId>,
) -> ApiResult<Vec<Told>> {
    let receipts = moving::receipts(tx, mv)?;
    let heard = hearers(tx, &mv.from, &mv.ids, moved_receipts::all_users(&receipts.before))?;
    let met_others = sql::topic(tx, mv.to.stream_id, &mv.topic.key())?
        .map(|topic_id| sql::has_messages(tx, topic_id))
        .transpose()?;
    let told = if mv.changes_stream() {
        // Whoever still sees these messages sees all of them in the new channel.
        vec![(mv.ids.clone(), between_channels(tx, caller, mv, skip_history_of, &receipts, &heard)?)]
    } else {
        moving::write_rows(tx, mv, caller, skip_history_of)?;
        by_what_they_know(&mv.from, &mv.ids, &receipts.before, heard)
    };
    // What the caller does not see of the topic must not show in whether policies go along.
    if mv.is_whole_topic {
        let from = TopicPlace { stream_id: mv.from.stream_id, topic: &mv.old_topic };
        let to = TopicPlace { stream_id: mv.to.stream_id, topic: &mv.topic };
        move_policies(tx, from, to, met_others == Some(true), |tx, user_id| may_read(tx, &mv.to, user_id))?;
    } else if begins_topic(tx, mv)? {
        auto_follow::after_split(tx, mv.sender_id, mv.to.stream_id, &mv.topic)?;
    }
    Ok(told)
}

/// Whether the message that was named is now the first of its topic, as far as who sent it sees. The rows have moved.
fn begins_topic(tx: &Tx<'_>, mv: &Move) -> ApiResult<bool> {
    let Some(topic_id) = sql::topic(tx, mv.to.stream_id, &mv.topic.key())? else { return Ok(false) };
    let (Ok(sender), Some(named)) = (users::caller(tx, mv.sender_id), mv.named.bit()) else {
        return Ok(false);
    };
    let view = Sight::new(tx, &sender, tx.now()).view_of_stream(&mv.to)?;
    let before = within(&view.visible, 0..=named.saturating_sub(1));
    Ok(view.stream.is_some() && !topic_sql::has_any(tx, topic_id, &before)?)
}

fn between_channels(
    tx: &mut Tx<'_>,
    caller: &Caller,
    mv: &Move,
    skip_history_of: Option<MessageId>,
    receipts: &Receipts,
    heard: &Audience,
) -> ApiResult<Audience> {
    let subscribers = members::audience(tx, mv.to.stream_id)?;
    let others = heard.bitmap() - subscribers.bitmap();
    let keep_sight = readers_besides_subscribers(tx, &mv.to, others.clone())?;
    let lose_sight = &others - &keep_sight;
    count_as_read(tx, mv, receipts, &keep_sight)?;
    moving::write_rows(tx, mv, caller, skip_history_of)?;
    moving::carry_receipts(tx, mv, receipts)?;
    forget_flags(tx, mv, &lose_sight)?;
    let deleted = Audience::set(lose_sight.clone());
    let deleted =
        if heard.is_also_public() && !mv.to.is_public() { deleted.and_public_queues() } else { deleted };
    for (ids, audience) in by_what_they_know(&mv.from, &mv.ids, &receipts.before, deleted) {
        for event in MessagesDeleted::events(&ids, Some((mv.from.stream_id, mv.old_topic.as_str()))) {
            tx.emit(event, audience.clone());
        }
    }
    // Subscribers of the new channel who could have read the old one. To the others, who never heard of the old
    // channel, the event would tell of it, and say nothing that a client without the messages can use.
    let mut told = heard.bitmap() - lose_sight;
    if mv.from.is_public() {
        told |= without_guests(tx, subscribers.bitmap() - heard.bitmap())?;
    }
    let told = Audience::set(told);
    Ok(if mv.from.is_public() && mv.to.is_public() { told.and_public_queues() } else { told })
}

/// Whether a user may read a channel.
fn may_read(tx: &Tx<'_>, stream: &StreamRow, user_id: UserId) -> ApiResult<bool> {
    let user = user_id.bit().into_iter().collect();
    Ok(subscriptions::is_subscribed(tx, user_id, stream.stream_id)?
        || !readers_besides_subscribers(tx, stream, user)?.is_empty())
}

/// Tells those who see the messages still, but are not subscribed where they go, that these are not unread to them any
/// more.
fn count_as_read(tx: &mut Tx<'_>, mv: &Move, receipts: &Receipts, user_ids: &RoaringBitmap) -> ApiResult<()> {
    let mut alike: BTreeMap<Vec<MessageId>, Vec<UserId>> = BTreeMap::new();
    for user_id in (user_ids - &receipts.subscribers).into_iter().map(UserId::from) {
        let unread = moving::unread_among(tx, user_id, mv, &receipts.before)?;
        if !unread.is_empty() {
            alike.entry(unread.into_iter().map(MessageId::from).collect()).or_default().push(user_id);
        }
    }
    for (ids, users) in alike {
        tx.emit(FlagsChanged::new(true, "read", &ids, None), Audience::users(users));
    }
    Ok(())
}

/// Takes away the flags of those who lose sight of the messages.
fn forget_flags(tx: &Tx<'_>, mv: &Move, user_ids: &RoaringBitmap) -> ApiResult<()> {
    if user_ids.is_empty() {
        return Ok(());
    }
    for id in &mv.ids {
        for user_id in sql::users_with_flag(tx, *id, bit::ANY)? {
            if user_id.bit().is_some_and(|bit| user_ids.contains(bit)) {
                sql::put_flags(tx, user_id, *id, 0)?;
            }
        }
    }
    Ok(())
}
