//! Who hears of what happens to a message: everybody who received it or may read it as a subscriber.

use super::message::MessageRow;
use super::sql;
use crate::api::channels::{row::StreamRow, sql as channels};
use crate::api::subscriptions::members;
use crate::events::Audience;
use crate::http::{ApiError, ApiResult};
use crate::store::Tx;
use crate::types::{MessageId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// Where a message is, and who hears of it.
pub struct Receivers {
    /// The channel; `None` for direct messages.
    pub stream: Option<StreamRow>,
    /// Who hears of it.
    pub audience: Audience,
}

/// The receivers of a message.
pub fn of(tx: &mut Tx<'_>, message: &MessageRow) -> ApiResult<Receivers> {
    let Some(stream_id) = sql::stream_of(tx, message.recipient_id)? else {
        let people = sql::direct_user_ids(tx, message.recipient_id)?.unwrap_or_default();
        return Ok(Receivers { stream: None, audience: Audience::users(people) });
    };
    let stream = channels::by_id(tx, stream_id)?.ok_or_else(ApiError::internal)?;
    let audience = of_channel(tx, &stream, message.id)?;
    Ok(Receivers { stream: Some(stream), audience })
}

/// Who hears of a message of a channel.
pub fn of_channel(tx: &mut Tx<'_>, stream: &StreamRow, id: MessageId) -> ApiResult<Audience> {
    let subscribers = members::audience(tx, stream.stream_id)?;
    if !stream.has_public_history() {
        return Ok(Audience::set(subscribers_with(tx, stream.stream_id, id)?));
    }
    if stream.invite_only {
        return Ok(subscribers);
    }
    // Those who left a public channel still see what they received there.
    let former = former_receivers(tx, stream.stream_id, id)?;
    let audience = if former.is_subset(subscribers.bitmap()) {
        subscribers
    } else {
        Audience::set(subscribers.bitmap() | former)
    };
    Ok(audience.and_public_queues())
}

/// Subscribers who were subscribed when a message came.
fn subscribers_with(connection: &Connection, stream_id: StreamId, id: MessageId) -> ApiResult<RoaringBitmap> {
    bitmap(
        connection,
        "SELECT DISTINCT user_id FROM subscription JOIN user USING (user_id)
             JOIN subscription_span USING (user_id, stream_id)
         WHERE stream_id = ?1 AND active AND is_active
             AND from_message_id <= ?2 AND (until_message_id IS NULL OR ?2 < until_message_id)",
        stream_id,
        id,
    )
}

/// People who left and had received a message; guests see nothing any more.
fn former_receivers(connection: &Connection, stream_id: StreamId, id: MessageId) -> ApiResult<RoaringBitmap> {
    bitmap(
        connection,
        "SELECT DISTINCT user_id FROM subscription_span INDEXED BY subscription_span_ended JOIN user USING (user_id)
         WHERE stream_id = ?1 AND until_message_id IS NOT NULL
             AND from_message_id <= ?2 AND ?2 < until_message_id AND is_active AND role <> 600",
        stream_id,
        id,
    )
}

fn bitmap(
    connection: &Connection,
    sql: &str,
    stream_id: StreamId,
    id: MessageId,
) -> ApiResult<RoaringBitmap> {
    let mut statement = connection.prepare_cached(sql)?;
    let ids = statement.query_map((stream_id, id), |row| row.get::<_, UserId>(0))?;
    Ok(ids.filter_map(|id| id.map(UserId::bit).transpose()).collect::<Result<_, _>>()?)
}

/// Those of an audience who have read a message, or never received it and so do not count it as unread; ascending.
pub fn readers(tx: &Tx<'_>, receivers: &Receivers, message: &MessageRow) -> ApiResult<Vec<UserId>> {
    let mut readers = Vec::new();
    for user_id in receivers.audience.bitmap().iter().map(UserId::from) {
        let set = super::unread::load(tx, user_id, message.recipient_id)?;
        let is_read = message.id.bit().is_none_or(|id| set.contains(id));
        let received = match &receivers.stream {
            None => true,
            Some(stream) => crate::api::subscriptions::sql::spans(tx, user_id, stream.stream_id)?
                .into_iter()
                .any(|span| span.contains(message.id)),
        };
        if is_read || !received {
            readers.push(user_id);
        }
    }
    Ok(readers)
}
