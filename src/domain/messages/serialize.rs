//! Writing messages as JSON, for one viewer.
//!
//! A message consists of its own part, which is the same for all viewers, its flags, and the parts of its sender and its
//! conversation, which other messages share. Own parts of most messages, and the parts of senders, depend on nothing but
//! their rows, and are cached ([`Snapshot::cached`]).

use crate::domain::access::messages::ConversationAccess;
use crate::domain::access::users::{Accessible, unknown_email};
use crate::domain::messages::flags::bit;
use crate::domain::messages::read_state::read_set::ReadSet;
use crate::domain::messages::record::{
    DisplayRecipient, EditRecord, OwnPart, Reaction, RecipientPart, SenderPart, Submessage, attribute,
};
use crate::domain::messages::row_reader::{
    MessageHead, MessageView, flags_on, for_each_row, for_each_sender,
};
use crate::domain::messages::rules::EditHistoryVisibility;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{sql, submessages};
use crate::domain::search::highlight;
use crate::domain::search::query::SearchQuery;
use crate::error::{ApiError, ApiResult};
use crate::store::{RowValue, Snapshot};
use crate::types::{
    ClientId, IdMap, IdSet, MessageId, RecipientId, UserId, members_of, shown_topic, write_json_text,
};
use serde::Serialize;
use std::collections::hash_map::Entry;
use std::rc::Rc;
use std::sync::Arc;
use teamchat_markdown::TopicLink;

/// The format in which a client wants messages.
#[derive(Clone, Copy, Debug)]
pub struct MessageFormat {
    /// HTML rather than Markdown.
    pub apply_markdown: bool,
    /// The empty topic as an empty string rather than its display name.
    pub allow_empty_topic_name: bool,
}

/// The tables of whose rows the cached parts are made.
pub const CACHED_TABLES: &[&str] = &[OwnJson::TABLE, SenderJson::TABLE];

/// Writes one message as a JSON object.
pub fn write_one(viewer: &MessageViewer<'_>, id: MessageId, format: MessageFormat) -> ApiResult<String> {
    let mut out = Vec::new();
    Writer::new(viewer, format, None)?.write_each(&[id], None, usize::MAX, &mut out)?;
    into_utf8(out)
}

/// Writes messages of a snapshot as a JSON array, in the order of `ids`. With a search, `match_content` and `match_subject`
/// highlight its words. Starts no message beyond the maximum number of bytes, and returns the number of messages.
pub fn write_array(
    viewer: &MessageViewer<'_>,
    snapshot: &Snapshot<'_>,
    ids: &[MessageId],
    format: MessageFormat,
    search: Option<&SearchQuery>,
    max_bytes: usize,
    out: &mut Vec<u8>,
) -> ApiResult<usize> {
    out.push(b'[');
    let written = Writer::new(viewer, format, search)?.write_each(ids, Some(snapshot), max_bytes, out)?;
    out.push(b']');
    Ok(written)
}

/// JSON that was written here, as text.
pub fn into_utf8(json: Vec<u8>) -> ApiResult<String> {
    String::from_utf8(json).map_err(|_| ApiError::internal("serialized messages are not UTF-8"))
}

/// The content and topic of a message, with the words of a search highlighted.
#[derive(Serialize)]
pub struct Matches {
    /// The content as HTML, with the found words in `span.highlight`.
    match_content: String,
    /// The topic as HTML, with the found words in `span.highlight`.
    match_subject: String,
}

impl Matches {
    /// Highlights HTML content and a topic. Without a search there are no marks.
    pub fn of(rendered_content: &str, subject: &str, search: Option<&SearchQuery>) -> Self {
        match search {
            Some(search) => Self {
                match_content: highlight::in_html(rendered_content, search),
                match_subject: highlight::in_text(subject, search),
            },
            None => {
                Self { match_content: rendered_content.to_owned(), match_subject: highlight::escape(subject) }
            }
        }
    }
}

/// Facts about the conversation of messages.
struct Recipient {
    /// [`RecipientPart`] as JSON, without braces.
    part: String,
    conversation: Rc<ConversationAccess>,
    read: Rc<ReadSet>,
}

/// Parts of a message that are stored in other tables.
#[derive(Default)]
struct Attached {
    reactions: Vec<Reaction>,
    submessages: Vec<Submessage>,
    edits: Vec<EditRecord>,
    topic_links: Vec<TopicLink>,
}

/// The own part of a message.
struct OwnJson {
    head: MessageHead,
    /// True if the topic is empty, which clients get in two forms.
    has_empty_topic: bool,
    /// [`OwnPart`] as a JSON object without the closing brace.
    json: Vec<u8>,
}

impl RowValue for OwnJson {
    const TABLE: &'static str = "message";

    fn bytes(&self) -> usize {
        self.json.len()
    }
}

/// [`SenderPart`] as JSON, without braces.
struct SenderJson(String);

impl SenderJson {
    fn new(part: &SenderPart<'_>) -> ApiResult<Arc<Self>> {
        Ok(Arc::new(Self(members_of(part)?)))
    }
}

impl RowValue for SenderJson {
    const TABLE: &'static str = "user";

    fn bytes(&self) -> usize {
        self.0.len()
    }
}

struct Writer<'a> {
    viewer: &'a MessageViewer<'a>,
    format: MessageFormat,
    history_visibility: EditHistoryVisibility,
    search: Option<&'a SearchQuery>,
    /// The users whose names the viewer may see.
    accessible: Accessible,
    recipients: IdMap<RecipientId, Recipient>,
    senders: IdMap<UserId, Arc<SenderJson>>,
    /// Names of client programs.
    clients: IdMap<ClientId, String>,
}

impl<'a> Writer<'a> {
    fn new(
        viewer: &'a MessageViewer<'a>,
        format: MessageFormat,
        search: Option<&'a SearchQuery>,
    ) -> ApiResult<Self> {
        Ok(Self {
            viewer,
            format,
            history_visibility: EditHistoryVisibility::load(viewer.connection)?,
            search,
            accessible: Accessible::to(viewer.connection, viewer.caller)?,
            recipients: IdMap::default(),
            senders: IdMap::default(),
            clients: IdMap::default(),
        })
    }

    /// Appends messages, separated by commas, until there are more bytes than `max_bytes`. Returns how many there are.
    /// Parts of rows are taken from the cache of a snapshot, and added to it.
    fn write_each(
        &mut self,
        ids: &[MessageId],
        snapshot: Option<&Snapshot<'_>>,
        max_bytes: usize,
        out: &mut Vec<u8>,
    ) -> ApiResult<usize> {
        let flags = flags_on(self.viewer.connection, self.viewer.caller.user_id, ids)?;
        let parts = self.own_parts(ids, snapshot, max_bytes)?;
        self.load_senders(&parts, snapshot)?;
        out.reserve(parts.iter().map(|own| own.json.len() + 400).sum());
        let start = out.len();
        let mut seen = 0;
        for own in &parts {
            if out.len() - start > max_bytes {
                break;
            }
            if seen > 0 {
                out.push(b',');
            }
            seen += 1;
            self.write(own, flags.get(&own.head.id).copied().unwrap_or(0), out)?;
        }
        Ok(seen)
    }

    /// The own parts of messages, in the order of `ids`, until there are more bytes than `max_bytes`.
    fn own_parts(
        &mut self,
        ids: &[MessageId],
        snapshot: Option<&Snapshot<'_>>,
        max_bytes: usize,
    ) -> ApiResult<Vec<Arc<OwnJson>>> {
        // Parts in other formats are rare, and not cached.
        let snapshot = snapshot.filter(|_| self.format.apply_markdown && self.search.is_none());
        let cached = snapshot.map(|snapshot| snapshot.cached::<OwnJson>(ids.iter().map(|id| id.0)));
        let mut cached = cached.unwrap_or_default();
        cached.resize(ids.len(), None);
        let missing = ids.iter().zip(&cached).filter(|(_, own)| own.is_none());
        let missing: Vec<MessageId> = missing.map(|(id, _)| *id).collect();
        let mut bytes = 0;
        let mut made: Vec<Arc<OwnJson>> = Vec::with_capacity(missing.len());
        if !missing.is_empty() {
            for_each_row(self.viewer.connection, &missing, |row| -> ApiResult<()> {
                if bytes <= max_bytes {
                    let own = self.own_part(row)?;
                    bytes += own.json.len();
                    made.push(Arc::new(own));
                }
                Ok(())
            })?;
        }
        if let Some(snapshot) = snapshot {
            let lasting = made.iter().filter(|own| own.depends_on_its_row_only());
            snapshot.cache(lasting.map(|own| (own.head.id.0, Arc::clone(own))));
        }
        let is_cut = bytes > max_bytes;
        let mut made = made.into_iter().peekable();
        let mut parts = Vec::with_capacity(ids.len());
        for (id, own) in ids.iter().zip(cached) {
            match own.or_else(|| made.next_if(|own| own.head.id == *id)) {
                Some(own) => parts.push(own),
                None if is_cut => break,
                None => {}
            }
        }
        Ok(parts)
    }

    /// The own part of a message, from its row and those of other tables that its attributes announce.
    fn own_part(&mut self, row: &MessageView<'_, '_>) -> ApiResult<OwnJson> {
        let head = row.head()?;
        self.cache_recipient(&head)?;
        self.cache_client(&head)?;
        let attached = self.attached(&head)?;
        let is_in_channel = self.recipients[&head.recipient_id].conversation.stream.is_some();
        let topic = if is_in_channel { row.subject()? } else { "" };
        let subject =
            if is_in_channel { shown_topic(topic, self.format.allow_empty_topic_name) } else { topic };
        let matches = match self.search {
            Some(search) => Some(Matches::of(row.rendered_content()?, subject, Some(search))),
            None => None,
        };
        let (content, content_type) = if self.format.apply_markdown {
            (row.rendered_content()?, "text/html")
        } else {
            (row.content()?, "text/x-markdown")
        };
        let own = OwnPart {
            id: head.id,
            content: None,
            content_type,
            timestamp: head.timestamp,
            client: &self.clients[&head.client_id],
            subject,
            topic_links: &attached.topic_links,
            is_me_message: head.has(attribute::IS_ME),
            reactions: &attached.reactions,
            submessages: &attached.submessages,
            edit_history: &attached.edits,
            last_edit_timestamp: head.last_edit_timestamp,
            last_moved_timestamp: head.last_moved_timestamp,
            flags: None,
            match_content: matches.as_ref().map(|matches| matches.match_content.as_str()),
            match_subject: matches.as_ref().map(|matches| matches.match_subject.as_str()),
        };
        let mut json = Vec::with_capacity(content.len() + 400);
        serde_json::to_writer(&mut json, &own)?;
        // More members follow: replace the closing brace.
        json.pop();
        json.extend_from_slice(b",\"content\":");
        write_json_text(&mut json, content);
        json.shrink_to_fit();
        Ok(OwnJson { head, has_empty_topic: is_in_channel && topic.is_empty(), json })
    }

    /// Writes a message: its own part, its flags, and the parts of its sender and its conversation.
    fn write(&mut self, own: &OwnJson, stored_flags: i64, out: &mut Vec<u8>) -> ApiResult<()> {
        self.cache_recipient(&own.head)?;
        let recipient = &self.recipients[&own.head.recipient_id];
        out.extend_from_slice(&own.json);
        out.extend_from_slice(b",\"flags\":");
        if self.viewer.caller.is_visitor() {
            out.extend_from_slice(br#"["read"]"#);
        } else {
            recipient.write_flags(&own.head, stored_flags, out);
        }
        out.push(b',');
        out.extend_from_slice(self.senders[&own.head.sender_id].0.as_bytes());
        out.push(b',');
        out.extend_from_slice(recipient.part.as_bytes());
        out.push(b'}');
        Ok(())
    }

    /// Caches the part that a message shares with others of its conversation.
    fn cache_recipient(&mut self, head: &MessageHead) -> ApiResult<()> {
        let connection = self.viewer.connection;
        if !self.recipients.contains_key(&head.recipient_id) {
            let conversation = self.viewer.conversation(head.recipient_id)?;
            let (display, stream_id) = match &conversation.stream {
                Some(stream) => (DisplayRecipient::Stream(stream.name.clone()), Some(stream.stream_id)),
                None => (
                    DisplayRecipient::Direct(sql::participants(connection, &conversation.participants)?),
                    None,
                ),
            };
            let part = RecipientPart::new(head.recipient_id, &display, stream_id);
            let part = members_of(&part)?;
            let read = self.viewer.read_set(head.recipient_id)?;
            let recipient = Recipient { part, conversation, read };
            self.recipients.insert(head.recipient_id, recipient);
        }
        Ok(())
    }

    /// Loads the parts that messages share with others of their senders. One statement reads all that are not cached: the
    /// newest messages of a large channel have almost as many senders.
    fn load_senders(&mut self, parts: &[Arc<OwnJson>], snapshot: Option<&Snapshot<'_>>) -> ApiResult<()> {
        let senders: IdSet<UserId> = parts.iter().map(|own| own.head.sender_id).collect();
        let accessible: Vec<UserId> =
            senders.iter().copied().filter(|id| self.accessible.contains(*id)).collect();
        let is_visitor = self.viewer.caller.is_visitor();
        // Visitors see no email.
        let snapshot = snapshot.filter(|_| !is_visitor);
        if let Some(snapshot) = snapshot {
            let cached = snapshot.cached(accessible.iter().map(|id| id.0));
            self.senders.extend(accessible.iter().zip(cached).filter_map(|(id, part)| Some((*id, part?))));
        }
        let missing: Vec<UserId> =
            accessible.into_iter().filter(|id| !self.senders.contains_key(id)).collect();
        for_each_sender(self.viewer.connection, &missing, |sender| -> ApiResult<()> {
            let id = sender.avatar.user_id;
            let email = if is_visitor { unknown_email(id).into() } else { sender.email.into() };
            let part = SenderPart::new(id, sender.full_name, email, sender.avatar);
            self.senders.insert(id, SenderJson::new(&part)?);
            Ok(())
        })?;
        if let Some(snapshot) = snapshot {
            snapshot.cache(missing.iter().filter_map(|id| Some((id.0, Arc::clone(self.senders.get(id)?)))));
        }
        for id in senders {
            if let Entry::Vacant(entry) = self.senders.entry(id) {
                entry.insert(SenderJson::new(&SenderPart::unknown(id))?);
            }
        }
        Ok(())
    }

    /// Caches the name of the program that sent a message.
    fn cache_client(&mut self, head: &MessageHead) -> ApiResult<()> {
        if let Entry::Vacant(entry) = self.clients.entry(head.client_id) {
            entry.insert(sql::client_name(self.viewer.connection, head.client_id)?);
        }
        Ok(())
    }

    /// Loads the parts that the attributes of a message announce.
    fn attached(&self, head: &MessageHead) -> ApiResult<Attached> {
        let (connection, id) = (self.viewer.connection, head.id);
        let mut attached = Attached::default();
        if head.has(attribute::HAS_REACTION) {
            attached.reactions = sql::reactions(connection, id)?;
        }
        if head.has(attribute::HAS_SUBMESSAGE) {
            attached.submessages = submessages::of_message(connection, id)?;
        }
        if head.has(attribute::IS_EDITED) && self.history_visibility != EditHistoryVisibility::None {
            attached.edits = self.shown_edits(sql::edits(connection, id)?);
        }
        if head.has(attribute::HAS_TOPIC_LINKS)
            && let Some(links) = sql::topic_links(connection, id)?
        {
            attached.topic_links = serde_json::from_str(&links)?;
        }
        Ok(attached)
    }

    /// The visible part of a message's history, with the empty topic in the client's format.
    fn shown_edits(&self, edits: Vec<EditRecord>) -> Vec<EditRecord> {
        let mut edits = self.history_visibility.filter(edits);
        for topic in edits.iter_mut().flat_map(|edit| [&mut edit.topic, &mut edit.prev_topic]).flatten() {
            *topic = shown_topic(topic, self.format.allow_empty_topic_name).to_owned();
        }
        edits
    }
}

impl OwnJson {
    /// True if the part is the same as long as the message's row is, for all who want HTML.
    fn depends_on_its_row_only(&self) -> bool {
        const ELSEWHERE: i64 = attribute::HAS_REACTION
            | attribute::HAS_SUBMESSAGE
            | attribute::HAS_TOPIC_LINKS
            | attribute::IS_EDITED;
        !self.head.has(ELSEWHERE) && !self.has_empty_topic
    }
}

impl Recipient {
    /// Writes the viewer's flags on a message.
    fn write_flags(&self, head: &MessageHead, stored: i64, out: &mut Vec<u8>) {
        let received = self.conversation.has_received(head.id);
        let is_read = head.id.bit().is_none_or(|id| self.read.contains(id));
        let by_everyone = received && head.has(attribute::STREAM_WILDCARD);
        let by_participants = stored & bit::TOPIC_WILDCARD_MENTIONED != 0;
        let names = [
            (is_read || !received, "read"),
            (stored & bit::STARRED != 0, "starred"),
            (stored & bit::COLLAPSED != 0, "collapsed"),
            (stored & bit::MENTIONED != 0, "mentioned"),
            (by_everyone, "stream_wildcard_mentioned"),
            (by_participants, "topic_wildcard_mentioned"),
            // Deprecated, for clients that do not distinguish the two.
            (by_everyone || by_participants, "wildcard_mentioned"),
            (stored & bit::HAS_ALERT_WORD != 0, "has_alert_word"),
            (!received || stored & bit::HISTORICAL != 0, "historical"),
        ];
        out.push(b'[');
        let start = out.len();
        for (_, name) in names.into_iter().filter(|(set, _)| *set) {
            if out.len() > start {
                out.push(b',');
            }
            out.push(b'"');
            out.extend_from_slice(name.as_bytes());
            out.push(b'"');
        }
        out.push(b']');
    }
}
