//! Writing messages as JSON, for one viewer.

use crate::domain::access::messages::ConversationAccess;
use crate::domain::access::users::Accessible;
use crate::domain::messages::flags::bit;
use crate::domain::messages::read_state::read_set::ReadSet;
use crate::domain::messages::record::{
    DisplayRecipient, EditRecord, OwnPart, Reaction, RecipientPart, SenderPart, Submessage, attribute,
};
use crate::domain::messages::row_reader::{MessageHead, MessageView, flags_on, for_each_row};
use crate::domain::messages::rules::EditHistoryVisibility;
use crate::domain::messages::search::highlight;
use crate::domain::messages::search::query::SearchQuery;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{sql, submessages};
use crate::http::{ApiError, ApiResult, members_of, write_json_text};
use crate::markdown::TopicLink;
use crate::types::shown_topic;
use crate::types::{ClientId, MessageId, RecipientId, UserId};
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// The format in which a client wants messages.
#[derive(Clone, Copy, Debug)]
pub struct MessageFormat {
    /// HTML rather than Markdown.
    pub apply_markdown: bool,
    /// The empty topic as an empty string rather than its display name.
    pub allow_empty_topic_name: bool,
}

/// Writes one message as a JSON object.
pub fn write_one(viewer: &MessageViewer<'_>, id: MessageId, format: MessageFormat) -> ApiResult<String> {
    let mut out = Vec::new();
    write_each(viewer, &[id], format, None, usize::MAX, &mut out)?;
    into_utf8(out)
}

/// Writes messages as a JSON array, in the order of `ids`. With a search, `match_content` and `match_subject` highlight
/// its words. Begins no message after so many bytes, and returns how many were begun.
pub fn write_array(
    viewer: &MessageViewer<'_>,
    ids: &[MessageId],
    format: MessageFormat,
    search: Option<&SearchQuery>,
    max_bytes: usize,
    out: &mut Vec<u8>,
) -> ApiResult<usize> {
    out.push(b'[');
    let written = write_each(viewer, ids, format, search, max_bytes, out)?;
    out.push(b']');
    Ok(written)
}

/// JSON that was written here, as text.
pub fn into_utf8(json: Vec<u8>) -> ApiResult<String> {
    String::from_utf8(json).map_err(|_| ApiError::internal("serialized messages are not UTF-8"))
}

/// Appends messages, separated by commas, until there are more bytes than `max_bytes`. Returns how many there are.
fn write_each(
    viewer: &MessageViewer<'_>,
    ids: &[MessageId],
    format: MessageFormat,
    search: Option<&SearchQuery>,
    max_bytes: usize,
    out: &mut Vec<u8>,
) -> ApiResult<usize> {
    let history_visibility = EditHistoryVisibility::load(viewer.connection)?;
    let flags = flags_on(viewer.connection, viewer.caller.user_id, ids)?;
    let accessible = Accessible::to(viewer.connection, viewer.caller)?;
    let mut writer = Writer {
        viewer,
        format,
        history_visibility,
        search,
        flags,
        accessible,
        recipients: HashMap::new(),
        senders: HashMap::new(),
        clients: HashMap::new(),
    };
    out.reserve(ids.len() * 700);
    let start = out.len();
    let mut seen = 0;
    for_each_row(viewer.connection, ids, |row| {
        if out.len() - start > max_bytes {
            return Ok(());
        }
        if out.len() > start {
            out.push(b',');
        }
        seen += 1;
        writer.write(row, out)
    })?;
    Ok(seen)
}

/// A message's text with the words of a search highlighted.
#[derive(Serialize)]
pub struct Matches {
    /// The message's HTML, with the words that were found in `span.highlight`.
    match_content: String,
    /// The topic as HTML, with the words that were found in `span.highlight`.
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

/// What messages need of their conversation.
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

struct Writer<'a> {
    viewer: &'a MessageViewer<'a>,
    format: MessageFormat,
    history_visibility: EditHistoryVisibility,
    search: Option<&'a SearchQuery>,
    /// The viewer's stored flags, of the messages that have any.
    flags: HashMap<MessageId, i64>,
    /// The users whose names the viewer may see.
    accessible: Accessible,
    recipients: HashMap<RecipientId, Recipient>,
    /// [`SenderPart`] as JSON, without braces.
    senders: HashMap<UserId, String>,
    /// Names of client programs.
    clients: HashMap<ClientId, String>,
}

impl Writer<'_> {
    /// Writes a message: its own part, and the cached parts of its sender and its conversation.
    fn write(&mut self, row: &MessageView<'_, '_>, out: &mut Vec<u8>) -> ApiResult<()> {
        let head = row.head()?;
        self.cache_recipient(&head)?;
        self.cache_sender(row, &head)?;
        self.cache_client(&head)?;
        let recipient = &self.recipients[&head.recipient_id];
        let attached = self.attached(&head)?;
        let flags = recipient.flags_of(&head, self.flags.get(&head.id).copied().unwrap_or(0));
        let subject = if recipient.conversation.stream.is_some() {
            shown_topic(row.subject()?, self.format.allow_empty_topic_name)
        } else {
            ""
        };
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
            flags: Some(&flags),
            match_content: matches.as_ref().map(|matches| matches.match_content.as_str()),
            match_subject: matches.as_ref().map(|matches| matches.match_subject.as_str()),
        };
        serde_json::to_writer(&mut *out, &own)?;
        // The parts become one object: replace the closing brace.
        out.pop();
        out.extend_from_slice(b",\"content\":");
        write_json_text(out, content);
        out.push(b',');
        out.extend_from_slice(self.senders[&head.sender_id].as_bytes());
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

    /// Caches the part that a message shares with others of its sender.
    fn cache_sender(&mut self, row: &MessageView<'_, '_>, head: &MessageHead) -> ApiResult<()> {
        let Entry::Vacant(entry) = self.senders.entry(head.sender_id) else { return Ok(()) };
        let part = if self.accessible.contains(head.sender_id) {
            SenderPart::new(
                head.sender_id,
                row.sender_full_name()?,
                row.sender_email()?,
                row.sender_avatar()?,
            )
        } else {
            SenderPart::unknown(head.sender_id)
        };
        entry.insert(members_of(&part)?);
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

impl Recipient {
    /// The viewer's flags on a message.
    fn flags_of(&self, head: &MessageHead, stored: i64) -> Vec<&'static str> {
        let received = self.conversation.has_received(head.id);
        let is_read = head.id.bit().is_none_or(|id| self.read.contains(id));
        let everybody = received && head.has(attribute::STREAM_WILDCARD);
        let participants = stored & bit::TOPIC_WILDCARD_MENTIONED != 0;
        let names = [
            (is_read || !received, "read"),
            (stored & bit::STARRED != 0, "starred"),
            (stored & bit::COLLAPSED != 0, "collapsed"),
            (stored & bit::MENTIONED != 0, "mentioned"),
            (everybody, "stream_wildcard_mentioned"),
            (participants, "topic_wildcard_mentioned"),
            // Deprecated, for clients that do not distinguish the two.
            (everybody || participants, "wildcard_mentioned"),
            (stored & bit::HAS_ALERT_WORD != 0, "has_alert_word"),
            (!received || stored & bit::HISTORICAL != 0, "historical"),
        ];
        names.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect()
    }
}
