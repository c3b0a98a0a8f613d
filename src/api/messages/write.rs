//! Messages to JSON, for one viewer.

use super::flags::bit;
use super::history::Visibility;
use super::message::{DisplayRecipient, EditRecord, MessageRecord, MessageRow, attribute, shown_topic};
use super::search::{SearchQuery, highlight};
use super::sight::Sight;
use super::sql;
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
    let mut rows = Vec::with_capacity(ids.len());
    sql::by_ids(sight.connection, sight.caller.user_id, ids, |row, flags| rows.push((row, flags)))?;
    let visibility = Visibility::load(sight.connection)?;
    let mut writer = Writer { sight, form, visibility, search, recipients: HashMap::new() };
    let mut out = Vec::with_capacity(rows.len() * 700 + 2);
    out.push(b'[');
    for (index, (row, flags)) in rows.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        writer.write(row, *flags, &mut out)?;
    }
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
    fn write(&mut self, row: &MessageRow, flags: i64, out: &mut Vec<u8>) -> ApiResult<()> {
        let connection = self.sight.connection;
        if !self.recipients.contains_key(&row.recipient_id) {
            let recipient = self.recipient(row.recipient_id)?;
            self.recipients.insert(row.recipient_id, recipient);
        }
        let recipient = &self.recipients[&row.recipient_id];
        let reactions =
            if row.has(attribute::HAS_REACTION) { sql::reactions(connection, row.id)? } else { Vec::new() };
        let submessages = if row.has(attribute::HAS_SUBMESSAGE) {
            submessages::of_message(connection, row.id)?
        } else {
            Vec::new()
        };
        let edits = if row.has(attribute::IS_EDITED) && self.visibility != Visibility::None {
            self.shown_edits(sql::edits(connection, row.id)?)
        } else {
            Vec::new()
        };
        let flags = self.flags(row, flags)?;
        let subject = match recipient.stream_id {
            Some(_) => shown_topic(&row.subject, self.form.allow_empty_topic_name),
            None => "",
        };
        let matches = self.search.map(|search| Matches::of(&row.rendered_content, subject, Some(search)));
        let avatar = avatar_url(row.sender_id, row.sender_avatar_version);
        let record = MessageRecord {
            id: row.id,
            sender_id: row.sender_id,
            content: if self.form.apply_markdown { &row.rendered_content } else { &row.content },
            content_type: if self.form.apply_markdown { "text/html" } else { "text/x-markdown" },
            recipient_id: row.recipient_id,
            timestamp: row.timestamp,
            client: &row.client,
            subject,
            topic_links: &[],
            is_me_message: row.has(attribute::IS_ME),
            reactions: &reactions,
            submessages: &submessages,
            sender_full_name: &row.sender_full_name,
            sender_email: &row.sender_email,
            sender_realm_str: "",
            display_recipient: &recipient.display,
            r#type: if recipient.stream_id.is_some() { "stream" } else { "private" },
            stream_id: recipient.stream_id,
            avatar_url: &avatar,
            edit_history: &edits,
            last_edit_timestamp: row.last_edit_timestamp,
            last_moved_timestamp: row.last_moved_timestamp,
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
    fn flags(&self, row: &MessageRow, stored: i64) -> ApiResult<Vec<&'static str>> {
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
