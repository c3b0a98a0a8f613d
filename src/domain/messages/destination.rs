//! Destinations of messages: resolving `type`, `to` and `topic` of a request, and checking that the sender may write
//! there.

use crate::auth::Ctx;
use crate::domain::access::channel_rows::{StreamRow, TopicsPolicy};
use crate::domain::access::channels::{no_channel_named, no_channel_with_id};
use crate::domain::access::users::Accessible;
use crate::domain::access::{
    channel_rows, channel_rows as subscriptions, channels as access, user_rows, users as users_access,
};
use crate::domain::channels::sql as channels;
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::membership::Membership;
use crate::domain::groups::system::SystemGroup;
use crate::domain::limits;
use crate::domain::limits::Accounts;
use crate::domain::messages::rules::direct_messages;
use crate::domain::messages::sql;
use crate::domain::users::find;
use crate::http::params::JsonOrText;
use crate::http::{ApiError, ApiResult, Caller};
use crate::types::{RecipientId, StreamId, Topic, UserId};
use rusqlite::Connection;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::slice;

/// `type` of a message in requests; each kind has two names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum MessageType {
    /// `channel`, and the older `stream`.
    #[serde(rename = "channel", alias = "stream")]
    Channel,
    /// `direct`, and the older `private`.
    #[serde(rename = "direct", alias = "private")]
    Direct,
}

/// Where a message goes.
#[derive(Clone, Debug)]
pub enum Destination {
    /// A channel and a topic in it.
    Channel(Box<StreamRow>, Topic),
    /// These users, the sender included; ascending.
    Direct(Vec<UserId>),
}

/// Resolves the destination of a request, and checks that the sender may write there. A message to a channel must have a
/// topic, if only the empty one.
pub fn resolve(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    kind: MessageType,
    to: &JsonOrText,
    topic: Option<&str>,
) -> ApiResult<Destination> {
    match kind {
        MessageType::Channel => {
            let stream = channel_named(connection, caller, now, to)?;
            let topic = read_topic(topic.ok_or_else(|| ApiError::bad_request("Missing topic"))?)?;
            check_channel(connection, caller, now, &stream, &topic)?;
            Ok(Destination::Channel(Box::new(stream), topic))
        }
        MessageType::Direct => {
            let user_ids = direct_participants(connection, caller, to)?;
            check_direct(connection, caller, now, &user_ids)?;
            Ok(Destination::Direct(user_ids))
        }
    }
}

/// Checks again, on the writer, what [`resolve`] checked on a snapshot, and reloads the channel.
pub fn recheck(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    destination: &mut Destination,
) -> ApiResult<()> {
    match destination {
        Destination::Channel(stream, topic) => {
            let fresh = channel_rows::by_id(connection, stream.stream_id)?;
            **stream = fresh.ok_or_else(|| no_channel_with_id(stream.stream_id.0))?;
            check_channel(connection, caller, now, stream, topic)
        }
        Destination::Direct(user_ids) => check_direct(connection, caller, now, user_ids),
    }
}

impl Destination {
    /// The channel and topic; `None` for direct conversations.
    pub fn topic(&self) -> Option<(StreamId, &Topic)> {
        match self {
            Self::Channel(stream, topic) => Some((stream.stream_id, topic)),
            Self::Direct(_) => None,
        }
    }

    /// Returns the set of receivers, and stores that of a direct conversation which the sender begins.
    pub fn recipient(&self, connection: &Connection, sender_id: UserId) -> ApiResult<RecipientId> {
        match self {
            Self::Channel(stream, _) => Ok(stream.recipient_id),
            Self::Direct(user_ids) => match sql::direct_recipient(connection, user_ids)? {
                Some(recipient_id) => Ok(recipient_id),
                None => Ok(sql::insert_direct_recipient(connection, user_ids, sender_id)?),
            },
        }
    }
}

/// Parses a topic.
pub fn read_topic(text: &str) -> ApiResult<Topic> {
    Topic::from_client(text).map_err(|invalid| {
        ApiError::bad_request(format!("Invalid character in topic, at position {}!", invalid.position))
    })
}

/// One channel: an id, a name, or a list of one of them. The name of a channel that the caller may not know of is not told;
/// one that the caller tells is confirmed, as published.
fn channel_named(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    to: &JsonOrText,
) -> ApiResult<StreamRow> {
    let with_name = |name: &str| -> ApiResult<StreamRow> {
        let name = name.trim();
        let stream = channels::by_name(connection, name)?.ok_or_else(|| no_channel_named(name))?;
        if is_known(connection, caller, now, &stream)? { Ok(stream) } else { Err(not_authorized(name)) }
    };
    let one = match to {
        JsonOrText::Text(name) => return with_name(name),
        JsonOrText::Json(Value::Array(list)) => match list.as_slice() {
            [one] => one,
            _ => return Err(ApiError::bad_request("Expected exactly one channel")),
        },
        JsonOrText::Json(one) => one,
    };
    match one {
        Value::Number(id) => {
            let id = id.as_i64().ok_or_else(|| ApiError::bad_request("Invalid data type for channel"))?;
            channel_rows::by_id(connection, StreamId(id))?.ok_or_else(|| no_channel_with_id(id))
        }
        Value::String(name) => with_name(name),
        _ => Err(ApiError::bad_request("Invalid data type for channel")),
    }
}

/// Whether the caller may know that a channel is there: they can see it, or write to it as their owner's bot.
fn is_known(connection: &Connection, caller: &Caller, now: i64, stream: &StreamRow) -> ApiResult<bool> {
    Ok(access::has_metadata_access(Ctx::new(connection, caller, now), stream)?
        || has_access(connection, caller, now, stream)?)
}

/// Checks that the sender may write to a channel and topic.
fn check_channel(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream: &StreamRow,
    topic: &Topic,
) -> ApiResult<()> {
    check_may_post(connection, caller, now, stream)?;
    check_topic(connection, stream, topic)
}

/// Checks that the sender may write to a channel, whatever the topic.
pub fn check_may_post(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream: &StreamRow,
) -> ApiResult<()> {
    if !is_known(connection, caller, now, stream)? {
        return Err(no_channel_with_id(stream.stream_id.0));
    }
    if stream.is_archived || !has_access(connection, caller, now, stream)? {
        return Err(not_authorized(&stream.name));
    }
    if !may_post(connection, caller, now, stream)? {
        return Err(ApiError::bad_request("You do not have permission to post in this channel."));
    }
    Ok(())
}

/// The refusal of a channel in which the caller may not write.
fn not_authorized(name: &str) -> ApiError {
    ApiError::bad_request(format!("Not authorized to send to channel '{name}'"))
}

/// Whether a user may post. Groups are loaded only if not everyone may. A bot may post where its owner may.
fn may_post(connection: &Connection, caller: &Caller, now: i64, stream: &StreamRow) -> ApiResult<bool> {
    let group = StreamSetting::CanSendMessage.group_of(connection, stream.stream_id)?;
    if matches!(SystemGroup::with_id(group), Some(SystemGroup::Everyone | SystemGroup::Internet)) {
        return Ok(true);
    }
    for user_id in [Some(caller.user_id), caller.bot_owner_id].into_iter().flatten() {
        if Membership::of(connection, user_id, now)?.contains(group) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a user has access to a channel. A bot also has access where its owner is subscribed.
fn has_access(connection: &Connection, caller: &Caller, now: i64, stream: &StreamRow) -> ApiResult<bool> {
    if access::has_content_access(Ctx::new(connection, caller, now), stream)? {
        return Ok(true);
    }
    match caller.bot_owner_id {
        Some(owner) => Ok(subscriptions::is_subscribed(connection, owner, stream.stream_id)?),
        None => Ok(false),
    }
}

/// Checks that the channel's policy allows a topic.
pub fn check_topic(connection: &Connection, stream: &StreamRow, topic: &Topic) -> ApiResult<()> {
    let is_empty = topic.as_str().is_empty();
    let policy = match stream.topics_policy {
        // The organization's policy only concerns the empty topic.
        TopicsPolicy::Inherit if !is_empty => return Ok(()),
        TopicsPolicy::Inherit => TopicsPolicy::OF_REALM.get(connection)?,
        policy => policy,
    };
    match policy {
        TopicsPolicy::DisableEmptyTopic if is_empty => {
            Err(ApiError::bad_request("Topics are required in this organization"))
        }
        TopicsPolicy::EmptyTopicOnly if !is_empty => {
            Err(ApiError::bad_request("Only the general chat topic is allowed in this channel."))
        }
        _ => Ok(()),
    }
}

/// The participants of a direct message with the sender, ascending, from ids or emails.
fn direct_participants(connection: &Connection, caller: &Caller, to: &JsonOrText) -> ApiResult<Vec<UserId>> {
    let list: Cow<'_, [Value]> = match to {
        JsonOrText::Text(text) => text
            .split(',')
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .map(|name| Value::String(name.to_owned()))
            .collect(),
        JsonOrText::Json(Value::Array(list)) => list.into(),
        JsonOrText::Json(one @ (Value::String(_) | Value::Number(_))) => slice::from_ref(one).into(),
        JsonOrText::Json(_) => return Err(ApiError::bad_request("Invalid data type for recipients")),
    };
    if list.is_empty() {
        return Err(ApiError::bad_request("Message must have recipients"));
    }
    limits::check("recipients", list.len(), limits::MAX_RECIPIENTS)?;
    let (ids, emails) = (list.iter().any(Value::is_number), list.iter().any(Value::is_string));
    if ids && emails {
        let msg = "Recipient lists may contain emails or user IDs, but not both.";
        return Err(ApiError::bad_request(msg));
    }
    let accessible = Accessible::to(connection, caller)?;
    let mut user_ids = vec![caller.user_id];
    for one in list.iter() {
        user_ids.push(match one {
            Value::Number(id) => {
                let id =
                    id.as_i64().ok_or_else(|| ApiError::bad_request("Invalid data type for recipients"))?;
                let user = user_rows::by_id(connection, UserId(id))?;
                user.ok_or_else(|| ApiError::bad_request(format!("Invalid user ID {id}")))?.user_id
            }
            Value::String(email) => {
                let user = find::by_email(connection, caller, &accessible, email)?;
                user.ok_or_else(|| ApiError::bad_request(format!("Invalid email '{email}'")))?.user_id
            }
            _ => return Err(ApiError::bad_request("Invalid data type for recipients")),
        });
    }
    user_ids.sort_unstable();
    user_ids.dedup();
    Ok(user_ids)
}

/// Checks that the caller may write to these users. Access comes first: the other refusals name people.
fn check_direct(connection: &Connection, caller: &Caller, now: i64, user_ids: &[UserId]) -> ApiResult<()> {
    let mut users = Vec::with_capacity(user_ids.len());
    for user_id in user_ids {
        let user = user_rows::by_id(connection, *user_id)?;
        users.push(user.ok_or_else(|| ApiError::bad_request(format!("Invalid user ID {user_id}")))?);
    }
    users_access::check_recipients(connection, caller, user_ids)?;
    if let Some(gone) = users.iter().find(|user| !user.is_active) {
        let msg = format!("'{}' is no longer using this organization.", gone.full_name);
        return Err(ApiError::bad_request(msg));
    }
    direct_messages::check(connection, caller, now, user_ids)?;
    if user_ids.len() > 2 && sql::direct_recipient(connection, user_ids)?.is_none() {
        let statement =
            "SELECT count(*) FROM recipient WHERE created_by IN (SELECT value FROM json_each(?1))";
        let accounts = Accounts::of(connection, caller.user_id, now)?;
        accounts.check("direct conversations", statement, 1, limits::MAX_DIRECT_CONVERSATIONS)?;
    }
    Ok(())
}
