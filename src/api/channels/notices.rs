//! What the notification bot says about channels (`semantics.md` section 8): the texts, and where they go.

use super::row::StreamRow;
use crate::api::{realm, users};
use crate::app::App;
use crate::http::{ApiError, ApiResult, Caller};
use crate::store::Tx;
use crate::types::{StreamId, UserId};
use rusqlite::Connection;

/// The topic of notices in the channel that they are about.
const CHANNEL_EVENTS_TOPIC: &str = "channel events";

/// The topic of announcements of new channels.
const NEW_CHANNELS_TOPIC: &str = "new channels";

/// A message of the notification bot that is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Where it goes.
    pub to: Place,
    /// Markdown.
    pub content: String,
}

/// Where a notice goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A topic of a channel.
    Topic(StreamId, String),
    /// One user.
    Direct(UserId),
}

/// Sends notices. The one way from here to the messages; a caller has committed what the notices tell of.
pub async fn post(_app: &App, notices: Vec<Notice>) -> ApiResult<()> {
    for notice in notices {
        tracing::debug!(?notice, "a notice");
    }
    Ok(())
}

/// How notices name the caller.
pub fn name_of(tx: &Tx<'_>, caller: &Caller) -> ApiResult<String> {
    let user = users::sql::by_id(tx, caller.user_id)?.ok_or_else(ApiError::internal)?;
    Ok(silent_mention(&user.full_name, user.user_id))
}

/// A mention that notifies nobody.
fn silent_mention(full_name: &str, user_id: UserId) -> String {
    format!("@_**{full_name}|{user_id}**")
}

fn link(stream: &StreamRow) -> String {
    format!("#**{}**", stream.name)
}

fn in_channel(stream: &StreamRow, content: String) -> Notice {
    Notice { to: Place::Topic(stream.stream_id, CHANNEL_EVENTS_TOPIC.to_owned()), content }
}

/// In a new channel: what it is, and who made it.
pub fn created(stream: &StreamRow, by: &str) -> Notice {
    let kind = match (stream.invite_only, stream.is_web_public, stream.history_public_to_subscribers) {
        (false, true, _) => "Web-public",
        (false, false, _) => "Public",
        (true, _, true) => "Private, shared history",
        (true, _, false) => "Private, protected history",
    };
    let description =
        if stream.description.is_empty() { "*No description.*" } else { stream.description.as_str() };
    let content =
        format!("**{kind}** channel created by {by}. **Description:**\n```` quote\n{description}\n````");
    in_channel(stream, content)
}

/// In the organization's announcement channel, if it has one: new channels.
pub fn announced(connection: &Connection, streams: &[StreamRow], by: &str) -> ApiResult<Option<Notice>> {
    let target: i64 = realm::settings::get(connection, "new_stream_announcements_stream_id")?;
    if target < 0 || streams.is_empty() {
        return Ok(None);
    }
    let links: Vec<String> = streams.iter().map(link).collect();
    let content = match links.as_slice() {
        [only] => format!("{by} created a new channel {only}."),
        several => format!("{by} created the following channels: {}.", several.join(", ")),
    };
    Ok(Some(Notice { to: Place::Topic(StreamId(target), NEW_CHANNELS_TOPIC.to_owned()), content }))
}

/// To somebody whom another user subscribed to channels that were there before.
pub fn subscribed(user_id: UserId, names: &[String], by: &str) -> Notice {
    let mut names = names.to_vec();
    names.sort_unstable();
    let content = match names.as_slice() {
        [only] => format!("{by} subscribed you to #**{only}**."),
        several => {
            let list = several.join("**\n* #**");
            format!("{by} subscribed you to the following channels:\n\n* #**{list}**\n")
        }
    };
    Notice { to: Place::Direct(user_id), content }
}

/// In a renamed channel.
pub fn renamed(stream: &StreamRow, old_name: &str, by: &str) -> Notice {
    in_channel(stream, format!("{by} renamed channel **{old_name}** to **{}**.", stream.name))
}

/// In an archived channel, or one that is no longer.
pub fn archived(stream: &StreamRow) -> Notice {
    let what = if stream.is_archived { "archived" } else { "unarchived" };
    in_channel(stream, format!("Channel {} has been {what}.", link(stream)))
}
