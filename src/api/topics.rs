//! `GET /users/me/{stream_id}/topics`: the topics of a channel.

use crate::api::resource::Resource;
use crate::auth::Ctx;
use crate::domain::access::messages::Ranges;
use crate::domain::limits::MAX_SHOWN_TOPICS;
use crate::domain::messages::topic_sql;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::rows::channel::StreamRow;
use crate::domain::{access, rows};
use crate::http::{ApiResult, Read, Reply, Route, VISITOR, Visitor};
use crate::types::{MessageId, StreamId, TopicId, shown_topic};
use hyper::Method;
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};

pub const RESOURCE: Resource = Resource { name: "topics", routes, ..Resource::EMPTY };

fn routes() -> Vec<Route> {
    vec![Route::read(Method::GET, "/users/me/{stream_id}/topics", VISITOR, get_topics).slow()]
}

/// Parameters of `GET /users/me/{stream_id}/topics`.
#[derive(Deserialize)]
pub struct TopicsParams {
    /// The id of a channel whose messages the caller may read.
    stream_id: StreamId,
    /// True to return the empty topic as an empty string, false to return its display name. False by default.
    #[serde(default)]
    allow_empty_topic_name: bool,
}

/// A topic of a channel (spec, "Topic entry").
#[derive(Serialize)]
struct TopicEntry {
    /// The topic, as the newest message spells it.
    name: String,
    /// The id of the newest message in the topic that the caller may see.
    max_id: MessageId,
}

/// The reply to `GET /users/me/{stream_id}/topics`.
#[derive(Serialize)]
struct Topics {
    /// The topics, the one with the newest message first.
    topics: Vec<TopicEntry>,
}

/// `GET /users/me/{stream_id}/topics`: lists the topics of a channel, the one with the newest message first. If the
/// history is protected, only topics with messages that the caller received.
fn get_topics(read: &Read<'_, Visitor>, params: TopicsParams) -> ApiResult<Reply<Topics>> {
    access::visitors::check(read, read.caller)?;
    let stream =
        rows::channel::by_id(read, params.stream_id)?.ok_or_else(access::channels::no_such_channel)?;
    let visible = visible(read.ctx(), &stream)?;
    let mut topics = Vec::new();
    for topic_id in topic_sql::topics_of(read, stream.stream_id)? {
        let mut newest = None;
        for range in &visible {
            newest = newest.max(newest_between(read, topic_id, *range.start(), *range.end())?);
        }
        if let Some((max_id, name)) = newest {
            let name = shown_topic(&name, params.allow_empty_topic_name).to_owned();
            topics.push(TopicEntry { name, max_id });
        }
    }
    topics.sort_unstable_by_key(|topic| std::cmp::Reverse(topic.max_id));
    topics.truncate(MAX_SHOWN_TOPICS);
    Reply::data(&Topics { topics })
}

/// The ids of messages of the channel that the caller may see.
fn visible(ctx: Ctx<'_>, stream: &StreamRow) -> ApiResult<Ranges> {
    let view = MessageViewer::new(ctx).channel(stream)?;
    if view.stream.is_none() {
        return Err(access::channels::no_such_channel());
    }
    Ok(view.visible.clone())
}

/// The newest message of a topic within bounds, and its spelling of the topic.
fn newest_between(
    connection: &Connection,
    topic_id: TopicId,
    first: u32,
    last: u32,
) -> ApiResult<Option<(MessageId, String)>> {
    Ok(connection
        .prepare_cached(
            "SELECT id, subject FROM message WHERE topic_id = ?1 AND id BETWEEN ?2 AND ?3 ORDER BY id DESC LIMIT 1",
        )?
        .query_row((topic_id, first, last), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?)
}
