//! Moving messages to another topic or channel: which ones, whether the caller may, and the rows. Who is told is in
//! [`super::moved`].

use crate::api::messages::move_rules;
use crate::api::messages::move_rules::{Limits, MoveFacts, Resolving};
use crate::auth::Ctx;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::channels;
use crate::domain::access::channels::Viewer;
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::realm_settings::{RealmGroup, is_held};
use crate::domain::linkifiers::compiled::topic_links;
use crate::domain::messages::access::{Ranges, Sight, within};
use crate::domain::messages::destination::{check_may_post, check_topic};
use crate::domain::messages::events::PropagateMode;
use crate::domain::messages::flags::bit;
use crate::domain::messages::moved_receipts::Groups;
use crate::domain::messages::record::{EditRecord, MessageRow};
use crate::domain::messages::search::index;
use crate::domain::messages::topic_sql::NewPlace;
use crate::domain::messages::{moved_receipts, sql, topic_sql, unread};
use crate::domain::realm;
use crate::domain::subscriptions::sql as subscriptions;
use crate::http::{ApiError, ApiResult, Caller};
use crate::markdown::TopicLink;
use crate::store::Tx;
use crate::types::{MessageId, Role, StreamId, Topic, TopicId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// A move that the caller may make.
#[derive(Debug)]
pub struct Move {
    /// Where the messages are.
    pub from: StreamRow,
    /// Where they go; the same channel if only the topic changes.
    pub to: StreamRow,
    /// The topic as the named message spells it.
    pub old_topic: Topic,
    /// The topic that they get.
    pub topic: Topic,
    /// What the change of topic means for the mark of resolved topics.
    pub resolving: Option<Resolving>,
    /// Which messages were asked for.
    pub propagate_mode: PropagateMode,
    /// The message that was named.
    pub named: MessageId,
    /// Who sent it.
    pub sender_id: UserId,
    /// The messages, ascending.
    pub ids: Vec<MessageId>,
    /// Whether the caller sees no other message of the old topic.
    pub is_whole_topic: bool,
    /// Links in the topic that they get.
    pub topic_links: Vec<TopicLink>,
}

impl Move {
    /// Whether the messages go to another channel.
    pub fn changes_stream(&self) -> bool {
        self.from.stream_id != self.to.stream_id
    }

    /// Whether the messages get another topic, or another spelling of theirs.
    pub fn changes_topic(&self) -> bool {
        self.old_topic != self.topic
    }

    /// Whether the topic is resolved or no longer, and nothing else.
    pub fn only_resolves(&self) -> bool {
        self.resolving.is_some() && !self.changes_stream()
    }

    /// The messages as a set.
    pub fn id_set(&self) -> RoaringBitmap {
        self.ids.iter().filter_map(|id| id.bit()).collect()
    }

    /// The part of an edit's record that tells of this move, for a message with its own spelling of the topic.
    pub fn record(&self, user_id: UserId, timestamp: i64, subject: &str) -> EditRecord {
        EditRecord {
            prev_topic: self.changes_topic().then(|| subject.to_owned()),
            topic: self.changes_topic().then(|| self.topic.as_str().to_owned()),
            prev_stream: self.changes_stream().then_some(self.from.stream_id),
            stream: self.changes_stream().then_some(self.to.stream_id),
            ..EditRecord::new(user_id, timestamp)
        }
    }
}

/// Where a request wants messages to go.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Another topic.
    pub topic: Option<Topic>,
    /// Another channel.
    pub stream_id: Option<StreamId>,
    /// Which messages go.
    pub propagate_mode: PropagateMode,
}

/// Finds out what a move would be, and whether the caller may make it; `message` is one that they may read, in the
/// channel `from`.
pub fn plan(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    (message, from): (&MessageRow, &StreamRow),
    destination: &Destination,
) -> ApiResult<Move> {
    let topic_id =
        message.topic_id.ok_or_else(|| ApiError::internal("a message in a channel has no topic"))?;
    let old_topic = message.topic();
    let topic = destination.topic.clone().unwrap_or_else(|| old_topic.clone());
    let to = match destination.stream_id {
        None => from.clone(),
        Some(stream_id) => channels::find_for_content(Ctx::new(connection, caller, now), stream_id)?,
    };
    if to.is_archived {
        return Err(channels::no_such_channel());
    }
    check_topic(connection, &to, &topic)?;
    let powers =
        Powers { connection, caller, viewer: Viewer::new(Ctx::new(connection, caller, now)), from, to: &to };
    let facts = MoveFacts {
        resolving: Resolving::of(&old_topic, &topic),
        topic_changes: old_topic != topic,
        stream_changes: from.stream_id != to.stream_id,
        may_resolve: powers.may_resolve()?,
        may_move_within: powers.may_move_within()?,
        may_move_out: powers.may_move_out()?,
        limits: limits(connection, caller)?,
        age: now - message.timestamp,
    };
    move_rules::may_move(facts)?;
    if facts.stream_changes {
        check_may_post(connection, caller, now, &to)?;
    }
    let visible = &Sight::new(connection, caller, now).view_of_stream(from)?.visible;
    let (ids, is_whole_topic) =
        choose(connection, visible, topic_id, message.id, destination.propagate_mode)?;
    if destination.propagate_mode == PropagateMode::ChangeAll {
        check_age_of_all(connection, facts, &ids, now)?;
    }
    Ok(Move {
        from: from.clone(),
        is_whole_topic,
        topic_links: topic_links(connection, topic.as_str())?,
        to,
        old_topic,
        topic,
        resolving: facts.resolving,
        propagate_mode: destination.propagate_mode,
        named: message.id,
        sender_id: message.sender_id,
        ids,
    })
}

/// The messages of a topic that go along with the one that was named, ascending; and whether there is no other in these
/// ranges of ids. The topic is listed only as far as it goes.
fn choose(
    connection: &Connection,
    visible: &Ranges,
    topic_id: TopicId,
    named: MessageId,
    propagate_mode: PropagateMode,
) -> ApiResult<(Vec<MessageId>, bool)> {
    let bit = named.bit().ok_or_else(|| ApiError::internal("the id of a stored message is out of range"))?;
    let has_any = |ids| topic_sql::has_any(connection, topic_id, &within(visible, ids));
    let has_before = || has_any(0..=bit.saturating_sub(1));
    Ok(match propagate_mode {
        PropagateMode::ChangeOne => {
            (vec![named], !has_before()? && !has_any(bit.saturating_add(1)..=u32::MAX)?)
        }
        PropagateMode::ChangeLater => {
            (topic_sql::ids(connection, topic_id, &within(visible, bit..=u32::MAX))?, !has_before()?)
        }
        PropagateMode::ChangeAll => (topic_sql::ids(connection, topic_id, visible)?, true),
    })
}

/// Whether the oldest of the messages is young enough to move with the others.
fn check_age_of_all(connection: &Connection, facts: MoveFacts, ids: &[MessageId], now: i64) -> ApiResult<()> {
    // Resolving a topic is no move, however old the topic is.
    let counts_as_topic_change = facts.topic_changes && facts.resolving.is_none();
    let Some(limit) = facts.limits.strictest(counts_as_topic_change, facts.stream_changes) else {
        return Ok(());
    };
    match topic_sql::count_before(connection, ids, now - limit)? {
        0 => Ok(()),
        old => Err(move_rules::too_old(ids.get(old).map(|id| id.0), ids.len(), ids.len() - old)),
    }
}

/// What a caller may do to the topics of the channel that messages are in, and of the one that they go to.
struct Powers<'a> {
    connection: &'a Connection,
    caller: &'a Caller,
    viewer: Viewer<'a>,
    from: &'a StreamRow,
    to: &'a StreamRow,
}

impl Powers<'_> {
    /// Whoever may in the organization or in either channel (feature level 402).
    fn may_resolve(&self) -> ApiResult<bool> {
        Ok(self.is_held(RealmGroup::CanResolveTopics)?
            || self.is_in(self.from, StreamSetting::CanResolveTopics)?
            || self.is_in(self.to, StreamSetting::CanResolveTopics)?)
    }

    /// Whoever may in the organization or in either channel, and who administers one (feature level 396).
    fn may_move_within(&self) -> ApiResult<bool> {
        let within = |stream| -> ApiResult<bool> {
            Ok(self.is_in(stream, StreamSetting::CanMoveMessagesWithinChannel)?
                || self.viewer.may_administer(stream)?)
        };
        Ok(self.is_held(RealmGroup::CanMoveMessagesBetweenTopics)? || within(self.from)? || within(self.to)?)
    }

    /// Whoever may in the organization or out of the channel, and who administers it (feature level 396).
    fn may_move_out(&self) -> ApiResult<bool> {
        Ok(self.is_held(RealmGroup::CanMoveMessagesBetweenChannels)?
            || self.is_in(self.from, StreamSetting::CanMoveMessagesOutOfChannel)?
            || self.viewer.may_administer(self.from)?)
    }

    fn is_held(&self, permission: RealmGroup) -> ApiResult<bool> {
        is_held(self.connection, self.caller, self.viewer.membership()?, permission)
    }

    fn is_in(&self, stream: &StreamRow, setting: StreamSetting) -> ApiResult<bool> {
        self.viewer.is_in(stream, setting)
    }
}

/// How long the caller can move messages. Administrators and moderators always can.
fn limits(connection: &Connection, caller: &Caller) -> ApiResult<Limits> {
    if caller.role.is_administrator() || caller.role == Role::Moderator {
        return Ok(Limits::default());
    }
    Ok(Limits {
        within_stream: realm::settings::MOVE_MESSAGES_WITHIN_STREAM_LIMIT_SECONDS.get(connection)?,
        between_streams: realm::settings::MOVE_MESSAGES_BETWEEN_STREAMS_LIMIT_SECONDS.get(connection)?,
    })
}

/// Writes the messages' new place, their words for searching and their history. The history of `skip_history_of` tells of
/// the move together with a change of its content.
pub fn write_rows(
    tx: &mut Tx<'_>,
    mv: &Move,
    caller: &Caller,
    skip_history_of: Option<MessageId>,
) -> ApiResult<()> {
    let topic_id = sql::topic_or_new(tx, mv.to.stream_id, &mv.topic.key())?;
    let subject = mv.changes_topic().then(|| mv.topic.as_str());
    let links = if mv.topic_links.is_empty() { None } else { Some(serde_json::to_string(&mv.topic_links)?) };
    let with_history = mv.ids.iter().copied().filter(|id| skip_history_of != Some(*id));
    topic_sql::insert_moves(tx, with_history, &mv.record(caller.user_id, tx.now(), mv.old_topic.as_str()))?;
    let place = NewPlace {
        recipient_id: mv.changes_stream().then_some(mv.to.recipient_id),
        topic_id,
        subject,
        links: links.as_deref().filter(|_| subject.is_some()),
        moved_at: (!mv.only_resolves()).then(|| tx.now()),
    };
    topic_sql::relocate(tx, &mv.ids, &place)?;
    if subject.is_some() {
        for id in &mv.ids {
            index::renew(tx, *id);
        }
    }
    Ok(())
}

/// Who received moved messages before and after.
pub struct Receipts {
    /// By whom they were received in the old channel.
    pub before: Groups,
    /// And by whom in the new one. Who received a message keeps it if they are subscribed there. Where only those who
    /// received a message may read it, all subscribers receive what comes.
    pub after: Groups,
    /// The new channel's subscribers, deactivated users too.
    pub subscribers: RoaringBitmap,
}

/// Finds out who received messages that move to another channel; to be asked before they do.
pub fn receipts(connection: &Connection, mv: &Move) -> ApiResult<Receipts> {
    let before =
        moved_receipts::group_by_receivers(connection, mv.from.stream_id, mv.from.recipient_id, &mv.ids)?;
    let subscribers = subscriptions::subscribers_with_deactivated(connection, mv.to.stream_id)?;
    let after = if mv.to.has_public_history() {
        before.iter().map(|(ids, users)| (ids.clone(), users & &subscribers)).collect()
    } else {
        vec![(mv.id_set(), subscribers.clone())]
    };
    Ok(Receipts { before, after, subscribers })
}

/// Carries to the new channel who received the messages and who has read them. To be called when their rows have
/// moved.
///
/// What spans of the new channel tell rightly is not written. Read state is written for those whose set of the new
/// channel tells otherwise.
pub fn carry_receipts(tx: &Tx<'_>, mv: &Move, receipts: &Receipts) -> ApiResult<()> {
    moved_receipts::remove(tx, mv.from.recipient_id, &mv.id_set())?;
    let by_spans = moved_receipts::group_by_receivers(tx, mv.to.stream_id, mv.to.recipient_id, &mv.ids)?;
    for (ids, users) in &receipts.after {
        let mut wrong = ids.clone();
        for (same, _) in by_spans.iter().filter(|(_, found)| found == users) {
            wrong -= same;
        }
        if !wrong.is_empty() {
            moved_receipts::add(tx, mv.to.recipient_id, &wrong, users)?;
        }
    }
    for (ids, users) in &receipts.after {
        forget_historical(tx, ids, users)?;
    }
    for bit in moved_receipts::all_users(&receipts.after) {
        let user_id = UserId::from(bit);
        let unread = unread_among(tx, user_id, mv, &receipts.before)?;
        let mut read = RoaringBitmap::new();
        for (ids, _) in receipts.after.iter().filter(|(_, users)| users.contains(bit)) {
            read |= ids;
        }
        read -= &unread;
        unread::set(tx, user_id, mv.to.recipient_id, &read, &unread)?;
    }
    Ok(())
}

/// Who does not receive messages any more did not receive them belatedly either.
fn forget_historical(tx: &Tx<'_>, ids: &RoaringBitmap, receivers: &RoaringBitmap) -> ApiResult<()> {
    for id in ids.iter().map(MessageId::from) {
        for user_id in sql::users_with_flag(tx, id, bit::HISTORICAL)? {
            if !user_id.bit().is_some_and(|bit| receivers.contains(bit)) {
                let flags = sql::flags(tx, user_id, id)?;
                sql::put_flags(tx, user_id, id, flags & !bit::HISTORICAL)?;
            }
        }
    }
    Ok(())
}

/// Those of the messages that a user received in the old channel and has not read there.
pub fn unread_among(
    connection: &Connection,
    user_id: UserId,
    mv: &Move,
    before: &Groups,
) -> ApiResult<RoaringBitmap> {
    let read = unread::load(connection, user_id, mv.from.recipient_id)?;
    let received = |users: &RoaringBitmap| user_id.bit().is_some_and(|bit| users.contains(bit));
    let groups = before.iter().filter(|(_, users)| received(users));
    Ok(groups.flat_map(|(ids, _)| ids.iter().filter(|id| !read.contains(*id))).collect())
}
