//! Writing a message and telling its receivers, whoever sends it.

use crate::domain::access::channel_rows::StreamRow;
use crate::domain::access::user_rows::UserRow;
use crate::domain::access::{user_rows as users, users as access};
use crate::domain::alert_words::alerted;
use crate::domain::groups::membership;
use crate::domain::linkifiers::compiled::topic_links;
use crate::domain::messages::destination::Address;
use crate::domain::messages::events::{FlagHolders, MessageRouting, MessageSent, Sender};
use crate::domain::messages::file_references::Claimable;
use crate::domain::messages::flags::bit;
use crate::domain::messages::record::{DisplayRecipient, Submessage, attribute};
use crate::domain::messages::widget::{WIDGET, Widget};
use crate::domain::messages::{
    access as sight, channel_summary, destination, file_references, mention_rules, moved_receipts, sql,
    submessage_sql as submessages, topic_sql, unread,
};
use crate::domain::subscriptions::{members, sql as subscriptions};
use crate::domain::user_topics::auto_follow;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::visibility;
use crate::domain::visibility::Scope;
use crate::domain::{messages, muted_users};
use crate::events::{Audience, QueueId, Routed};
use crate::http::{ApiError, ApiResult, Caller};
use crate::markdown::{Rendered, TopicLink};
use crate::store::Tx;
use crate::types::{BotType, ClientId, GroupId, MessageId, RecipientId, TopicId, UserId};
use roaring::RoaringBitmap;
use std::collections::HashMap;

/// A message that is ready to be sent.
pub struct Draft {
    /// Where it goes.
    pub address: Address,
    /// Markdown.
    pub content: String,
    /// Its rendering.
    pub rendered: Rendered,
    /// The program that sends.
    pub client: String,
    /// Whether the sender has read it.
    pub read_by_sender: bool,
    /// Others who know it, or need not read it: who did what a notice tells of.
    pub known_to: Vec<UserId>,
    /// The sender's queue and the client's own name of the message.
    pub echo: Option<(QueueId, String)>,
    /// Who took part in the topic, if that is known; ascending.
    pub took_part: Option<Vec<UserId>>,
}

impl Draft {
    /// A message that nobody has read yet.
    pub fn new(address: Address, content: String, rendered: Rendered, client: String) -> Self {
        Self {
            address,
            content,
            rendered,
            client,
            read_by_sender: false,
            known_to: Vec::new(),
            echo: None,
            took_part: None,
        }
    }
}

/// A message that was sent.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Its id.
    pub id: MessageId,
    /// The sender's policy for the topic, if sending changed it.
    pub automatic_new_visibility_policy: Option<VisibilityPolicy>,
}

/// Sends a message: checks again that the sender may, writes it, and tells its receivers.
pub fn send(tx: &mut Tx<'_>, caller: &Caller, mut draft: Draft) -> ApiResult<Sent> {
    destination::recheck(tx, caller, tx.now(), &mut draft.address)?;
    draft.took_part = mention_rules::check(tx, caller, tx.now(), draft.address.place(), &draft.rendered)?;
    deliver(tx, caller.user_id, &draft)
}

/// Writes a message and tells its receivers. Whether the sender may write there has been asked.
pub fn deliver(tx: &mut Tx<'_>, sender_id: UserId, draft: &Draft) -> ApiResult<Sent> {
    let sender = users::by_id(tx, sender_id)?
        .ok_or_else(|| ApiError::internal("the sender of a message has no user row"))?;
    let place = Place::prepare(tx, draft)?;
    let flagged = Flagged::find(tx, sender_id, &place, draft)?;
    let automatic_new_visibility_policy = choose_policies(tx, &sender, draft, &place, &flagged)?;
    let written = write(tx, sender_id, draft, &place)?;
    let id = written.id;
    flagged.write(tx, id)?;
    let readers = mark_as_read(tx, sender_id, draft, &place, id)?;
    tell(tx, &sender, draft, place, &flagged, &readers, &written)?;
    let named: Vec<UserId> = draft.rendered.mentioned_user_ids.iter().copied().map(UserId).collect();
    messages::webhook_queue::message_sent(tx, id, &sender, &draft.address, &named)?;
    if let Address::Channel(stream, _) = &draft.address {
        channel_summary::tell_if_first(tx, stream, id)?;
    }
    Ok(Sent { id, automatic_new_visibility_policy })
}

/// Where a message goes: rows that are there by now, and who is there.
struct Place<'d> {
    recipient_id: RecipientId,
    /// The topic as the sender spells it; empty in direct conversations.
    topic: &'d str,
    /// `None` in direct conversations.
    topic_id: Option<TopicId>,
    /// Who receives it.
    audience: Audience,
    /// Those of the audience who are not subscribed.
    called_bots: Vec<UserId>,
}

impl<'d> Place<'d> {
    /// Finds the place, and makes the conversation or topic if it is new.
    fn prepare(tx: &mut Tx<'_>, draft: &'d Draft) -> ApiResult<Self> {
        let recipient_id = recipient(tx, &draft.address)?;
        let (stream, topic) = match &draft.address {
            Address::Channel(stream, topic) => (stream, topic),
            Address::Direct(user_ids) => {
                let audience = Audience::users(user_ids.iter().copied());
                return Ok(Self {
                    recipient_id,
                    topic: "",
                    topic_id: None,
                    audience,
                    called_bots: Vec::new(),
                });
            }
        };
        let mut audience = members::audience(tx, stream.stream_id)?;
        let mut called_bots = Vec::new();
        if stream.is_public() {
            called_bots = mentioned_strangers(tx, &draft.rendered, &audience)?;
            if !called_bots.is_empty() {
                let bots: RoaringBitmap = called_bots.iter().filter_map(|user_id| user_id.bit()).collect();
                audience = Audience::set(audience.bitmap() | bots);
            }
            audience = audience.and_public_queues();
        }
        let topic_id = Some(sql::topic_or_new(tx, stream.stream_id, &topic.key())?);
        Ok(Self { recipient_id, topic: topic.as_str(), topic_id, audience, called_bots })
    }
}

/// The receivers whose flags on a message are rows.
struct Flagged {
    /// Mentioned by name or through a group; ascending, as all of these.
    mentioned: Vec<UserId>,
    /// Mentioned as somebody who took part in the topic.
    topic_wildcard: Vec<UserId>,
    /// Those with an alert word in it.
    alerted: Vec<UserId>,
}

impl Flagged {
    fn find(tx: &mut Tx<'_>, sender_id: UserId, place: &Place<'_>, draft: &Draft) -> ApiResult<Self> {
        let rendered = &draft.rendered;
        let mentioned = mentioned(tx, rendered, &place.audience)?;
        let topic_wildcard = match place.topic_id {
            Some(topic_id) if rendered.mentions_topic_wildcard => {
                let took_part = match &draft.took_part {
                    Some(known) => known.clone(),
                    None => topic_sql::participants(tx, topic_id)?,
                };
                // Who sends it takes part.
                receivers_among(took_part.into_iter().chain([sender_id]).collect(), &place.audience)
            }
            _ => Vec::new(),
        };
        let alerted = alerted(tx, &rendered.text, &place.audience)?;
        Ok(Self { mentioned, topic_wildcard, alerted })
    }

    fn write(&self, tx: &Tx<'_>, id: MessageId) -> ApiResult<()> {
        for (user_ids, flag) in [
            (&self.mentioned, bit::MENTIONED),
            (&self.topic_wildcard, bit::TOPIC_WILDCARD_MENTIONED),
            (&self.alerted, bit::HAS_ALERT_WORD),
        ] {
            for user_id in user_ids {
                sql::add_flags(tx, *user_id, id, flag)?;
            }
        }
        Ok(())
    }
}

/// Lets the sender and those who are mentioned follow or unmute the topic, as they wish. Answers the sender's new
/// policy, if it is another one now.
fn choose_policies(
    tx: &mut Tx<'_>,
    sender: &UserRow,
    draft: &Draft,
    place: &Place<'_>,
    flagged: &Flagged,
) -> ApiResult<Option<VisibilityPolicy>> {
    let (Address::Channel(stream, topic), Some(topic_id)) = (&draft.address, place.topic_id) else {
        return Ok(None);
    };
    let begins = |tx: &Tx<'_>| Ok(!has_seen_any(tx, sender.user_id, stream, topic_id)?);
    let policy = auto_follow::after_send(tx, sender, stream.stream_id, topic, begins)?;
    auto_follow::after_mention(tx, &flagged.mentioned, stream.stream_id, topic)?;
    Ok(policy)
}

/// A message whose row is written, with what was made for it.
struct Written {
    id: MessageId,
    topic_links: Vec<TopicLink>,
    /// The first data of a poll or to-do list.
    submessage: Option<Submessage>,
}

/// Writes a message's row and the rows that belong to it, but for what is each receiver's own.
fn write(tx: &mut Tx<'_>, sender_id: UserId, draft: &Draft, place: &Place<'_>) -> ApiResult<Written> {
    let rendered = &draft.rendered;
    let is_channel = place.topic_id.is_some();
    let widget = Widget::of(&draft.content);
    let files = Claimable::of(tx, sender_id, tx.now(), &rendered.attachment_path_ids)?;
    let topic_links = if is_channel { topic_links(tx, place.topic)? } else { Vec::new() };
    let mut attributes = attributes_of(rendered, is_channel, !files.is_empty());
    if widget.is_some() {
        attributes |= attribute::HAS_SUBMESSAGE;
    }
    if !topic_links.is_empty() {
        attributes |= attribute::HAS_TOPIC_LINKS;
    }
    let message = sql::NewMessage {
        recipient_id: place.recipient_id,
        topic_id: place.topic_id,
        subject: place.topic,
        sender_id,
        client_id: client_id(tx, &draft.client)?,
        timestamp: tx.now(),
        content: &draft.content,
        rendered_content: &rendered.html,
        attributes,
    };
    let id = sql::insert(tx, &message)?;
    if !topic_links.is_empty() {
        sql::put_topic_links(tx, id, &serde_json::to_string(&topic_links)?)?;
    }
    file_references::claim(tx, files, id)?;
    if let Some((stream_id, _)) = draft.address.place() {
        for user_id in &place.called_bots {
            subscriptions::add_span_of_one(tx, *user_id, stream_id, id)?;
        }
    }
    let submessage = match widget {
        Some(widget) => {
            let content = serde_json::to_string(&widget)?;
            Some(submessages::insert(tx, id, sender_id, WIDGET, &content)?)
        }
        None => None,
    };
    Ok(Written { id, topic_links, submessage })
}

/// Marks a message as read by those to whom it is no news, or who do not want to hear of it; answers who they are.
fn mark_as_read(
    tx: &Tx<'_>,
    sender_id: UserId,
    draft: &Draft,
    place: &Place<'_>,
    id: MessageId,
) -> ApiResult<Vec<UserId>> {
    let knows_it =
        draft.read_by_sender.then_some(sender_id).into_iter().chain(draft.known_to.iter().copied());
    // Whoever has muted the sender does not want to hear of the message, and nobody goes to an archived channel.
    let need_not = muted_users::list_muters(tx, sender_id)?;
    let in_archive = match &draft.address {
        Address::Channel(stream, _) if stream.is_archived => place.audience.bitmap().clone(),
        _ => RoaringBitmap::new(),
    };
    let mut readers = Vec::new();
    for user_id in knows_it.chain(need_not).chain(in_archive.into_iter().map(UserId::from)) {
        // What is read already is not read again: nobody is a reader twice.
        if place.audience.contains(user_id)
            && !unread::mark_read(tx, user_id, place.recipient_id, &[id])?.is_empty()
        {
            readers.push(user_id);
        }
    }
    Ok(readers)
}

/// Tells a message to its receivers.
fn tell(
    tx: &mut Tx<'_>,
    sender: &UserRow,
    draft: &Draft,
    place: Place<'_>,
    flagged: &Flagged,
    readers: &[UserId],
    written: &Written,
) -> ApiResult<()> {
    let rendered = &draft.rendered;
    let unknown_to = unknown_to(tx, sender, &place.audience)?;
    let (display_recipient, stream_id) = match &draft.address {
        Address::Channel(stream, _) => {
            (DisplayRecipient::Stream(stream.name.clone()), Some(stream.stream_id))
        }
        Address::Direct(user_ids) => (DisplayRecipient::Direct(sql::participants(tx, user_ids)?), None),
    };
    let event = MessageSent {
        id: written.id,
        sender: Sender {
            user_id: sender.user_id,
            full_name: sender.full_name.clone(),
            email: sender.email.clone(),
            avatar_url: sender.avatar.url(),
        },
        recipient_id: place.recipient_id,
        display_recipient,
        stream_id,
        subject: place.topic.to_owned(),
        topic_links: written.topic_links.clone(),
        rendered_content: rendered.html.clone(),
        is_me_message: rendered.is_me_message,
        timestamp: tx.now(),
        client: draft.client.clone(),
        submessages: written.submessage.iter().cloned().collect(),
    };
    let routing = MessageRouting {
        content: draft.content.clone(),
        flags: FlagHolders {
            read: readers.to_vec(),
            mentioned: flagged.mentioned.clone(),
            stream_wildcard: rendered.mentions_stream_wildcard,
            topic_wildcard: flagged.topic_wildcard.clone(),
            alerted: flagged.alerted.clone(),
            ..FlagHolders::default()
        },
        echo: draft.echo.clone(),
        unknown_to,
    };
    tx.emit(Routed { event, routing }, place.audience);
    Ok(())
}

/// Whether a topic has a message that a user may read, or where history is protected, received.
fn has_seen_any(tx: &Tx<'_>, user_id: UserId, stream: &StreamRow, topic_id: TopicId) -> ApiResult<bool> {
    if stream.has_public_history() {
        return Ok(sql::has_messages(tx, topic_id)?);
    }
    let spans = subscriptions::spans(tx, user_id, stream.stream_id)?;
    let arrivals = moved_receipts::of(tx, stream.recipient_id)?;
    let received = moved_receipts::correct(sight::ranges(&spans), &arrivals, user_id);
    Ok(topic_sql::has_any(tx, topic_id, &received)?)
}

/// The set of receivers. People who never wrote to each other are introduced where one of them is a guest who could not
/// access the others.
fn recipient(tx: &mut Tx<'_>, address: &Address) -> ApiResult<RecipientId> {
    match address {
        Address::Direct(people) if sql::direct_recipient(tx, people)?.is_none() => {
            visibility::with_events(tx, Scope::Conversation(people), |tx| address.recipient(tx))
        }
        _ => address.recipient(tx),
    }
}

/// Those of an audience who cannot access the sender: guests in a channel that the sender is not in.
fn unknown_to(tx: &Tx<'_>, sender: &UserRow, audience: &Audience) -> ApiResult<Vec<UserId>> {
    if audience.contains(sender.user_id) {
        return Ok(Vec::new());
    }
    let users = access::without_access(tx, sender, audience.bitmap())?;
    Ok(users.into_iter().map(UserId::from).collect())
}

/// Bots that a message to a public channel mentions by name though they are not subscribed. It comes to them all the
/// same: who calls a bot wants an answer.
fn mentioned_strangers(tx: &Tx<'_>, rendered: &Rendered, audience: &Audience) -> ApiResult<Vec<UserId>> {
    let mut bots = Vec::new();
    for user_id in rendered.mentioned_user_ids.iter().copied().map(UserId) {
        let calls = |user: UserRow| user.is_active && user.bot_type == Some(BotType::Generic);
        if !audience.contains(user_id) && users::by_id(tx, user_id)?.is_some_and(calls) {
            bots.push(user_id);
        }
    }
    Ok(bots)
}

/// The receivers that a message mentions by name or through a group, ascending.
pub fn mentioned(tx: &Tx<'_>, rendered: &Rendered, audience: &Audience) -> ApiResult<Vec<UserId>> {
    let mut user_ids: Vec<UserId> = rendered.mentioned_user_ids.iter().copied().map(UserId).collect();
    for group in &rendered.mentioned_group_ids {
        let members = membership::users_in(tx, GroupId(*group), tx.now())?;
        user_ids.extend(members.into_iter().map(UserId::from));
    }
    Ok(receivers_among(user_ids, audience))
}

/// Those of some users who receive a message, ascending.
fn receivers_among(mut user_ids: Vec<UserId>, audience: &Audience) -> Vec<UserId> {
    user_ids.sort_unstable();
    user_ids.dedup();
    user_ids.retain(|user_id| audience.contains(*user_id));
    user_ids
}

/// The attributes that follow from a message's rendering, and from whether files that it links to are there and the
/// sender's to pass on.
pub fn attributes_of(rendered: &Rendered, is_channel: bool, has_attachment: bool) -> i64 {
    let bits = [
        (rendered.mentions_stream_wildcard, attribute::STREAM_WILDCARD),
        (is_channel && rendered.mentions_topic_wildcard, attribute::TOPIC_WILDCARD),
        (rendered.has_link, attribute::HAS_LINK),
        (rendered.has_image, attribute::HAS_IMAGE),
        (has_attachment, attribute::HAS_ATTACHMENT),
        (rendered.is_me_message, attribute::IS_ME),
    ];
    bits.into_iter().filter(|(set, _)| *set).fold(0, |sum, (_, bit)| sum | bit)
}

/// The ids of programs that have sent messages. A cache of the writer.
#[derive(Default)]
struct Clients(HashMap<String, ClientId>);

/// Names remembered at most; a client can make up new ones.
const CLIENTS_REMEMBERED: usize = 1000;

fn client_id(tx: &mut Tx<'_>, name: &str) -> ApiResult<ClientId> {
    if let Some(id) = tx.cache::<Clients>().and_then(|clients| clients.0.get(name)) {
        return Ok(*id);
    }
    let (connection, clients) = tx.cache_mut::<Clients>();
    let id = sql::client_or_new(connection, name)?;
    if clients.0.len() >= CLIENTS_REMEMBERED {
        clients.0.clear();
    }
    clients.0.insert(name.to_owned(), id);
    Ok(id)
}
