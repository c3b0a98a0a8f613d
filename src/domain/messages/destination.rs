//! Destinations of messages: resolving `type`, `to` and `topic` of a request, and checking that the sender may write
//! there.

use crate::auth::{Caller, Ctx};
use crate::domain::access::channels::{no_channel_named, no_channel_with_id};
use crate::domain::access::users::Accessible;
use crate::domain::groups::membership::Membership;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::groups::system::SystemGroup;
use crate::domain::limits::Accounts;
use crate::domain::messages::rules::direct_messages;
use crate::domain::messages::sql;
use crate::domain::rows::channel::{StreamRow, TopicsPolicy};
use crate::domain::{access, channels, limits, rows, users};
use crate::error::{ApiError, ApiResult};
use crate::types::{JsonOrText, StreamId, Topic, UserId};
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

/// Destination of a message.
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
    ctx: Ctx<'_>,
    kind: MessageType,
    to: &JsonOrText,
    topic: Option<&str>,
) -> ApiResult<Destination> {
    let destination = find(ctx, kind, to, topic)?;
    check(ctx, to, &destination)?;
    Ok(destination)
}

/// Resolves the destination of a request, to which the sender may have no access: [`check`] follows before anything of it is
/// shown or used.
pub fn find(ctx: Ctx<'_>, kind: MessageType, to: &JsonOrText, topic: Option<&str>) -> ApiResult<Destination> {
    match kind {
        MessageType::Channel => {
            let query = ChannelQuery::of(to)?;
            // Before the channel is looked up: a bad topic would otherwise show that a hidden channel exists.
            let topic = read_topic(topic.ok_or_else(|| ApiError::bad_request("Missing topic"))?)?;
            let stream = match query {
                ChannelQuery::Id(id) => {
                    rows::channel::by_id(&ctx, StreamId(id))?.ok_or_else(|| no_channel_with_id(id))?
                }
                ChannelQuery::Name(name) => {
                    channels::by_name(&ctx, name)?.ok_or_else(|| no_channel_named(name))?
                }
            };
            Ok(Destination::Channel(Box::new(stream), topic))
        }
        MessageType::Direct => Ok(Destination::Direct(direct_participants(&ctx, ctx.caller, to)?)),
    }
}

/// Checks that the sender may write to the destination that a request names as `to`. Inaccessible channels are confirmed
/// only by name, as published.
pub fn check(ctx: Ctx<'_>, to: &JsonOrText, destination: &Destination) -> ApiResult<()> {
    match destination {
        Destination::Channel(stream, topic) => {
            if let ChannelQuery::Name(name) = ChannelQuery::of(to)?
                && !is_known(ctx, stream)?
            {
                return Err(not_authorized(name));
            }
            check_channel(ctx, stream, topic)
        }
        Destination::Direct(user_ids) => check_direct(ctx, user_ids),
    }
}

/// Repeats, on the writer, the checks of [`resolve`] on a snapshot, and reloads the channel.
pub fn recheck(ctx: Ctx<'_>, destination: &mut Destination) -> ApiResult<()> {
    match destination {
        Destination::Channel(stream, topic) => {
            let fresh = rows::channel::by_id(&ctx, stream.stream_id)?;
            **stream = fresh.ok_or_else(|| no_channel_with_id(stream.stream_id.0))?;
            check_channel(ctx, stream, topic)
        }
        Destination::Direct(user_ids) => check_direct(ctx, user_ids),
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
}

/// Parses a topic.
pub fn read_topic(text: &str) -> ApiResult<Topic> {
    Topic::from_client(text).map_err(|invalid| {
        ApiError::bad_request(format!("Invalid character in topic, at position {}!", invalid.position))
    })
}

/// The channel that a request names: an id, a name, or a list of one of them.
enum ChannelQuery<'a> {
    Id(i64),
    Name(&'a str),
}

impl<'a> ChannelQuery<'a> {
    fn of(to: &'a JsonOrText) -> ApiResult<Self> {
        let one = match to {
            JsonOrText::Text(name) => return Ok(Self::Name(name.trim())),
            JsonOrText::Json(Value::Array(list)) => match list.as_slice() {
                [one] => one,
                _ => return Err(ApiError::bad_request("Expected exactly one channel")),
            },
            JsonOrText::Json(one) => one,
        };
        let query = match one {
            Value::Number(id) => id.as_i64().map(Self::Id),
            Value::String(name) => Some(Self::Name(name.trim())),
            _ => None,
        };
        query.ok_or_else(|| ApiError::bad_request("Invalid data type for channel"))
    }
}

/// True if the caller can see a channel, or write to it as their owner's bot.
fn is_known(ctx: Ctx<'_>, stream: &StreamRow) -> ApiResult<bool> {
    Ok(has_access(ctx, stream)? || access::channels::has_metadata_access(ctx, stream)?)
}

/// Checks that the sender may write to a channel and topic.
fn check_channel(ctx: Ctx<'_>, stream: &StreamRow, topic: &Topic) -> ApiResult<()> {
    check_may_post(ctx, stream)?;
    check_topic(&ctx, stream, topic)
}

/// Checks that the sender may write to a channel, for any topic.
pub fn check_may_post(ctx: Ctx<'_>, stream: &StreamRow) -> ApiResult<()> {
    let has_access = has_access(ctx, stream)?;
    if !has_access && !access::channels::has_metadata_access(ctx, stream)? {
        return Err(no_channel_with_id(stream.stream_id.0));
    }
    if stream.is_archived || !has_access {
        return Err(not_authorized(&stream.name));
    }
    if !may_post(ctx, stream)? {
        return Err(ApiError::bad_request("You do not have permission to post in this channel."));
    }
    Ok(())
}

/// The refusal of a channel in which the caller may not write.
fn not_authorized(name: &str) -> ApiError {
    ApiError::bad_request(format!("Not authorized to send to channel '{name}'"))
}

/// True if a user may post. Groups are loaded only if not everyone may. A bot may post where its owner may.
fn may_post(ctx: Ctx<'_>, stream: &StreamRow) -> ApiResult<bool> {
    let group = StreamSetting::CanSendMessage.group_of(&ctx, stream.stream_id)?;
    if matches!(SystemGroup::with_id(group), Some(SystemGroup::Everyone | SystemGroup::Internet)) {
        return Ok(true);
    }
    for user_id in [Some(ctx.caller.user_id), ctx.caller.bot_owner_id].into_iter().flatten() {
        if Membership::of(&ctx, user_id, ctx.now)?.contains(group) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if a user has access to a channel. A bot also has access where its owner is subscribed.
fn has_access(ctx: Ctx<'_>, stream: &StreamRow) -> ApiResult<bool> {
    if access::channels::has_content_access(ctx, stream)? {
        return Ok(true);
    }
    match ctx.caller.bot_owner_id {
        Some(owner) => Ok(rows::channel::is_subscribed(&ctx, owner, stream.stream_id)?),
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
                let user = rows::user::by_id(connection, UserId(id))?;
                user.ok_or_else(|| ApiError::bad_request(format!("Invalid user ID {id}")))?.user_id
            }
            Value::String(email) => {
                let user = users::find::by_email(connection, caller, &accessible, email)?;
                user.ok_or_else(|| ApiError::bad_request(format!("Invalid email '{email}'")))?.user_id
            }
            _ => return Err(ApiError::bad_request("Invalid data type for recipients")),
        });
    }
    user_ids.sort_unstable();
    user_ids.dedup();
    Ok(user_ids)
}

/// Checks that the caller, who is active, may write to these users. Access comes first: the other refusals name people.
fn check_direct(ctx: Ctx<'_>, user_ids: &[UserId]) -> ApiResult<()> {
    let mut users = Vec::with_capacity(user_ids.len());
    for user_id in user_ids.iter().filter(|user_id| **user_id != ctx.caller.user_id) {
        let user = rows::user::by_id(&ctx, *user_id)?;
        users.push(user.ok_or_else(|| ApiError::bad_request(format!("Invalid user ID {user_id}")))?);
    }
    access::users::check_recipients(&ctx, ctx.caller, user_ids)?;
    if let Some(gone) = users.iter().find(|user| !user.is_active) {
        let msg = format!("'{}' is no longer using this organization.", gone.full_name);
        return Err(ApiError::bad_request(msg));
    }
    direct_messages::check(ctx, user_ids)?;
    if user_ids.len() > 2 && sql::direct_recipient(&ctx, user_ids)?.is_none() {
        let statement =
            "SELECT count(*) FROM recipient WHERE created_by IN (SELECT value FROM json_each(?1))";
        let accounts = Accounts::of(&ctx, ctx.caller.user_id, ctx.now)?;
        accounts.check("direct conversations", statement, 1, limits::MAX_DIRECT_CONVERSATIONS)?;
        let statement =
            "SELECT coalesce(sum(length(user_ids) - length(replace(user_ids, ',', '')) + 1), 0) FROM recipient
             WHERE created_by IN (SELECT value FROM json_each(?1))";
        let (what, limit) = ("participants of direct conversations", limits::MAX_DIRECT_PARTICIPANTS);
        accounts.check(what, statement, user_ids.len(), limit)?;
    }
    Ok(())
}
