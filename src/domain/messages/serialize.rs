//! Messages to JSON, for one viewer.

use crate::domain::access::users::Accessible;
use crate::domain::messages::access::{Sight, View};
use crate::domain::messages::flags::bit;
use crate::domain::messages::read_set::ReadSet;
use crate::domain::messages::record::{
    DisplayRecipient, EditRecord, OwnPart, Reaction, RecipientPart, SenderPart, Submessage, attribute,
};
use crate::domain::messages::row_reader::{MessageHead, MessageView, flags_on, view_each};
use crate::domain::messages::rules::Visibility;
use crate::domain::messages::search::highlight;
use crate::domain::messages::search::query::SearchQuery;
use crate::domain::messages::{sql, submessage_sql as submessages};
use crate::http::{ApiError, ApiResult, members_of, write_json_text};
use crate::markdown::TopicLink;
use crate::types::shown_topic;
use crate::types::{ClientId, MessageId, RecipientId, UserId};
use serde::Serialize;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::rc::Rc;

/// How a viewer wants messages.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// HTML rather than Markdown.
    pub apply_markdown: bool,
    /// The empty topic as an empty text rather than its display name.
    pub allow_empty_topic_name: bool,
}

/// Writes messages as a JSON array, in the order given.
pub fn write_messages(sight: &Sight<'_>, ids: &[MessageId], form: Form) -> ApiResult<String> {
    let mut out = Vec::new();
    write_found(sight, ids, form, None, &mut out)?;
    in_utf8(out)
}

/// Our own JSON as text: serde_json writes nothing else.
pub fn in_utf8(json: Vec<u8>) -> ApiResult<String> {
    String::from_utf8(json).map_err(|_| ApiError::internal("serialized messages are not UTF-8"))
}

/// Appends messages as a JSON array. For messages that a search found, `match_content` and `match_subject` mark what was
/// searched for.
pub fn write_found(
    sight: &Sight<'_>,
    ids: &[MessageId],
    form: Form,
    search: Option<&SearchQuery>,
    out: &mut Vec<u8>,
) -> ApiResult<()> {
    let visibility = Visibility::load(sight.connection)?;
    let flags = flags_on(sight.connection, sight.caller.user_id, ids)?;
    let accessible = Accessible::to(sight.connection, sight.caller)?;
    let mut writer = Writer {
        sight,
        form,
        visibility,
        search,
        flags,
        accessible,
        recipients: HashMap::new(),
        senders: HashMap::new(),
        clients: HashMap::new(),
    };
    out.reserve(ids.len() * 700);
    out.push(b'[');
    let start = out.len();
    view_each(sight.connection, ids, |view| {
        if out.len() > start {
            out.push(b',');
        }
        writer.write(view, out)
    })?;
    out.push(b']');
    Ok(())
}

/// A message's text with marks on what a search found in it.
#[derive(Serialize)]
pub struct Matches {
    match_content: String,
    match_subject: String,
}

impl Matches {
    /// Marks HTML content and a topic; without a search, both come without marks.
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

/// A conversation as the messages in it show it.
struct Recipient {
    /// [`RecipientPart`] as JSON, without braces.
    part: String,
    view: Rc<View>,
    read: Rc<ReadSet>,
}

/// What few messages have, in rows of its own.
#[derive(Default)]
struct Attached {
    reactions: Vec<Reaction>,
    submessages: Vec<Submessage>,
    edits: Vec<EditRecord>,
    topic_links: Vec<TopicLink>,
}

struct Writer<'a> {
    sight: &'a Sight<'a>,
    form: Form,
    visibility: Visibility,
    search: Option<&'a SearchQuery>,
    /// The viewer's stored flags, of the messages that have any.
    flags: HashMap<MessageId, i64>,
    /// Whose names the viewer may see.
    accessible: Accessible,
    recipients: HashMap<RecipientId, Recipient>,
    /// [`SenderPart`] as JSON, without braces.
    senders: HashMap<UserId, String>,
    /// Names of programs.
    clients: HashMap<ClientId, String>,
}

impl Writer<'_> {
    /// Writes a message: its own part, and those of its sender and its conversation as they were written first.
    fn write(&mut self, view: &MessageView<'_, '_>, out: &mut Vec<u8>) -> ApiResult<()> {
        let head = view.head()?;
        self.learn_recipient(&head)?;
        self.learn_sender(view, &head)?;
        self.learn_client(&head)?;
        let recipient = &self.recipients[&head.recipient_id];
        let attached = self.attached(&head)?;
        let flags = recipient.flags_of(&head, self.flags.get(&head.id).copied().unwrap_or(0));
        let subject = if recipient.view.stream.is_some() {
            shown_topic(view.subject()?, self.form.allow_empty_topic_name)
        } else {
            ""
        };
        let matches = match self.search {
            Some(search) => Some(Matches::of(view.rendered_content()?, subject, Some(search))),
            None => None,
        };
        let (content, content_type) = if self.form.apply_markdown {
            (view.rendered_content()?, "text/html")
        } else {
            (view.content()?, "text/x-markdown")
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
        // One object of all parts: their braces become commas.
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

    /// Writes what a message shares with others of its conversation, where it is the first.
    fn learn_recipient(&mut self, head: &MessageHead) -> ApiResult<()> {
        let connection = self.sight.connection;
        if !self.recipients.contains_key(&head.recipient_id) {
            let conversation = self.sight.view(head.recipient_id)?;
            let (display, stream_id) = match &conversation.stream {
                Some(stream) => (DisplayRecipient::Stream(stream.name.clone()), Some(stream.stream_id)),
                None => {
                    (DisplayRecipient::Direct(sql::participants(connection, &conversation.people)?), None)
                }
            };
            let part = RecipientPart::new(head.recipient_id, &display, stream_id);
            let part = members_of(&part)?;
            let read = self.sight.read_set(head.recipient_id)?;
            let recipient = Recipient { part, view: conversation, read };
            self.recipients.insert(head.recipient_id, recipient);
        }
        Ok(())
    }

    /// Writes what a message shares with others of its sender, where it is the first.
    fn learn_sender(&mut self, view: &MessageView<'_, '_>, head: &MessageHead) -> ApiResult<()> {
        let Entry::Vacant(place) = self.senders.entry(head.sender_id) else { return Ok(()) };
        let part = if self.accessible.contains(head.sender_id) {
            SenderPart::new(
                head.sender_id,
                view.sender_full_name()?,
                view.sender_email()?,
                view.sender_avatar()?,
            )
        } else {
            SenderPart::unknown(head.sender_id)
        };
        place.insert(members_of(&part)?);
        Ok(())
    }

    /// Finds the name of the program that sent a message, where it is the first of it.
    fn learn_client(&mut self, head: &MessageHead) -> ApiResult<()> {
        if let Entry::Vacant(place) = self.clients.entry(head.client_id) {
            place.insert(sql::client_name(self.sight.connection, head.client_id)?);
        }
        Ok(())
    }

    /// Loads what its attributes say that a message has.
    fn attached(&self, head: &MessageHead) -> ApiResult<Attached> {
        let (connection, id) = (self.sight.connection, head.id);
        let mut attached = Attached::default();
        if head.has(attribute::HAS_REACTION) {
            attached.reactions = sql::reactions(connection, id)?;
        }
        if head.has(attribute::HAS_SUBMESSAGE) {
            attached.submessages = submessages::of_message(connection, id)?;
        }
        if head.has(attribute::IS_EDITED) && self.visibility != Visibility::None {
            attached.edits = self.shown_edits(sql::edits(connection, id)?);
        }
        if head.has(attribute::HAS_TOPIC_LINKS)
            && let Some(links) = sql::topic_links(connection, id)?
        {
            attached.topic_links = serde_json::from_str(&links)?;
        }
        Ok(attached)
    }

    /// What the organization shows of a message's history, with the empty topic as the viewer knows it.
    fn shown_edits(&self, edits: Vec<EditRecord>) -> Vec<EditRecord> {
        let mut edits = self.visibility.show(edits);
        for topic in edits.iter_mut().flat_map(|edit| [&mut edit.topic, &mut edit.prev_topic]).flatten() {
            *topic = shown_topic(topic, self.form.allow_empty_topic_name).to_owned();
        }
        edits
    }
}

impl Recipient {
    /// The viewer's flags on a message.
    fn flags_of(&self, row: &MessageHead, stored: i64) -> Vec<&'static str> {
        let received = self.view.received(row.id);
        let is_read = row.id.bit().is_none_or(|id| self.read.contains(id));
        let everybody = received && row.has(attribute::STREAM_WILDCARD);
        let participants = stored & bit::TOPIC_WILDCARD_MENTIONED != 0;
        let names = [
            (is_read || !received, "read"),
            (stored & bit::STARRED != 0, "starred"),
            (stored & bit::COLLAPSED != 0, "collapsed"),
            (stored & bit::MENTIONED != 0, "mentioned"),
            (everybody, "stream_wildcard_mentioned"),
            (participants, "topic_wildcard_mentioned"),
            // Deprecated, for clients that do not tell the two apart.
            (everybody || participants, "wildcard_mentioned"),
            (stored & bit::HAS_ALERT_WORD != 0, "has_alert_word"),
            (!received || stored & bit::HISTORICAL != 0, "historical"),
        ];
        names.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect()
    }
}
