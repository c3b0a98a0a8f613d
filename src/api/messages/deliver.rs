//! Writing a message and telling its receivers, whoever sends it.

use super::address::{self, Address};
use super::events::{FlagHolders, MessageSent};
use super::flags::bit;
use super::message::{DisplayRecipient, MessageRecord, OwnPart, RecipientPart, SenderPart, attribute};
use super::{arrivals, first_message, mention_rules, sight, sql, unread};
use crate::api::alert_words::automaton::alerted;
use crate::api::bots::rules::GENERIC;
use crate::api::channels::row::StreamRow;
use crate::api::groups::members as members_of_group;
use crate::api::linkifiers::compiled::topic_links;
use crate::api::muted_users;
use crate::api::outgoing_webhooks;
use crate::api::submessages::sql as submessages;
use crate::api::submessages::widget::{WIDGET, Widget};
use crate::api::subscriptions::{members, sql as subscriptions};
use crate::api::uploads::claims::{self, Claimable};
use crate::api::user_topics::automatic;
use crate::api::user_topics::policy::VisibilityPolicy;
use crate::api::users::record::UserRow;
use crate::api::users::{access, sql as users};
use crate::events::{Audience, QueueId};
use crate::http::{ApiError, ApiResult, Caller};
use crate::markdown::Rendered;
use crate::store::Tx;
use crate::types::{ClientId, GroupId, MessageId, RecipientId, TopicId, UserId};
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
}

impl Draft {
    /// A message that nobody has read yet.
    pub fn new(address: Address, content: String, rendered: Rendered, client: String) -> Self {
        Self { address, content, rendered, client, read_by_sender: false, known_to: Vec::new(), echo: None }
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
    address::recheck(tx, caller, tx.now(), &mut draft.address)?;
    mention_rules::check(tx, caller, tx.now(), draft.address.place(), &draft.rendered)?;
    deliver(tx, caller.user_id, &draft)
}

/// Writes a message and tells its receivers. Whether the sender may write there has been asked.
pub fn deliver(tx: &mut Tx<'_>, sender_id: UserId, draft: &Draft) -> ApiResult<Sent> {
    let sender = users::by_id(tx, sender_id)?.ok_or_else(ApiError::internal)?;
    let recipient_id = recipient(tx, &draft.address)?;
    let mut called_bots = Vec::new();
    let (audience, topic, topic_id) = match &draft.address {
        Address::Channel(stream, topic) => {
            let mut audience = members::audience(tx, stream.stream_id)?;
            if stream.is_public() {
                called_bots = mentioned_strangers(tx, &draft.rendered, &audience)?;
                if !called_bots.is_empty() {
                    let bots: RoaringBitmap =
                        called_bots.iter().filter_map(|user_id| user_id.bit()).collect();
                    audience = Audience::set(audience.bitmap() | bots);
                }
                audience = audience.and_public_queues();
            }
            let topic_id = sql::topic_or_new(tx, stream.stream_id, &topic.key())?;
            (audience, topic.as_str(), Some(topic_id))
        }
        Address::Direct(user_ids) => (Audience::users(user_ids.iter().copied()), "", None),
    };
    let rendered = &draft.rendered;
    let mentioned = mentioned(tx, rendered, &audience)?;
    let topic_wildcard = match topic_id {
        Some(topic_id) if rendered.mentions_topic_wildcard => {
            let took_part = sql::topic_participants(tx, topic_id)?;
            // Who sends it takes part.
            let mut user_ids: Vec<UserId> = took_part.into_iter().chain([sender_id]).collect();
            user_ids.sort_unstable();
            user_ids.dedup();
            user_ids.retain(|user_id| audience.contains(*user_id));
            user_ids
        }
        _ => Vec::new(),
    };
    let policy = match (&draft.address, topic_id) {
        (Address::Channel(stream, topic), Some(topic_id)) => {
            let begins = |tx: &Tx<'_>| Ok(!has_seen_any(tx, sender_id, stream, topic_id)?);
            let policy = automatic::at_send(tx, &sender, stream.stream_id, topic, begins)?;
            automatic::where_mentioned(tx, &mentioned, stream.stream_id, topic)?;
            policy
        }
        _ => None,
    };
    let alerted = alerted(tx, &rendered.text, &audience)?;
    let widget = Widget::of(&draft.content);
    let widget_attribute = if widget.is_some() { attribute::HAS_SUBMESSAGE } else { 0 };
    let is_channel = topic_id.is_some();
    let files = Claimable::of(tx, sender_id, tx.now(), &rendered.attachment_path_ids)?;
    let topic_links = if is_channel { topic_links(tx, topic)? } else { Vec::new() };
    let links_attribute = if topic_links.is_empty() { 0 } else { attribute::HAS_TOPIC_LINKS };
    let message = sql::NewMessage {
        recipient_id,
        topic_id,
        subject: topic,
        sender_id,
        client_id: client_id(tx, &draft.client)?,
        timestamp: tx.now(),
        content: &draft.content,
        rendered_content: &rendered.html,
        attributes: attributes_of(rendered, is_channel, !files.is_empty())
            | widget_attribute
            | links_attribute,
    };
    let id = sql::insert(tx, &message)?;
    if !topic_links.is_empty() {
        sql::put_topic_links(tx, id, &serde_json::to_string(&topic_links)?)?;
    }
    claims::claim(tx, files, id)?;
    if let Some((stream_id, _)) = draft.address.place() {
        for user_id in called_bots {
            subscriptions::add_span_of_one(tx, user_id, stream_id, id)?;
        }
    }
    let submessage = match widget {
        Some(widget) => {
            let content = serde_json::to_string(&widget)?;
            Some(submessages::insert(tx, id, sender_id, WIDGET, &content)?)
        }
        None => None,
    };
    for (user_ids, flag) in [
        (&mentioned, bit::MENTIONED),
        (&topic_wildcard, bit::TOPIC_WILDCARD_MENTIONED),
        (&alerted, bit::HAS_ALERT_WORD),
    ] {
        for user_id in user_ids {
            sql::add_flags(tx, *user_id, id, flag)?;
        }
    }
    let mut readers = Vec::new();
    let knows_it =
        draft.read_by_sender.then_some(sender_id).into_iter().chain(draft.known_to.iter().copied());
    // Whoever has muted the sender does not want to hear of the message, and nobody goes to an archived channel.
    let in_archive = match &draft.address {
        Address::Channel(stream, _) if stream.is_archived => audience.bitmap().clone(),
        _ => RoaringBitmap::new(),
    };
    let need_not = muted_users::muters_of(tx, sender_id)?.into_iter();
    for user_id in knows_it.chain(need_not).chain(in_archive.into_iter().map(UserId::from)) {
        // What is read already is not read again: nobody is a reader twice.
        if audience.contains(user_id) && !unread::mark_read(tx, user_id, recipient_id, &[id])?.is_empty() {
            readers.push(user_id);
        }
    }
    let unknown_to = unknown_to(tx, &sender, &audience)?;
    let (display_recipient, stream_id) = match &draft.address {
        Address::Channel(stream, _) => {
            (DisplayRecipient::Stream(stream.name.clone()), Some(stream.stream_id))
        }
        Address::Direct(user_ids) => (DisplayRecipient::Direct(sql::participants(tx, user_ids)?), None),
    };
    let event = MessageSent {
        message: MessageRecord {
            own: OwnPart {
                id,
                content: Some(&rendered.html),
                content_type: "text/html",
                timestamp: message.timestamp,
                client: &draft.client,
                subject: topic,
                topic_links: &topic_links,
                is_me_message: rendered.is_me_message,
                reactions: &[],
                submessages: submessage.as_slice(),
                edit_history: &[],
                last_edit_timestamp: None,
                last_moved_timestamp: None,
                flags: None,
                match_content: None,
                match_subject: None,
            },
            sender: SenderPart::new(sender_id, &sender.full_name, &sender.email, sender.avatar),
            recipient: RecipientPart::new(recipient_id, &display_recipient, stream_id),
        },
        raw_content: &draft.content,
        flags: FlagHolders {
            read: &readers,
            mentioned: &mentioned,
            stream_wildcard: rendered.mentions_stream_wildcard,
            topic_wildcard: &topic_wildcard,
            alerted: &alerted,
            ..FlagHolders::default()
        },
        echo: draft.echo.as_ref().map(|(queue_id, local_id)| (queue_id, local_id.as_str())),
        unknown_to: &unknown_to,
    };
    tx.emit(&event, audience);
    let named: Vec<UserId> = rendered.mentioned_user_ids.iter().copied().map(UserId).collect();
    outgoing_webhooks::queue::message_sent(tx, id, &sender, &draft.address, &named)?;
    if let Address::Channel(stream, _) = &draft.address {
        first_message::tell_if_first(tx, stream, id)?;
    }
    Ok(Sent { id, automatic_new_visibility_policy: policy })
}

/// Whether a topic has a message that a user may read, or where history is protected, received.
fn has_seen_any(tx: &Tx<'_>, user_id: UserId, stream: &StreamRow, topic_id: TopicId) -> ApiResult<bool> {
    if stream.has_public_history() {
        return Ok(sql::has_messages(tx, topic_id)?);
    }
    let spans = subscriptions::spans(tx, user_id, stream.stream_id)?;
    let arrivals = arrivals::of(tx, stream.recipient_id)?;
    for range in arrivals::correct(sight::ranges(&spans), &arrivals, user_id) {
        if sql::newest_of_topic_in(tx, topic_id, &range)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The set of receivers. People who never wrote to each other are introduced where one of them is a guest who could not
/// access the others.
fn recipient(tx: &mut Tx<'_>, address: &Address) -> ApiResult<RecipientId> {
    let before = match address {
        Address::Direct(people) if sql::direct_recipient(tx, people)?.is_none() => {
            access::Before::of_people(tx, people)?
        }
        _ => access::Before::default(),
    };
    let recipient_id = address.recipient(tx)?;
    before.changes(tx)?.emit_gained(tx)?;
    Ok(recipient_id)
}

/// Those of an audience who cannot access the sender: guests in a channel that the sender is not in.
fn unknown_to(tx: &Tx<'_>, sender: &UserRow, audience: &Audience) -> ApiResult<Vec<UserId>> {
    if audience.contains(sender.user_id) {
        return Ok(Vec::new());
    }
    let users = access::without_access(tx, sender, audience.bitmap())?;
    Ok(users.into_iter().map(UserId::from).collect())
}

/// Bots that a message to a public channel mentions by name though they are not subscribed. It comes to them all the same:
/// who calls a bot wants an answer.
fn mentioned_strangers(tx: &Tx<'_>, rendered: &Rendered, audience: &Audience) -> ApiResult<Vec<UserId>> {
    let mut bots = Vec::new();
    for user_id in rendered.mentioned_user_ids.iter().copied().map(UserId) {
        let calls = |user: UserRow| user.is_active && user.bot_type == Some(GENERIC);
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
        let members = members_of_group::all(tx, GroupId(*group), tx.now())?;
        user_ids.extend(members.into_iter().map(UserId::from));
    }
    user_ids.sort_unstable();
    user_ids.dedup();
    user_ids.retain(|user_id| audience.contains(*user_id));
    Ok(user_ids)
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
    if let Some(id) = tx.peek::<Clients>().and_then(|clients| clients.0.get(name)) {
        return Ok(*id);
    }
    let (connection, clients) = tx.local::<Clients>();
    let id = sql::client_or_new(connection, name)?;
    if clients.0.len() >= CLIENTS_REMEMBERED {
        clients.0.clear();
    }
    clients.0.insert(name.to_owned(), id);
    Ok(id)
}
