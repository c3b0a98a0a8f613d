//! Who hears of what happens to a message: everybody who received it or may read it as a subscriber.

use crate::domain::access::channel_rows as channels;
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::groups::channel_settings::StreamSetting;
use crate::domain::groups::membership;
use crate::domain::messages::flags::bit;
use crate::domain::messages::moved_receipts::Groups;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::{moved_receipts, sql, unread};
use crate::domain::subscriptions::members;
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
    let stream = channels::by_id(tx, stream_id)?
        .ok_or_else(|| ApiError::internal("the channel of a message has no row"))?;
    let audience = of_channel(tx, &stream, message.id)?;
    Ok(Receivers { stream: Some(stream), audience })
}

/// Who hears of a message of a channel.
fn of_channel(tx: &mut Tx<'_>, stream: &StreamRow, id: MessageId) -> ApiResult<Audience> {
    let subscribers = members::audience(tx, stream.stream_id)?;
    if stream.invite_only && stream.has_public_history() {
        return Ok(subscribers);
    }
    // Of a public channel, only those who left are of interest: subscribers hear of everything.
    let received = match moved_receipts::receivers(&moved_receipts::of(tx, stream.recipient_id)?, id) {
        Some(received) => received.clone(),
        None if stream.has_public_history() => former_receivers(tx, stream.stream_id, id)?,
        None => receivers_by_spans(tx, stream.stream_id, id)?,
    };
    hearers(tx, stream, &[id], received)
}

/// Users who have a flag on one of some messages. Whoever stars a message of a public channel wants to hear of it, as if
/// they had received it.
fn flag_holders(connection: &Connection, ids: &[MessageId]) -> ApiResult<RoaringBitmap> {
    let mut holders = RoaringBitmap::new();
    for id in ids {
        holders.extend(sql::users_with_flag(connection, *id, bit::ANY)?.into_iter().filter_map(UserId::bit));
    }
    Ok(holders)
}

/// Who hears of messages of a channel. `received` are the users who received some of them.
pub fn hearers(
    tx: &mut Tx<'_>,
    stream: &StreamRow,
    ids: &[MessageId],
    mut received: RoaringBitmap,
) -> ApiResult<Audience> {
    if stream.is_public() {
        received |= flag_holders(tx, ids)?;
    }
    let subscribers = members::audience(tx, stream.stream_id)?;
    if !stream.has_public_history() {
        return Ok(Audience::set(received & subscribers.bitmap()));
    }
    if stream.invite_only {
        return Ok(subscribers);
    }
    // Those who left a public channel still see what they received there; guests only where nobody needs an account.
    let former = readers_besides_subscribers(tx, stream, received - subscribers.bitmap())?;
    let audience = if former.is_empty() { subscribers } else { Audience::set(subscribers.bitmap() | former) };
    Ok(audience.and_public_queues())
}

/// Messages of one event, ascending, and who hears of them.
pub type Told = (Vec<MessageId>, Audience);

/// Splits those who hear of some messages of a channel by which of them they may know of. Where history is protected,
/// an id would tell of a message that somebody never received; elsewhere all hear of all. `groups` are the messages
/// by their receivers.
pub fn by_what_they_know(
    stream: &StreamRow,
    ids: &[MessageId],
    groups: &Groups,
    hearers: Audience,
) -> Vec<Told> {
    if stream.has_public_history() || groups.len() < 2 {
        return vec![(ids.to_vec(), hearers)];
    }
    let classes = classes(groups, hearers.bitmap().clone()).into_iter();
    classes
        .map(|(known, users)| (known.into_iter().map(MessageId::from).collect(), Audience::set(users)))
        .collect()
}

/// Users who received the same of some messages, with those messages; without users who received none.
fn classes(groups: &Groups, users: RoaringBitmap) -> Groups {
    let mut classes = vec![(RoaringBitmap::new(), users)];
    for (received, receivers) in groups {
        let split = classes.into_iter().flat_map(|(known, users)| {
            let inside = &users & receivers;
            let outside = users - receivers;
            [(&known | received, inside), (known, outside)]
        });
        classes = split.filter(|(_, users)| !users.is_empty()).collect();
    }
    classes.retain(|(known, _)| !known.is_empty());
    classes
}

/// Those of some users who may read a channel without being subscribed to it.
pub fn readers_besides_subscribers(
    tx: &Tx<'_>,
    stream: &StreamRow,
    user_ids: RoaringBitmap,
) -> ApiResult<RoaringBitmap> {
    if stream.is_web_public {
        return Ok(user_ids);
    }
    if stream.is_public() {
        return without_guests(tx, user_ids);
    }
    if !stream.has_public_history() {
        return Ok(RoaringBitmap::new());
    }
    let mut let_in = RoaringBitmap::new();
    for setting in StreamSetting::ALL.into_iter().filter(|setting| setting.lets_in()) {
        let_in |= membership::users_in(tx, setting.group_of(tx, stream.stream_id)?, tx.now())?;
    }
    without_guests(tx, user_ids & let_in)
}

/// Those of some users who are active and no guests.
pub fn without_guests(connection: &Connection, user_ids: RoaringBitmap) -> ApiResult<RoaringBitmap> {
    let mut statement = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM user WHERE user_id = ?1 AND is_active AND role <> 600)",
    )?;
    let mut left = RoaringBitmap::new();
    for bit in user_ids {
        if statement.query_row([bit], |row| row.get(0))? {
            left.insert(bit);
        }
    }
    Ok(left)
}

/// Users who were subscribed to a channel when a message came, and people who were and left.
fn receivers_by_spans(
    connection: &Connection,
    stream_id: StreamId,
    id: MessageId,
) -> ApiResult<RoaringBitmap> {
    let present = bitmap(
        connection,
        "SELECT user_id FROM subscription INDEXED BY subscription_stream
             JOIN subscription_span USING (user_id, stream_id)
         WHERE stream_id = ?1 AND active AND from_message_id <= ?2
             AND (until_message_id IS NULL OR ?2 < until_message_id)",
        stream_id,
        id,
    )?;
    Ok(present | former_receivers(connection, stream_id, id)?)
}

/// People whose stay during a message has ended.
fn former_receivers(connection: &Connection, stream_id: StreamId, id: MessageId) -> ApiResult<RoaringBitmap> {
    bitmap(
        connection,
        "SELECT user_id FROM subscription_span INDEXED BY subscription_span_ended
         WHERE stream_id = ?1 AND until_message_id IS NOT NULL
             AND from_message_id <= ?2 AND ?2 < until_message_id",
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

/// Who received a message.
pub fn who_received(
    connection: &Connection,
    stream: Option<&StreamRow>,
    message: &MessageRow,
) -> ApiResult<RoaringBitmap> {
    let Some(stream) = stream else {
        let people = sql::direct_user_ids(connection, message.recipient_id)?.unwrap_or_default();
        return Ok(people.into_iter().filter_map(UserId::bit).collect());
    };
    match moved_receipts::receivers(&moved_receipts::of(connection, stream.recipient_id)?, message.id) {
        Some(received) => Ok(received.clone()),
        None => receivers_by_spans(connection, stream.stream_id, message.id),
    }
}

/// Those of an audience who have read a message, or never received it and so do not count it as unread; ascending.
pub fn readers(
    connection: &Connection,
    audience: &Audience,
    stream: Option<&StreamRow>,
    message: &MessageRow,
) -> ApiResult<Vec<UserId>> {
    let unread = who_received(connection, stream, message)?
        - unread::who_read(connection, message.recipient_id, message.id)?;
    Ok((audience.bitmap() - unread).iter().map(UserId::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_did_not_receive_a_message_does_not_hear_its_id() {
        let set = |bits: &[u32]| bits.iter().copied().collect::<RoaringBitmap>();
        // User 1 received all of them, user 2 those from 3 on, user 3 those up to 2, and user 4 none.
        let groups = vec![(set(&[1, 2]), set(&[1, 3])), (set(&[3, 4]), set(&[1, 2]))];
        let expected =
            [(set(&[1, 2, 3, 4]), set(&[1])), (set(&[1, 2]), set(&[3])), (set(&[3, 4]), set(&[2]))];
        assert_eq!(classes(&groups, set(&[1, 2, 3, 4])), expected);
        assert_eq!(classes(&groups, set(&[2])), [(set(&[3, 4]), set(&[2]))]);
        assert_eq!(classes(&groups, set(&[])), []);
    }
}
