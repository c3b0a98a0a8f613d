//! Audience of events about a message: users who received it, and subscribers who may read it.

use crate::domain::access::messages::{direct_user_ids, moved_receipts, moved_receivers, stream_of};
use crate::domain::groups::membership;
use crate::domain::groups::permission::StreamSetting;
use crate::domain::messages::receipts::moved::ReceiverGroups;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::{flag_sql, read_state, receipts};
use crate::domain::realm::user_ids::set;
use crate::domain::rows;
use crate::domain::rows::channel::StreamRow;
use crate::domain::subscriptions;
use crate::domain::subscriptions::members;
use crate::error::ApiResult;
use crate::events::Audience;
use crate::store::{Tx, bitmap};
use crate::types::{MessageId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;

/// The audience of a message, with its channel.
pub struct MessageAudience {
    /// The channel; `None` for direct messages.
    pub stream: Option<StreamRow>,
    /// The audience of its events.
    pub audience: Audience,
}

/// Returns who gets the events about a message.
pub fn of(tx: &mut Tx<'_>, message: &MessageRow) -> ApiResult<MessageAudience> {
    let Some(stream_id) = stream_of(tx, message.recipient_id)? else {
        let people = direct_user_ids(tx, message.recipient_id)?.unwrap_or_default();
        return Ok(MessageAudience { stream: None, audience: Audience::users(people) });
    };
    let stream = rows::channel::existing(tx, stream_id)?;
    let audience = of_channel(tx, &stream, message.id)?;
    Ok(MessageAudience { stream: Some(stream), audience })
}

fn of_channel(tx: &mut Tx<'_>, stream: &StreamRow, id: MessageId) -> ApiResult<Audience> {
    let subscribers = members::audience(tx, stream.stream_id)?;
    if stream.invite_only && stream.has_public_history() {
        return Ok(subscribers);
    }
    // Subscribers of a public channel get all its events; only former subscribers have to be found.
    let received = match moved_receivers(&moved_receipts(tx, stream.recipient_id)?, id) {
        Some(received) => received.clone(),
        None if stream.has_public_history() => receipts::former_receivers(tx, stream.stream_id, id)?,
        None => receipts::receivers_by_spans(tx, stream.stream_id, id)?,
    };
    recipients(tx, stream, &[id], received)
}

/// Returns who gets the events about messages of a channel; `received` are the users who received one of them.
pub fn recipients(
    tx: &mut Tx<'_>,
    stream: &StreamRow,
    ids: &[MessageId],
    mut received: RoaringBitmap,
) -> ApiResult<Audience> {
    if stream.is_public() {
        // Users with a flag on a message get its events as if they had received it.
        received |= flag_sql::users_with_any_flag(tx, ids.iter().copied())?;
    }
    let subscribers = members::audience(tx, stream.stream_id)?;
    if !stream.has_public_history() {
        return Ok(Audience::set(received & subscribers.bitmap()));
    }
    if stream.invite_only {
        return Ok(subscribers);
    }
    // Former subscribers of a public channel still see received messages; guests only if it is web-public.
    let former = readers_besides_subscribers(tx, stream, received - subscribers.bitmap())?;
    let audience = if former.is_empty() { subscribers } else { Audience::set(subscribers.bitmap() | former) };
    Ok(audience.and_public_queues())
}

/// The messages of an event, ascending, and who gets it.
pub type Notified = (Vec<MessageId>, Audience);

/// Splits the recipients of an event by the messages that they received, if the history of the channel is protected: an
/// id must not reveal a message that its reader never received. `groups` are the messages by their receivers.
pub fn by_known_messages(
    stream: &StreamRow,
    ids: &[MessageId],
    groups: &ReceiverGroups,
    recipients: Audience,
) -> Vec<Notified> {
    if stream.has_public_history() || groups.len() < 2 {
        return vec![(ids.to_vec(), recipients)];
    }
    let classes = classes(groups, recipients.bitmap().clone()).into_iter();
    classes
        .map(|(known, users)| (known.into_iter().map(MessageId::from).collect(), Audience::set(users)))
        .collect()
}

/// Groups users by which of the messages they received, without users who received none.
pub fn classes(groups: &ReceiverGroups, users: RoaringBitmap) -> ReceiverGroups {
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

/// Returns the users among `user_ids` who may read a channel without being subscribed to it.
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
    let mut readers = RoaringBitmap::new();
    for setting in StreamSetting::ALL.into_iter().filter(|setting| setting.grants_content_access()) {
        readers |= membership::users_in(tx, &[setting.group_of(tx, stream.stream_id)?], tx.now())?;
    }
    without_guests(tx, user_ids & readers)
}

/// Returns the users of a set who can read the messages of a channel.
pub fn readers_among(tx: &Tx<'_>, stream: &StreamRow, user_ids: RoaringBitmap) -> ApiResult<RoaringBitmap> {
    let subscribers = subscriptions::subscribers_with_deactivated(tx, stream.stream_id)?;
    let others = readers_besides_subscribers(tx, stream, &user_ids - &subscribers)?;
    Ok((user_ids & subscribers) | others)
}

/// True if a user may read a channel.
pub fn may_read(tx: &Tx<'_>, stream: &StreamRow, user_id: UserId) -> ApiResult<bool> {
    let user = user_id.bit().into_iter().collect();
    Ok(rows::channel::is_subscribed(tx, user_id, stream.stream_id)?
        || !readers_besides_subscribers(tx, stream, user)?.is_empty())
}

/// Returns the active users among `user_ids` who are no guests. Each change of a message asks about all of its former receivers, who
/// can be thousands, or a few of a hundred thousand users.
pub fn without_guests(connection: &Connection, user_ids: RoaringBitmap) -> ApiResult<RoaringBitmap> {
    Ok(set(
        connection,
        "SELECT user_id FROM rarray(?1) AS wanted CROSS JOIN user ON user_id = wanted.value
         WHERE is_active AND role <> 600",
        [bitmap::to_array(&user_ids)],
    )?)
}

/// Returns the users of an audience for whom a message is not unread, ascending: they read it, or never received it.
pub fn readers(
    connection: &Connection,
    audience: &Audience,
    stream: Option<&StreamRow>,
    message: &MessageRow,
) -> ApiResult<Vec<UserId>> {
    let unread = receipts::users_who_received(connection, stream, message)?
        - read_state::users_who_read(connection, message.recipient_id, message.id)?;
    Ok((audience.bitmap() - unread).iter().map(UserId::from).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::count_steps;

    #[test]
    fn members_are_found_without_reading_other_users() {
        let connection = Connection::open_in_memory().unwrap();
        rusqlite::vtab::array::load_module(&connection).unwrap();
        connection.execute_batch(crate::store::SCHEMA).unwrap();
        connection
            .execute_batch(
                "WITH RECURSIVE one (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM one WHERE id < 5000)
                 INSERT INTO user (user_id, email, delivery_email, delivery_email_key, full_name, role, is_active, date_joined)
                 SELECT id, '', '', id, '', iif(id = 20, 600, 400), id <> 30, 0 FROM one;",
            )
            .unwrap();
        let steps = count_steps(&connection);
        let asked: RoaringBitmap = (1..=150).map(|number| number * 10).chain([6000]).collect();
        let members = without_guests(&connection, asked.clone()).unwrap();
        assert_eq!((asked - members).iter().collect::<Vec<_>>(), [20, 30, 6000]);
        assert!(without_guests(&connection, RoaringBitmap::new()).unwrap().is_empty());
        // Each row takes several steps.
        let steps = steps();
        assert!(steps < 5000, "{steps} steps for 150 users of 5000");
    }

    #[test]
    fn ids_of_unreceived_messages_are_not_sent() {
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
