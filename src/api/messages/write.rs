//! Messages to JSON, for one viewer.

use super::flags::bit;
use super::history::Visibility;
use super::message::{DisplayRecipient, EditRecord, MessageRecord, attribute, shown_topic};
use super::search::{SearchQuery, highlight};
use super::sight::Sight;
use super::sql::{self, MessageHead, MessageView};
use crate::api::submessages::sql as submessages;
use crate::api::users::record::avatar_url;
use crate::http::{ApiError, ApiResult};
use crate::types::{MessageId, RecipientId, StreamId};
use serde::Serialize;
use std::collections::HashMap;

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
    write_found(sight, ids, form, None)
}

/// The same for messages that a search found: `match_content` and `match_subject` mark what was searched for.
pub fn write_found(
    sight: &Sight<'_>,
    ids: &[MessageId],
    form: Form,
    search: Option<&SearchQuery>,
) -> ApiResult<String> {
    let visibility = Visibility::load(sight.connection)?;
    let mut writer = Writer { sight, form, visibility, search, recipients: HashMap::new() };
    let mut out = Vec::with_capacity(ids.len() * 700 + 2);
    out.push(b'[');
    sql::view_each(sight.connection, sight.caller.user_id, ids, |view| {
        if out.len() > 1 {
            out.push(b',');
        }
        writer.write(view, &mut out)
    })?;
    out.push(b']');
    // serde_json writes UTF-8.
    String::from_utf8(out).map_err(|_| ApiError::internal())
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
    display: DisplayRecipient,
    stream_id: Option<StreamId>,
}

struct Writer<'a> {
    sight: &'a Sight<'a>,
    form: Form,
    visibility: Visibility,
    search: Option<&'a SearchQuery>,
    recipients: HashMap<RecipientId, Recipient>,
}

impl Writer<'_> {
    fn write(&mut self, view: &MessageView<'_, '_>, out: &mut Vec<u8>) -> ApiResult<()> {
        let connection = self.sight.connection;
        let head = view.head()?;
        if !self.recipients.contains_key(&head.recipient_id) {
            let recipient = self.recipient(head.recipient_id)?;
            self.recipients.insert(head.recipient_id, recipient);
        }
        let recipient = &self.recipients[&head.recipient_id];
        let reactions =
            if head.has(attribute::HAS_REACTION) { sql::reactions(connection, head.id)? } else { Vec::new() };
        let submessages = if head.has(attribute::HAS_SUBMESSAGE) {
            submessages::of_message(connection, head.id)?
        } else {
            Vec::new()
        };
        let edits = if head.has(attribute::IS_EDITED) && self.visibility != Visibility::None {
            self.shown_edits(sql::edits(connection, head.id)?)
        } else {
            Vec::new()
        };
        let flags = self.flags(&head)?;
        let subject = match recipient.stream_id {
            Some(_) => shown_topic(view.subject()?, self.form.allow_empty_topic_name),
            None => "",
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
        let avatar = avatar_url(head.sender_id, head.sender_avatar_version);
        let record = MessageRecord {
            id: head.id,
            sender_id: head.sender_id,
            content,
            content_type,
            recipient_id: head.recipient_id,
            timestamp: head.timestamp,
            client: view.client()?,
            subject,
            topic_links: &[],
            is_me_message: head.has(attribute::IS_ME),
            reactions: &reactions,
            submessages: &submessages,
            sender_full_name: view.sender_full_name()?,
            sender_email: view.sender_email()?,
            sender_realm_str: "",
            display_recipient: &recipient.display,
            r#type: if recipient.stream_id.is_some() { "stream" } else { "private" },
            stream_id: recipient.stream_id,
            avatar_url: &avatar,
            edit_history: &edits,
            last_edit_timestamp: head.last_edit_timestamp,
            last_moved_timestamp: head.last_moved_timestamp,
            flags: Some(&flags),
            match_content: matches.as_ref().map(|matches| matches.match_content.as_str()),
            match_subject: matches.as_ref().map(|matches| matches.match_subject.as_str()),
        };
        Ok(serde_json::to_writer(out, &record)?)
    }

    fn recipient(&self, recipient_id: RecipientId) -> ApiResult<Recipient> {
        let view = self.sight.view(recipient_id)?;
        Ok(match &view.stream {
            Some(stream) => Recipient {
                display: DisplayRecipient::Stream(stream.name.clone()),
                stream_id: Some(stream.stream_id),
            },
            None => Recipient {
                display: DisplayRecipient::Direct(sql::participants(self.sight.connection, &view.people)?),
                stream_id: None,
            },
        })
    }

    /// What the organization shows of a message's history, with the empty topic as the viewer knows it.
    fn shown_edits(&self, edits: Vec<EditRecord>) -> Vec<EditRecord> {
        let mut edits = self.visibility.show(edits);
        for topic in edits.iter_mut().flat_map(|edit| [&mut edit.topic, &mut edit.prev_topic]).flatten() {
            *topic = shown_topic(topic, self.form.allow_empty_topic_name).to_owned();
        }
        edits
    }

    /// The viewer's flags on a message.
    fn flags(&self, row: &MessageHead) -> ApiResult<Vec<&'static str>> {
        let stored = row.flags;
        let received = self.sight.received(row.recipient_id, row.id)?;
        let set = self.sight.read_set(row.recipient_id)?;
        let is_read = row.id.bit().is_none_or(|id| set.contains(id));
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
            (!received, "historical"),
        ];
        Ok(names.into_iter().filter(|(set, _)| *set).map(|(_, name)| name).collect())
    }
}
