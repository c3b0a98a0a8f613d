//! Sending a message: checks, rows, flags, and the event to its receivers.

use crate::auth::{Caller, Ctx};
use crate::domain::access::messages::{moved_receipts, received_ids};
use crate::domain::alert_words::alerted;
use crate::domain::files::references;
use crate::domain::files::references::ClaimableFiles;
use crate::domain::groups::membership;
use crate::domain::messages::destination::Destination;
use crate::domain::messages::events::{FlagHolders, MessageRouting, MessageSent, Sender};
use crate::domain::messages::flags::bit;
use crate::domain::messages::receipts::historical;
use crate::domain::messages::record::{DisplayRecipient, Participant, Submessage, attribute};
use crate::domain::messages::rules::mentions;
use crate::domain::messages::sent_names::SentName;
use crate::domain::messages::widget::{WIDGET, Widget};
use crate::domain::messages::{
    channel_summary, destination, flag_sql, notification_queue, read_state, sent_names, sql, submessages,
    topic_sql, webhook_queue,
};
use crate::domain::rows::channel::StreamRow;
use crate::domain::rows::user::UserRow;
use crate::domain::subscriptions::members;
use crate::domain::user_topics::auto_follow;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::visibility::Scope;
use crate::domain::{access, linkifiers, muted_users, rows, visibility};
use crate::error::{ApiError, ApiResult};
use crate::events::{Audience, QueueId, Routed};
use crate::store::{FollowUp, Tx};
use crate::types::{BotType, ClientId, GroupId, MessageId, RecipientId, Role, TopicId, UserId};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use teamchat_markdown::{Rendered, TopicLink, topic_links};

/// A message that is ready to be sent.
pub struct OutgoingMessage {
    /// The channel and topic, or the participants, already checked.
    pub destination: Destination,
    /// Markdown.
    pub content: String,
    /// The HTML of `content`, with the mentions and links found in it.
    pub rendered: Rendered,
    /// The program that sends.
    pub client: String,
    /// True if it counts as read by its sender.
    pub read_by_sender: bool,
    /// Other users for whom it counts as read, such as the user who caused a notice.
    pub read_by: Vec<UserId>,
    /// The sender's queue, and the client's local id of the message.
    pub echo: Option<(QueueId, String)>,
    /// The widget shown in place of the text, if not derived from the text.
    pub widget: Option<Widget>,
    /// The participants of the topic, ascending, if they are known.
    pub participants: Option<Vec<UserId>>,
    /// True if its receivers are not notified outside of their clients.
    pub is_quiet: bool,
}

impl OutgoingMessage {
    /// Creates an unread message.
    pub fn new(destination: Destination, content: String, rendered: Rendered, client: String) -> Self {
        Self {
            destination,
            content,
            rendered,
            client,
            read_by_sender: false,
            read_by: Vec::new(),
            echo: None,
            widget: None,
            participants: None,
            is_quiet: false,
        }
    }

    /// The name given by its client.
    pub fn name(&self) -> Option<SentName> {
        self.echo.as_ref().map(|echo| SentName::new(echo, &self.destination, &self.content))
    }
}

/// A message that was sent.
#[derive(Clone, Copy, Debug)]
pub struct SentMessage {
    pub id: MessageId,
    /// The sender's policy for the topic, if sending changed it.
    pub automatic_new_visibility_policy: Option<VisibilityPolicy>,
}

impl SentMessage {
    /// A message that was sent before.
    pub fn known(id: MessageId) -> Self {
        Self { id, automatic_new_visibility_policy: None }
    }
}

/// Sends a message: checks the sender's permission on the writer, stores it, and emits it. A message with the name of a
/// stored one is not stored again.
pub fn send(tx: &mut Tx<'_>, caller: &Caller, message: OutgoingMessage) -> ApiResult<SentMessage> {
    send_if(tx, caller, message, destination::recheck)
}

/// Sends a message whose destination was found by the same job, as [`send`]. `check` is the check of the destination.
pub fn send_if(
    tx: &mut Tx<'_>,
    caller: &Caller,
    mut message: OutgoingMessage,
    check: impl FnOnce(Ctx<'_>, &mut Destination) -> ApiResult<()>,
) -> ApiResult<SentMessage> {
    let name = message.name();
    if let Some(name) = &name
        && let Some(id) = sent_names::find(tx, caller.user_id, name)?
    {
        return Ok(SentMessage::known(id));
    }
    check(tx.ctx(caller), &mut message.destination)?;
    message.participants = mentions::check(tx.ctx(caller), message.destination.topic(), &message.rendered)?;
    let sent = store_and_emit(tx, caller.user_id, &message)?;
    if let Some(name) = &name {
        sent_names::keep(tx, caller.user_id, name, sent.id)?;
    }
    Ok(sent)
}

/// Stores a message and emits it to its receivers. The caller has checked that the sender may send it.
pub fn store_and_emit(
    tx: &mut Tx<'_>,
    sender_id: UserId,
    message: &OutgoingMessage,
) -> ApiResult<SentMessage> {
    let (sender, is_muted) = muted_users::user_and_whether_muted(tx, sender_id)?
        .ok_or_else(|| ApiError::internal("the sender of a message has no user row"))?;
    let target = Target::prepare(tx, sender_id, message)?;
    let flags = NewFlags::find(tx, sender_id, &target, message)?;
    let automatic_new_visibility_policy = apply_auto_follow(tx, &sender, message, &target, &flags)?;
    let stored = store(tx, sender_id, message, &target)?;
    let id = stored.id;
    flags.write(tx, id)?;
    let muters = if is_muted { muted_users::list_muters(tx, sender_id)? } else { Vec::new() };
    let readers = mark_as_read(tx, sender_id, message, &target, id, muters)?;
    let previous = target.previous;
    emit(tx, &sender, message, target, &flags, &readers, &stored)?;
    let named: Vec<UserId> = message.rendered.mentioned_user_ids.iter().copied().map(UserId).collect();
    webhook_queue::message_sent(tx, id, &sender, &message.destination, &named)?;
    if !message.is_quiet {
        let known_to = (readers.len() > READERS_PER_STEP as u64).then_some(&readers);
        notification_queue::message_sent(tx, id, known_to)?;
    }
    if let Destination::Channel(stream, _) = &message.destination {
        channel_summary::emit_if_first(tx, stream, id, previous)?;
    }
    Ok(SentMessage { id, automatic_new_visibility_policy })
}

/// The conversation of a new message, with its receivers.
struct Target<'d> {
    recipient_id: RecipientId,
    /// The topic as the sender spells it; empty in direct conversations.
    topic: &'d str,
    /// `None` in direct conversations.
    topic_id: Option<TopicId>,
    /// The time of the message before it in the channel, in UNIX seconds.
    previous: Option<i64>,
    /// The receivers.
    audience: Audience,
    /// Bots of the audience that are mentioned but not subscribed.
    mentioned_bots: Vec<UserId>,
}

impl<'d> Target<'d> {
    /// Loads the conversation, and stores it or the topic if it is new.
    fn prepare(tx: &mut Tx<'_>, sender_id: UserId, message: &'d OutgoingMessage) -> ApiResult<Self> {
        let recipient_id = recipient(tx, sender_id, &message.destination)?;
        let (stream, topic) = match &message.destination {
            Destination::Channel(stream, topic) => (stream, topic),
            Destination::Direct(user_ids) => {
                let audience = Audience::users(user_ids.iter().copied());
                return Ok(Self {
                    recipient_id,
                    topic: "",
                    topic_id: None,
                    previous: None,
                    audience,
                    mentioned_bots: Vec::new(),
                });
            }
        };
        let mut audience = members::audience(tx, stream.stream_id)?;
        let mut mentioned_bots = Vec::new();
        if stream.is_public() {
            mentioned_bots = unsubscribed_bots(tx, stream, &message.rendered, &audience)?;
            if !mentioned_bots.is_empty() {
                let bots: RoaringBitmap = mentioned_bots.iter().filter_map(|user_id| user_id.bit()).collect();
                audience = Audience::set(audience.bitmap() | bots);
            }
            audience = audience.and_public_queues();
        }
        let (topic_id, previous) = topic_sql::topic_or_new_and_newest(tx, stream, &topic.key())?;
        let (topic, topic_id) = (topic.as_str(), Some(topic_id));
        Ok(Self { recipient_id, topic, topic_id, previous, audience, mentioned_bots })
    }
}

/// The receivers who have a flag on a new message; ascending.
struct NewFlags {
    /// Mentioned by name or through a group.
    mentioned: Vec<UserId>,
    /// Mentioned as participants of the topic.
    topic_wildcard: Vec<UserId>,
    /// Users with an alert word in it.
    alerted: Vec<UserId>,
}

impl NewFlags {
    fn find(
        tx: &mut Tx<'_>,
        sender_id: UserId,
        target: &Target<'_>,
        message: &OutgoingMessage,
    ) -> ApiResult<Self> {
        let rendered = &message.rendered;
        let mentioned = mentioned(tx, rendered, &target.audience)?;
        let topic_wildcard = match target.topic_id {
            Some(topic_id) if rendered.mentions_topic_wildcard => {
                let participants = match &message.participants {
                    Some(known) => known.clone(),
                    None => topic_sql::participants(tx, topic_id)?,
                };
                // The sender is a participant too.
                receivers_among(participants.into_iter().chain([sender_id]).collect(), &target.audience)
            }
            _ => Vec::new(),
        };
        let alerted = alerted(tx, &rendered.alertable, &target.audience)?;
        Ok(Self { mentioned, topic_wildcard, alerted })
    }

    fn write(&self, tx: &Tx<'_>, id: MessageId) -> ApiResult<()> {
        for (user_ids, flag) in [
            (&self.mentioned, bit::MENTIONED),
            (&self.topic_wildcard, bit::TOPIC_WILDCARD_MENTIONED),
            (&self.alerted, bit::HAS_ALERT_WORD),
        ] {
            for user_id in user_ids {
                flag_sql::add_flags(tx, *user_id, id, flag)?;
            }
        }
        Ok(())
    }
}

/// Lets the sender and mentioned users follow or unmute the topic, by their settings. Returns the sender's policy if it
/// changed.
fn apply_auto_follow(
    tx: &mut Tx<'_>,
    sender: &UserRow,
    message: &OutgoingMessage,
    target: &Target<'_>,
    flags: &NewFlags,
) -> ApiResult<Option<VisibilityPolicy>> {
    let (Destination::Channel(stream, topic), Some(topic_id)) = (&message.destination, target.topic_id)
    else {
        return Ok(None);
    };
    let begins = |tx: &Tx<'_>| Ok(!can_read_any(tx, sender.user_id, stream, topic_id)?);
    let policy = auto_follow::after_send(tx, sender, stream.stream_id, topic, begins)?;
    auto_follow::after_mention(tx, &flags.mentioned, stream.stream_id, topic)?;
    Ok(policy)
}

/// A message that was stored.
struct Stored {
    id: MessageId,
    topic_links: Vec<TopicLink>,
    /// The first data of a poll or to-do list.
    submessage: Option<Submessage>,
}

/// Stores a message and the rows that belong to it, but not those of its receivers.
fn store(
    tx: &mut Tx<'_>,
    sender_id: UserId,
    message: &OutgoingMessage,
    target: &Target<'_>,
) -> ApiResult<Stored> {
    let rendered = &message.rendered;
    let is_channel = target.topic_id.is_some();
    let widget = message.widget.clone().or_else(|| Widget::of(&message.content));
    let files = ClaimableFiles::of(tx, sender_id, tx.now(), &rendered.attachment_path_ids)?;
    let topic_links =
        if is_channel { topic_links(target.topic, &tx.kept(linkifiers::compiled::all)?) } else { Vec::new() };
    let mut attributes = attributes_of(rendered, is_channel, !files.is_empty());
    if widget.is_some() {
        attributes |= attribute::HAS_SUBMESSAGE;
    }
    if !topic_links.is_empty() {
        attributes |= attribute::HAS_TOPIC_LINKS;
    }
    let row = sql::NewMessage {
        recipient_id: target.recipient_id,
        topic_id: target.topic_id,
        subject: target.topic,
        sender_id,
        client_id: client_id(tx, &message.client)?,
        timestamp: tx.now(),
        content: &message.content,
        rendered_content: &rendered.html,
        attributes,
    };
    let id = sql::insert(tx, &row)?;
    if !topic_links.is_empty() {
        sql::put_topic_links(tx, id, &serde_json::to_string(&topic_links)?)?;
    }
    references::claim(tx, files, id)?;
    if let Destination::Channel(stream, _) = &message.destination {
        for user_id in &target.mentioned_bots {
            historical::add_to_spans(tx, *user_id, stream, &[id])?;
        }
    }
    let submessage = match widget {
        Some(widget) => {
            let content = serde_json::to_string(&widget)?;
            Some(submessages::insert(tx, id, sender_id, WIDGET, &content)?)
        }
        None => None,
    };
    Ok(Stored { id, topic_links, submessage })
}

/// Number of users for whom the job that sends a message, and each step of its follow-up jobs, marks it as read.
const READERS_PER_STEP: usize = 50;

/// Marks a new message as read for its sender and other users as the message says, for users who muted the sender (`muters`), and
/// for all users of an archived channel. Returns these users.
fn mark_as_read(
    tx: &mut Tx<'_>,
    sender_id: UserId,
    message: &OutgoingMessage,
    target: &Target<'_>,
    id: MessageId,
    muters: Vec<UserId>,
) -> ApiResult<RoaringBitmap> {
    let knowing =
        message.read_by_sender.then_some(sender_id).into_iter().chain(message.read_by.iter().copied());
    let mut readers: RoaringBitmap = knowing.chain(muters).filter_map(UserId::bit).collect();
    readers &= target.audience.bitmap();
    if let Destination::Channel(stream, _) = &message.destination
        && stream.is_archived
    {
        readers |= target.audience.bitmap();
    }
    let mut later: Vec<UserId> = readers.iter().map(UserId::from).collect();
    for user_id in later.split_off(later.len().saturating_sub(READERS_PER_STEP)) {
        read_state::mark_read(tx, user_id, target.recipient_id, &[id])?;
    }
    if !later.is_empty() {
        tx.then(LateReaders { message_id: id, user_ids: later })?;
    }
    Ok(readers)
}

/// The rest of the users for whom a new message is marked as read. They can be thousands, who get the notice of a resolved topic as
/// read.
#[derive(Serialize, Deserialize)]
pub struct LateReaders {
    message_id: MessageId,
    user_ids: Vec<UserId>,
}

impl FollowUp for LateReaders {
    const NAME: &'static str = "new_readers";

    fn run(mut self, tx: &mut Tx<'_>) -> ApiResult<()> {
        let id = self.message_id;
        let Some(recipient_id) = access::messages::recipient_of(tx, id)? else { return Ok(()) };
        let mut budget = tx.budget(Self::NAME);
        while !self.user_ids.is_empty() && budget.next_step() {
            let first = self.user_ids.len().saturating_sub(READERS_PER_STEP);
            for user_id in self.user_ids.drain(first..) {
                read_state::mark_read(tx, user_id, recipient_id, &[id])?;
            }
        }
        if !self.user_ids.is_empty() {
            tx.then(self)?;
        }
        Ok(())
    }
}

/// Emits a message to its receivers.
fn emit(
    tx: &mut Tx<'_>,
    sender: &UserRow,
    message: &OutgoingMessage,
    target: Target<'_>,
    flags: &NewFlags,
    readers: &RoaringBitmap,
    stored: &Stored,
) -> ApiResult<()> {
    let rendered = &message.rendered;
    let unknown_to = unknown_to(tx, sender, &target)?;
    let (display_recipient, stream_id) = match &message.destination {
        Destination::Channel(stream, _) => {
            (DisplayRecipient::Stream(stream.name.clone()), Some(stream.stream_id))
        }
        Destination::Direct(user_ids) => {
            (DisplayRecipient::Direct(participants(tx, user_ids, sender)?), None)
        }
    };
    let event = MessageSent {
        id: stored.id,
        sender: Sender {
            user_id: sender.user_id,
            full_name: sender.full_name.clone(),
            email: sender.email.clone(),
            avatar_url: sender.avatar.url(),
        },
        recipient_id: target.recipient_id,
        display_recipient,
        stream_id,
        subject: target.topic.to_owned(),
        topic_links: stored.topic_links.clone(),
        rendered_content: rendered.html.clone(),
        is_me_message: rendered.is_me_message,
        timestamp: tx.now(),
        client: message.client.clone(),
        submessages: stored.submessage.iter().cloned().collect(),
    };
    let routing = MessageRouting {
        content: message.content.clone(),
        flags: FlagHolders {
            read: readers.iter().map(UserId::from).collect(),
            mentioned: flags.mentioned.clone(),
            stream_wildcard: rendered.mentions_stream_wildcard,
            topic_wildcard: flags.topic_wildcard.clone(),
            alerted: flags.alerted.clone(),
            ..FlagHolders::default()
        },
        echo: message.echo.clone(),
        unknown_to,
    };
    tx.emit(Routed { event, routing }, target.audience);
    Ok(())
}

/// The participants of a direct conversation, by id. The row of the sender is known.
fn participants(tx: &Tx<'_>, user_ids: &[UserId], sender: &UserRow) -> ApiResult<Vec<Participant>> {
    let Ok(index) = user_ids.binary_search(&sender.user_id) else {
        return Ok(sql::participants(tx, user_ids)?);
    };
    let mut others = user_ids.to_vec();
    others.remove(index);
    let mut people = sql::participants(tx, &others)?;
    people.insert(
        index,
        Participant {
            id: sender.user_id,
            email: sender.email.clone(),
            full_name: sender.full_name.clone(),
            is_mirror_dummy: false,
        },
    );
    Ok(people)
}

/// True if a topic has a message that a user may read.
pub fn can_read_any(tx: &Tx<'_>, user_id: UserId, stream: &StreamRow, topic_id: TopicId) -> ApiResult<bool> {
    if stream.has_public_history() {
        return Ok(sql::has_messages(tx, topic_id)?);
    }
    let moved = moved_receipts(tx, stream.recipient_id)?;
    let received = received_ids(tx, user_id, stream.stream_id, &moved)?;
    Ok(topic_sql::has_any(tx, topic_id, &received)?)
}

/// Returns the set of receivers. A new direct conversation may make its participants visible to guests among them.
pub fn recipient(tx: &mut Tx<'_>, sender_id: UserId, destination: &Destination) -> ApiResult<RecipientId> {
    let people = match destination {
        Destination::Channel(stream, _) => return Ok(stream.recipient_id),
        Destination::Direct(people) => people,
    };
    match sql::direct_recipient(tx, people)? {
        Some(recipient_id) => Ok(recipient_id),
        None => visibility::with_events(tx, Scope::Conversation(people), |tx| {
            Ok(sql::insert_direct_recipient(tx, people, sender_id)?)
        }),
    }
}

/// Returns the receivers who cannot access the sender: guests in a channel that the sender is not in, and bots that are
/// guests and not in the channel.
fn unknown_to(tx: &Tx<'_>, sender: &UserRow, target: &Target<'_>) -> ApiResult<Vec<UserId>> {
    let bots: RoaringBitmap = target.mentioned_bots.iter().filter_map(|user_id| user_id.bit()).collect();
    let is_among = target.audience.contains(sender.user_id);
    let strangers = if is_among { &bots } else { target.audience.bitmap() };
    if strangers.is_empty() {
        return Ok(Vec::new());
    }
    let users = access::users::without_access(tx, sender, strangers)?;
    Ok(users.into_iter().map(UserId::from).collect())
}

/// Bots that a message to a public channel mentions by name though they are not subscribed. They receive it, unless they
/// are guests, who see no such channel.
fn unsubscribed_bots(
    tx: &Tx<'_>,
    stream: &StreamRow,
    rendered: &Rendered,
    audience: &Audience,
) -> ApiResult<Vec<UserId>> {
    let mut bots = Vec::new();
    for user_id in rendered.mentioned_user_ids.iter().copied().map(UserId) {
        let receives = |user: UserRow| {
            user.is_active
                && user.bot_type == Some(BotType::Generic)
                && (stream.is_web_public || user.role != Role::Guest)
        };
        if !audience.contains(user_id) && rows::user::by_id(tx, user_id)?.is_some_and(receives) {
            bots.push(user_id);
        }
    }
    Ok(bots)
}

/// Returns the receivers that a message mentions by name or through a group, ascending.
pub fn mentioned(tx: &Tx<'_>, rendered: &Rendered, audience: &Audience) -> ApiResult<Vec<UserId>> {
    let mut user_ids: Vec<UserId> = rendered.mentioned_user_ids.iter().copied().map(UserId).collect();
    let groups: Vec<GroupId> = rendered.mentioned_group_ids.iter().copied().map(GroupId).collect();
    user_ids.extend(membership::users_in(tx, &groups, tx.now())?.into_iter().map(UserId::from));
    Ok(receivers_among(user_ids, audience))
}

/// Returns the users among `user_ids` who receive a message, ascending.
fn receivers_among(mut user_ids: Vec<UserId>, audience: &Audience) -> Vec<UserId> {
    user_ids.sort_unstable();
    user_ids.dedup();
    user_ids.retain(|user_id| audience.contains(*user_id));
    user_ids
}

/// The attributes that follow from a message's rendering; `has_attachment` is true if it references files.
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

/// Ids of client programs by name. A cache of the writer.
#[derive(Default)]
struct Clients(HashMap<String, ClientId>);

/// The most names in the cache; clients may send any name.
const MAX_CACHED_CLIENTS: usize = 1000;

fn client_id(tx: &mut Tx<'_>, name: &str) -> ApiResult<ClientId> {
    if let Some(id) = tx.cache::<Clients>().and_then(|clients| clients.0.get(name)) {
        return Ok(*id);
    }
    let (connection, clients) = tx.cache_mut::<Clients>();
    let id = sql::client_or_new(connection, name)?;
    if clients.0.len() >= MAX_CACHED_CLIENTS {
        clients.0.clear();
    }
    clients.0.insert(name.to_owned(), id);
    Ok(id)
}
