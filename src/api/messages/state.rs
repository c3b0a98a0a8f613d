//! Messages in the answer of `POST /register`: `max_message_id`, `unread_msgs`, starred messages and recent
//! conversations.

use super::feed::{Cursor, Direction, Index, IndexCursor, Within};
use super::flags::bit;
use super::message::{attribute, shown_topic};
use super::narrow::Narrow;
use super::plan::Plan;
use super::sight::{ALL_IDS, Sight};
use super::sql;
use crate::api::register::StateRequest;
use crate::api::subscriptions::sql as subscriptions;
use crate::http::ApiResult;
use crate::types::{MessageId, RecipientId, StreamId, Topic, UserId};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Unread messages told of; beyond these, the oldest are left out and the client is told so.
const MAX_UNREAD: usize = 50_000;

/// Direct conversations told of as recent.
const RECENT_CONVERSATIONS: usize = 1000;

/// `max_message_id`, and `unread_msgs` where flag events will keep it true.
pub fn message(request: &StateRequest<'_>, state: &mut Map<String, Value>) -> ApiResult<()> {
    let sight = Sight::new(request.connection, request.caller, request.now);
    state.insert("max_message_id".into(), newest_received(&sight)?.into());
    if request.wants("update_message_flags") {
        state.insert("unread_msgs".into(), serde_json::to_value(unread(request)?)?);
    }
    Ok(())
}

/// The newest message that a viewer received and may read: `max_message_id`. Without one, -1.
pub fn newest_received(sight: &Sight<'_>) -> ApiResult<i64> {
    let all = Narrow::default();
    let newest = Plan::new(sight, &all, Direction::Down, 1)?.take(Some(*ALL_IDS.end()), 1)?;
    Ok(newest.first().map_or(-1, |id| id.0))
}

/// `starred_messages`: ids, ascending.
pub fn starred(request: &StateRequest<'_>, state: &mut Map<String, Value>) -> ApiResult<()> {
    let all = Within::Ranges(vec![ALL_IDS]);
    let user_id = request.caller.user_id;
    let sight = Sight::new(request.connection, request.caller, request.now);
    let mut cursor = IndexCursor::new(request.connection, Index::Starred, user_id.0, all, Direction::Up, 64);
    let mut ids = Vec::new();
    let mut bound = Some(*ALL_IDS.start());
    while let Some(from) = bound
        && let Some(bit) = cursor.seek(from)?
    {
        let id = MessageId::from(bit);
        if let Some(recipient_id) = sql::recipient_of(request.connection, id)?
            && sight.visible(recipient_id, id)?
        {
            ids.push(id);
        }
        bound = Direction::Up.past(bit);
    }
    state.insert("starred_messages".into(), json!(ids));
    Ok(())
}

/// `recent_private_conversations`: the people of each, and its newest message.
pub fn recent_conversations(request: &StateRequest<'_>, state: &mut Map<String, Value>) -> ApiResult<()> {
    let own = request.caller.user_id;
    let mut recent = Vec::new();
    for recipient_id in sql::direct_recipients(request.connection, own)? {
        let Some(newest) = sql::newest_of(request.connection, recipient_id)? else { continue };
        let people = sql::direct_user_ids(request.connection, recipient_id)?.unwrap_or_default();
        let others: Vec<UserId> = people.into_iter().filter(|user_id| *user_id != own).collect();
        recent.push((newest, others));
    }
    recent.sort_unstable_by_key(|(newest, _)| std::cmp::Reverse(*newest));
    recent.truncate(RECENT_CONVERSATIONS);
    let list: Vec<Value> = recent
        .into_iter()
        .map(|(newest, others)| json!({ "max_message_id": newest, "user_ids": others }))
        .collect();
    state.insert("recent_private_conversations".into(), list.into());
    Ok(())
}

#[derive(Serialize)]
struct UnreadMessages {
    /// All of them, without those in muted conversations.
    count: usize,
    pms: Vec<UnreadDirect>,
    streams: Vec<UnreadTopic>,
    huddles: Vec<UnreadGroup>,
    /// Those that mention the user: by name or through a group, and with everybody where that is not muted.
    mentions: Vec<MessageId>,
    old_unreads_missing: bool,
}

#[derive(Serialize)]
struct UnreadDirect {
    other_user_id: UserId,
    /// Deprecated, the same; the terminal client reads it.
    sender_id: UserId,
    unread_message_ids: Vec<MessageId>,
}

#[derive(Serialize)]
struct UnreadTopic {
    stream_id: StreamId,
    topic: String,
    unread_message_ids: Vec<MessageId>,
}

#[derive(Serialize)]
struct UnreadGroup {
    /// All ids, the user's own included, ascending.
    user_ids_string: String,
    unread_message_ids: Vec<MessageId>,
}

/// An unread message, as far as counting needs it.
struct Unread {
    id: MessageId,
    recipient_id: RecipientId,
    mention: Mention,
}

/// How a message mentions the user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mention {
    Not,
    /// By name, or through a group.
    Directly,
    /// As one of everybody in the channel or the topic.
    WithEverybody,
}

fn unread(request: &StateRequest<'_>) -> ApiResult<UnreadMessages> {
    let connection = request.connection;
    let own = request.caller.user_id;
    let sight = Sight::new(connection, request.caller, request.now);
    let knows_empty = request.registration.client_capabilities.empty_topic_name;
    let subscribed = subscriptions::own(connection, own)?;
    let channels = subscribed.iter().map(|subscription| subscription.recipient_id);
    let direct = sql::direct_recipients(connection, own)?;
    let mut found = Vec::new();
    for recipient_id in channels.chain(direct) {
        found.extend(unread_of(&sight, recipient_id)?);
    }
    found.sort_unstable_by_key(|unread| unread.id);
    let old_unreads_missing = found.len() > MAX_UNREAD;
    if old_unreads_missing {
        found.drain(..found.len() - MAX_UNREAD);
    }
    let mut answer = UnreadMessages {
        count: 0,
        pms: Vec::new(),
        streams: Vec::new(),
        huddles: Vec::new(),
        mentions: Vec::new(),
        old_unreads_missing,
    };
    let muting = sight.muting()?;
    let mut direct: BTreeMap<UserId, Vec<MessageId>> = BTreeMap::new();
    let mut groups: BTreeMap<String, Vec<MessageId>> = BTreeMap::new();
    let mut topics: BTreeMap<(StreamId, String), (String, Vec<MessageId>)> = BTreeMap::new();
    for unread in found {
        let view = sight.view(unread.recipient_id)?;
        let mut is_muted = false;
        match &view.stream {
            Some(stream) => {
                let subject = sql::subject_of(connection, unread.id)?;
                let key = Topic::stored(subject.clone()).key();
                is_muted = muting.is_muted(stream.stream_id, &key);
                answer.count += usize::from(!is_muted);
                let (shown, ids) = topics.entry((stream.stream_id, key)).or_default();
                shown_topic(&subject, knows_empty).clone_into(shown);
                ids.push(unread.id);
            }
            None => {
                answer.count += 1;
                match view.people.as_slice() {
                    [_] => direct.entry(own).or_default().push(unread.id),
                    [one, other] => {
                        let other = if *one == own { *other } else { *one };
                        direct.entry(other).or_default().push(unread.id);
                    }
                    people => {
                        let ids: Vec<String> = people.iter().map(ToString::to_string).collect();
                        groups.entry(ids.join(",")).or_default().push(unread.id);
                    }
                }
            }
        }
        match unread.mention {
            Mention::Directly => answer.mentions.push(unread.id),
            Mention::WithEverybody if !is_muted => answer.mentions.push(unread.id),
            Mention::WithEverybody | Mention::Not => {}
        }
    }
    answer.pms = direct
        .into_iter()
        .map(|(user_id, ids)| UnreadDirect {
            other_user_id: user_id,
            sender_id: user_id,
            unread_message_ids: ids,
        })
        .collect();
    answer.streams = topics
        .into_iter()
        .map(|((stream_id, _), (topic, ids))| UnreadTopic { stream_id, topic, unread_message_ids: ids })
        .collect();
    answer.huddles = groups
        .into_iter()
        .map(|(user_ids_string, ids)| UnreadGroup { user_ids_string, unread_message_ids: ids })
        .collect();
    Ok(answer)
}

/// The unread messages of a conversation, newest first: the messages in the gaps of its read set.
fn unread_of(sight: &Sight<'_>, recipient_id: RecipientId) -> ApiResult<Vec<Unread>> {
    let view = sight.view(recipient_id)?;
    if view.received.is_empty() {
        return Ok(Vec::new());
    }
    let within = Within::Unread(view.received.clone(), sight.read_set(recipient_id)?);
    let connection = sight.connection;
    let mut cursor =
        IndexCursor::new(connection, Index::Recipient, recipient_id.0, within, Direction::Down, 16);
    let mut unread = Vec::new();
    let mut bound = Some(*ALL_IDS.end());
    while let Some(from) = bound
        && unread.len() <= MAX_UNREAD
        && let Some(id) = cursor.seek(from)?
    {
        bound = Direction::Down.past(id);
        let id = MessageId::from(id);
        let attributes = sql::attributes_of(connection, id)?;
        let flags = sql::flags(connection, sight.caller.user_id, id)?;
        let mention = if flags & bit::MENTIONED != 0 {
            Mention::Directly
        } else if attributes & attribute::STREAM_WILDCARD != 0 || flags & bit::TOPIC_WILDCARD_MENTIONED != 0 {
            Mention::WithEverybody
        } else {
            Mention::Not
        };
        unread.push(Unread { id, recipient_id, mention });
    }
    Ok(unread)
}
