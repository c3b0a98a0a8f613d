//! Planning a move: which messages it takes, and whether the caller may.

use crate::api::messages::moves::rules;
use crate::api::messages::moves::rules::{MoveFacts, Resolving, TimeLimits};
use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::access::messages::{Ranges, clip};
use crate::domain::access::permissions::is_held;
use crate::domain::groups::permission::RealmGroup;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::limits::{MAX_MOVED_MESSAGES, MAX_REWRITTEN_LENGTH};
use crate::domain::linkifiers::compiled::topic_links;
use crate::domain::messages::destination::{check_may_post, check_topic};
use crate::domain::messages::events::PropagateMode;
use crate::domain::messages::record::{EditRecord, MessageRow};
use crate::domain::messages::topic_sql;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::rows::channel::StreamRow;
use crate::domain::{access, limits, messages, realm};
use crate::http::{ApiError, ApiResult};
use crate::types::{MessageId, StreamId, Topic, TopicId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use teamchat_markdown::TopicLink;

/// The cost of a move to another channel, added to that of its messages: it may store a set of receivers, which is read with the
/// channel from then on.
const COST_OF_OTHER_CHANNEL: u32 = 20;

/// A permitted move.
#[derive(Debug)]
pub struct Move {
    /// The channel of the messages.
    pub from: StreamRow,
    /// The channel that they move to; the same one if only the topic changes.
    pub to: StreamRow,
    /// The topic as the named message spells it.
    pub old_topic: Topic,
    /// The new topic.
    pub topic: Topic,
    /// Set if the change of topic resolves or unresolves it.
    pub resolving: Option<Resolving>,
    /// The messages that the request selects.
    pub propagate_mode: PropagateMode,
    /// The message that was named.
    pub named: MessageId,
    /// The sender of the named message.
    pub sender_id: UserId,
    /// The messages, ascending.
    pub ids: Vec<MessageId>,
    /// True if the caller sees no other message of the old topic.
    pub is_whole_topic: bool,
    /// Links in the new topic.
    pub topic_links: Vec<TopicLink>,
    /// The cost of the move for the limit of an hour: a message, and a KiB of text, costs 1, and another channel 20. `None` if
    /// there is no limit for the caller.
    pub cost: Option<u32>,
}

impl Move {
    /// True if the messages move to another channel.
    pub fn changes_stream(&self) -> bool {
        self.from.stream_id != self.to.stream_id
    }

    /// True if the messages get another topic, or another spelling of theirs.
    pub fn changes_topic(&self) -> bool {
        self.old_topic != self.topic
    }

    /// True if the move only resolves or unresolves the topic.
    pub fn only_resolves(&self) -> bool {
        self.resolving.is_some() && !self.changes_stream()
    }

    /// The messages as a set.
    pub fn id_set(&self) -> RoaringBitmap {
        self.ids.iter().filter_map(|id| id.bit()).collect()
    }

    /// The history record of this move, for a message with its own spelling of the topic.
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

/// Destination of a move.
#[derive(Clone, Debug)]
pub struct MoveTarget {
    /// The new topic, if it changes.
    pub topic: Option<Topic>,
    /// The new channel, if it changes.
    pub stream_id: Option<StreamId>,
    /// The selected messages.
    pub propagate_mode: PropagateMode,
}

/// Plans a move and checks the caller's permission; `message` is one that they may read, in the channel `from`.
pub fn plan(
    ctx: Ctx<'_>,
    (message, from): (&MessageRow, &StreamRow),
    target: &MoveTarget,
) -> ApiResult<Move> {
    let topic_id =
        message.topic_id.ok_or_else(|| ApiError::internal("a message in a channel has no topic"))?;
    let old_topic = message.topic();
    let topic = target.topic.clone().unwrap_or_else(|| old_topic.clone());
    let to = match target.stream_id {
        None => from.clone(),
        Some(stream_id) => access::channels::find_for_content(ctx, stream_id)?,
    };
    if to.is_archived {
        return Err(access::channels::no_such_channel());
    }
    check_topic(&ctx, &to, &topic)?;
    let permissions = MovePermissions { viewer: Viewer::new(ctx), from, to: &to };
    let facts = MoveFacts {
        resolving: Resolving::of(&old_topic, &topic),
        topic_changes: old_topic != topic,
        stream_changes: from.stream_id != to.stream_id,
        may_resolve: permissions.may_resolve()?,
        may_move_within: permissions.may_move_within()?,
        may_move_out: permissions.may_move_out()?,
        limits: limits(ctx)?,
        age: ctx.now - message.timestamp,
    };
    rules::check_may_move(facts)?;
    if facts.stream_changes {
        check_may_post(ctx, &to)?;
    }
    let visible = &MessageViewer::new(ctx).channel(from)?.visible;
    let is_trusted = ctx.caller.role.is_moderator();
    let limit = if is_trusted { usize::MAX } else { MAX_MOVED_MESSAGES };
    let (ids, is_whole_topic) =
        select_messages(&ctx, visible, topic_id, message.id, target.propagate_mode, limit)?;
    let base = if facts.stream_changes { COST_OF_OTHER_CHANNEL } else { 0 };
    let cost = if is_trusted { None } else { Some(check_cost(&ctx, &ids)?.saturating_add(base)) };
    if target.propagate_mode == PropagateMode::ChangeAll {
        check_age_of_all(ctx, facts, &ids)?;
    }
    Ok(Move {
        from: from.clone(),
        is_whole_topic,
        topic_links: topic_links(&ctx, topic.as_str())?,
        to,
        old_topic,
        topic,
        resolving: facts.resolving,
        propagate_mode: target.propagate_mode,
        named: message.id,
        sender_id: message.sender_id,
        ids,
        cost,
    })
}

/// Checks that messages are short enough to be rewritten in one job. Returns [`Move::cost`].
fn check_cost(connection: &Connection, ids: &[MessageId]) -> ApiResult<u32> {
    let length = messages::total_length(connection, ids)?;
    if length > MAX_REWRITTEN_LENGTH && ids.len() > 1 {
        let limit = MAX_REWRITTEN_LENGTH >> 20;
        return Err(ApiError::bad_request(format!("Too much text in these messages (limit: {limit} MiB)")));
    }
    let cost = u32::try_from(ids.len() as i64 + (length >> 10));
    Ok(cost.unwrap_or(u32::MAX))
}

/// Returns the messages of a topic that move with the named one, ascending, and whether they are all of it that is
/// visible. Fails if they are more than a limit.
fn select_messages(
    connection: &Connection,
    visible: &Ranges,
    topic_id: TopicId,
    named: MessageId,
    propagate_mode: PropagateMode,
    limit: usize,
) -> ApiResult<(Vec<MessageId>, bool)> {
    let bit = named.bit().ok_or_else(|| ApiError::internal("the id of a stored message is out of range"))?;
    let has_any = |ids| topic_sql::has_any(connection, topic_id, &clip(visible, ids));
    let has_before = || has_any(0..=bit.saturating_sub(1));
    let ids = |within: &Ranges| -> ApiResult<Vec<MessageId>> {
        let ids = topic_sql::ids(connection, topic_id, within, limit.saturating_add(1))?;
        limits::check("messages to move", ids.len(), limit)?;
        Ok(ids)
    };
    Ok(match propagate_mode {
        PropagateMode::ChangeOne => {
            (vec![named], !has_before()? && !has_any(bit.saturating_add(1)..=u32::MAX)?)
        }
        PropagateMode::ChangeLater => (ids(&clip(visible, bit..=u32::MAX))?, !has_before()?),
        PropagateMode::ChangeAll => (ids(visible)?, true),
    })
}

/// Checks that the oldest of the messages is within the time limit.
fn check_age_of_all(ctx: Ctx<'_>, facts: MoveFacts, ids: &[MessageId]) -> ApiResult<()> {
    // Resolving a topic has no time limit.
    let counts_as_topic_change = facts.topic_changes && facts.resolving.is_none();
    let Some(limit) = facts.limits.strictest(counts_as_topic_change, facts.stream_changes) else {
        return Ok(());
    };
    match topic_sql::count_before(&ctx, ids, ctx.now - limit)? {
        0 => Ok(()),
        old => Err(rules::too_old(ids.get(old).map(|id| id.0), ids.len(), ids.len() - old)),
    }
}

/// A caller's permissions for moving messages from one channel to another, or to another topic.
struct MovePermissions<'a> {
    viewer: Viewer<'a>,
    from: &'a StreamRow,
    to: &'a StreamRow,
}

impl MovePermissions<'_> {
    /// Granted by the organization or either channel (feature level 402).
    fn may_resolve(&self) -> ApiResult<bool> {
        Ok(is_held(&self.viewer, RealmGroup::CanResolveTopics)?
            || self.viewer.has_permission(self.from, StreamSetting::CanResolveTopics)?
            || self.viewer.has_permission(self.to, StreamSetting::CanResolveTopics)?)
    }

    /// Granted by the organization or either channel, and to administrators of either (feature level 396).
    fn may_move_within(&self) -> ApiResult<bool> {
        let within = |stream| -> ApiResult<bool> {
            Ok(self.viewer.has_permission(stream, StreamSetting::CanMoveMessagesWithinChannel)?
                || self.viewer.may_administer(stream)?)
        };
        Ok(is_held(&self.viewer, RealmGroup::CanMoveMessagesBetweenTopics)?
            || within(self.from)?
            || within(self.to)?)
    }

    /// Granted by the organization or the old channel, and to its administrators (feature level 396).
    fn may_move_out(&self) -> ApiResult<bool> {
        Ok(is_held(&self.viewer, RealmGroup::CanMoveMessagesBetweenChannels)?
            || self.viewer.has_permission(self.from, StreamSetting::CanMoveMessagesOutOfChannel)?
            || self.viewer.may_administer(self.from)?)
    }
}

/// The caller's time limits. Administrators and moderators have none.
fn limits(ctx: Ctx<'_>) -> ApiResult<TimeLimits> {
    if ctx.caller.role.is_moderator() {
        return Ok(TimeLimits::default());
    }
    Ok(TimeLimits {
        within_stream: realm::settings::MOVE_MESSAGES_WITHIN_STREAM_LIMIT_SECONDS.get(&ctx)?,
        between_streams: realm::settings::MOVE_MESSAGES_BETWEEN_STREAMS_LIMIT_SECONDS.get(&ctx)?,
    })
}
