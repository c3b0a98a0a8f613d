//! From a narrow to a cursor: which indexes answer it, and what is left to test message by message.

use super::feed::{Cursor, Direction, Index, IndexCursor, Intersection, Known, Union, Within};
use super::flags::bit;
use super::message::attribute;
use super::narrow::{Narrow, Term, Test};
use super::sight::{Ranges, Sight};
use super::sql;
use crate::api::channels::sql as channels;
use crate::api::subscriptions::sql as subscriptions;
use crate::http::ApiResult;
use crate::types::{MessageId, RecipientId, Topic, TopicId, UserId};
use rusqlite::OptionalExtension;

/// How a narrow is answered in one direction.
pub struct Plan<'a> {
    sight: &'a Sight<'a>,
    cursor: Box<dyn Cursor + 'a>,
    direction: Direction,
    /// Terms that the cursor does not answer.
    left: Vec<Term>,
    /// Whether the cursor may give messages that the viewer may not see.
    check_sight: bool,
}

/// What terms are tested on.
struct Candidate {
    id: MessageId,
    recipient_id: RecipientId,
    subject: String,
    sender_id: UserId,
    attributes: i64,
    flags: i64,
}

/// Where messages are taken from.
struct Place {
    index: Index,
    key: i64,
    recipient_id: RecipientId,
}

impl<'a> Plan<'a> {
    /// Plans a narrow. `wanted` is about how many messages will be asked for.
    pub fn new(
        sight: &'a Sight<'a>,
        narrow: &Narrow,
        direction: Direction,
        wanted: usize,
    ) -> ApiResult<Self> {
        let mut planner = Planner {
            sight,
            direction,
            wanted,
            shared: narrow.wants_shared_history(),
            unread: false,
            left: Vec::new(),
        };
        let (cursor, check_sight) = planner.plan(narrow)?;
        Ok(Self { sight, cursor, direction, left: planner.left, check_sight })
    }

    /// A plan that tests one known message. It is not held back for never having been received.
    pub fn for_known(sight: &'a Sight<'a>, narrow: &Narrow, id: MessageId) -> Self {
        let direction = Direction::Down;
        let cursor = Box::new(Known::new(id.bit().into_iter().collect(), direction));
        Self { sight, cursor, direction, left: narrow.terms.clone(), check_sight: true }
    }

    /// Up to `limit` messages from a bound on, in the plan's direction.
    pub fn take(&mut self, from: Option<u32>, limit: usize) -> ApiResult<Vec<MessageId>> {
        let mut ids = Vec::with_capacity(limit.min(1024));
        let mut bound = from;
        while let Some(from) = bound
            && ids.len() < limit
        {
            let Some(bit) = self.cursor.seek(from)? else { break };
            let id = MessageId::from(bit);
            if self.matches(id)? {
                ids.push(id);
            }
            bound = self.direction.past(bit);
        }
        Ok(ids)
    }

    fn matches(&self, id: MessageId) -> ApiResult<bool> {
        if self.left.is_empty() && !self.check_sight {
            return Ok(true);
        }
        let Some(candidate) = load_candidate(self.sight, id)? else { return Ok(false) };
        if self.check_sight && !self.sight.visible(candidate.recipient_id, id)? {
            return Ok(false);
        }
        for term in &self.left {
            if holds(self.sight, &term.test, &candidate)? == term.negated {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn load_candidate(sight: &Sight<'_>, id: MessageId) -> ApiResult<Option<Candidate>> {
    Ok(sight
        .connection
        .prepare_cached(
            "SELECT recipient_id, subject, sender_id, attributes,
                 coalesce((SELECT flags FROM user_message_flags WHERE user_id = ?2 AND message_id = ?1), 0)
             FROM message WHERE id = ?1",
        )?
        .query_row((id, sight.caller.user_id), |row| {
            Ok(Candidate {
                id,
                recipient_id: row.get(0)?,
                subject: row.get(1)?,
                sender_id: row.get(2)?,
                attributes: row.get(3)?,
                flags: row.get(4)?,
            })
        })
        .optional()?)
}

/// Whether a message is as a term asks, not turned around.
fn holds(sight: &Sight<'_>, test: &Test, message: &Candidate) -> ApiResult<bool> {
    let view = || sight.view(message.recipient_id);
    Ok(match test {
        Test::Channel(stream) => message.recipient_id == stream.recipient_id,
        Test::PublicChannels => view()?.stream.as_ref().is_some_and(|stream| !stream.invite_only),
        Test::WebPublicChannels => view()?.stream.as_ref().is_some_and(|stream| stream.is_web_public),
        Test::Topic(key) => view()?.stream.is_some() && Topic::stored(message.subject.clone()).key() == *key,
        Test::Direct(recipient_id) => Some(message.recipient_id) == *recipient_id,
        Test::DirectIncluding(user_id) => view()?.people.contains(user_id),
        Test::GroupDirectWith(user_id) => {
            let view = view()?;
            view.people.len() > 2 && view.people.contains(user_id)
        }
        Test::Sender(user_id) => message.sender_id == *user_id,
        Test::AnyDirect => view()?.stream.is_none(),
        Test::Flag(mask) => message.flags & mask != 0,
        Test::Mentioned => {
            message.flags & (bit::MENTIONED | bit::TOPIC_WILDCARD_MENTIONED) != 0
                || (message.attributes & attribute::STREAM_WILDCARD != 0
                    && sight.received(message.recipient_id, message.id)?)
        }
        Test::Unread => {
            let read = message
                .id
                .bit()
                .is_none_or(|bit| sight.read_set(message.recipient_id).is_ok_and(|set| set.contains(bit)));
            !read && sight.received(message.recipient_id, message.id)?
        }
        Test::Resolved => view()?.stream.is_some() && message.subject.starts_with(Topic::RESOLVED_PREFIX),
        Test::Attribute(mask) => message.attributes & mask != 0,
        Test::Reaction => {
            message.attributes & attribute::HAS_REACTION != 0
                && !sql::reactions(sight.connection, message.id)?.is_empty()
        }
        Test::Home => match &view()?.stream {
            Some(stream) => !sql::is_stream_muted(sight.connection, sight.caller.user_id, stream.stream_id)?,
            None => true,
        },
        Test::Id(id) => message.id == *id,
        Test::Everything => true,
    })
}

struct Planner<'a> {
    sight: &'a Sight<'a>,
    direction: Direction,
    wanted: usize,
    shared: bool,
    unread: bool,
    left: Vec<Term>,
}

impl<'a> Planner<'a> {
    /// The cursor, and whether sight has to be checked behind it.
    fn plan(&mut self, narrow: &Narrow) -> ApiResult<(Box<dyn Cursor + 'a>, bool)> {
        let mut cursors: Vec<Box<dyn Cursor + 'a>> = Vec::new();
        let mut places: Option<Vec<Place>> = None;
        let topic = narrow.terms.iter().find_map(|term| match &term.test {
            Test::Topic(key) if !term.negated => Some(key.as_str()),
            _ => None,
        });
        for term in &narrow.terms {
            if term.negated {
                self.left.push(term.clone());
                continue;
            }
            let user_id = self.sight.caller.user_id;
            match &term.test {
                Test::Everything => {}
                Test::Unread => self.unread = true,
                Test::Channel(stream) if places.is_none() => {
                    places = Some(match topic {
                        None => vec![conversation(stream.recipient_id)],
                        Some(key) => sql::topic(self.sight.connection, stream.stream_id, key)?
                            .map(|TopicId(key)| Place {
                                index: Index::Topic,
                                key,
                                recipient_id: stream.recipient_id,
                            })
                            .into_iter()
                            .collect(),
                    });
                }
                Test::Direct(recipient_id) if places.is_none() => {
                    places = Some(recipient_id.map(conversation).into_iter().collect());
                }
                Test::AnyDirect if places.is_none() => {
                    let recipients = sql::direct_recipients(self.sight.connection, user_id)?;
                    places = Some(recipients.into_iter().map(conversation).collect());
                }
                Test::PublicChannels if places.is_none() => {
                    let public = channels::public_recipients(self.sight.connection)?;
                    places = Some(public.into_iter().map(conversation).collect());
                }
                // Answered with its channel, by one index; its text is compared only where there is no channel.
                Test::Topic(key) if narrow.channel().is_some() && topic == Some(key) => {}
                Test::Sender(sender) => cursors.push(self.index(Index::Sender, sender.0)),
                Test::Flag(bit::STARRED) => cursors.push(self.index(Index::Starred, user_id.0)),
                Test::Flag(bit::HAS_ALERT_WORD) => cursors.push(self.index(Index::Alerted, user_id.0)),
                Test::Mentioned => cursors.push(self.mentions()?),
                Test::Id(id) => {
                    cursors.push(Box::new(Known::new(id.bit().into_iter().collect(), self.direction)));
                }
                _ => self.left.push(term.clone()),
            }
        }
        // Without a place, an index of the viewer's or a sender's messages leads, and each is checked by itself. The
        // unread are found in their gaps, so they are a place of their own.
        let check_sight = places.is_none() && !cursors.is_empty() && !self.unread;
        if !check_sight {
            let places = match places {
                Some(places) => places,
                None => self.everywhere()?,
            };
            let lone = places.len() == 1 && cursors.is_empty();
            let batch = if lone { self.wanted } else { 1 };
            let mut parts: Vec<Box<dyn Cursor + 'a>> = Vec::new();
            for place in places {
                if let Some(cursor) = self.conversation(&place, batch)? {
                    parts.push(Box::new(cursor));
                }
            }
            let place = match parts.len() {
                1 => parts.remove(0),
                _ => Box::new(Union::new(parts, self.direction)),
            };
            cursors.push(place);
        }
        let cursor = match cursors.len() {
            1 => cursors.remove(0),
            _ => Box::new(Intersection::new(cursors)),
        };
        Ok((cursor, check_sight))
    }

    /// Every conversation that the viewer received something of.
    fn everywhere(&self) -> ApiResult<Vec<Place>> {
        let (connection, user_id) = (self.sight.connection, self.sight.caller.user_id);
        let channels = subscriptions::ever_subscribed(connection, user_id)?;
        let direct = sql::direct_recipients(connection, user_id)?;
        Ok(channels.into_iter().chain(direct).map(conversation).collect())
    }

    /// A conversation, as far as the viewer sees it; `None` if that is not at all.
    fn conversation(&self, place: &Place, batch: usize) -> ApiResult<Option<IndexCursor<'a>>> {
        let view = self.sight.view(place.recipient_id)?;
        let ranges: &Ranges = if self.shared && !self.unread { &view.visible } else { &view.received };
        if ranges.is_empty() {
            return Ok(None);
        }
        let within = if self.unread {
            Within::Unread(ranges.clone(), self.sight.read_set(place.recipient_id)?)
        } else {
            Within::Ranges(ranges.clone())
        };
        Ok(Some(IndexCursor::new(
            self.sight.connection,
            place.index,
            place.key,
            within,
            self.direction,
            batch,
        )))
    }

    fn index(&self, index: Index, key: i64) -> Box<dyn Cursor + 'a> {
        let all = Within::Ranges(vec![super::sight::ALL_IDS]);
        Box::new(IndexCursor::new(self.sight.connection, index, key, all, self.direction, self.wanted))
    }

    /// Messages that mention the viewer: by flag, and those that mention everybody where the viewer is.
    fn mentions(&self) -> ApiResult<Box<dyn Cursor + 'a>> {
        let mut cursors = vec![self.index(Index::Mentioned, self.sight.caller.user_id.0)];
        for place in self.everywhere()? {
            let view = self.sight.view(place.recipient_id)?;
            if view.stream.is_some() {
                cursors.push(Box::new(IndexCursor::new(
                    self.sight.connection,
                    Index::StreamWildcard,
                    place.recipient_id.0,
                    Within::Ranges(view.received.clone()),
                    self.direction,
                    1,
                )));
            }
        }
        Ok(Box::new(Union::new(cursors, self.direction)))
    }
}

fn conversation(recipient_id: RecipientId) -> Place {
    Place { index: Index::Recipient, key: recipient_id.0, recipient_id }
}
