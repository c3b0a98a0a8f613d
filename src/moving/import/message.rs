//! Messages: rendering in parallel, and inserting in batches.

use crate::app::App;
use crate::auth::{Caller, Ctx};
use crate::domain::linkifiers::compiled::topic_links;
use crate::domain::messages::create::attributes_of;
use crate::domain::messages::flags::bit;
use crate::domain::messages::markup::framed;
use crate::domain::messages::record::{EditRecord, RENDERED_VERSION, attribute};
use crate::domain::messages::widget::{WIDGET, Widget};
use crate::domain::messages::{submessages, topic_sql};
use crate::domain::rendering::{Earlier, render_again};
use crate::domain::{files, messages, search};
use crate::error::{ApiResult, ok_unless_refused};
use crate::moving::import::earlier::references;
use crate::moving::import::error::{ImportError, ImportResult};
use crate::moving::import::html;
use crate::moving::import::report::Differences;
use crate::store::{ExecuteCached, Tx};
use crate::types::{ClientId, MessageId, RecipientId, StreamId, Topic, TopicId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use std::collections::HashMap;
use std::sync::Arc;
use teamchat_markdown::Rendered;

/// The messages of one batch.
pub const BATCH: usize = 1000;

/// A reaction to a message.
#[derive(Clone, Debug)]
pub struct Reaction {
    pub user: u32,
    /// Name, code and type.
    pub emoji: Arc<Emoji>,
}

/// The name, the code and the type of an emoji.
pub type Emoji = (String, String, String);

/// A message to insert.
#[derive(Debug)]
pub struct NewMessage {
    pub id: u32,
    pub sender: u32,
    /// The conversation.
    pub recipient: RecipientId,
    /// The channel, if it is in one.
    pub stream: Option<StreamId>,
    /// The topic; empty for direct messages.
    pub topic: String,
    /// Markdown.
    pub content: String,
    /// The archive's HTML.
    pub html: Option<String>,
    /// UNIX seconds.
    pub timestamp: i64,
    /// The program that sent it.
    pub client: ClientId,
    /// Edits and moves, the oldest first.
    pub edits: Vec<EditRecord>,
    /// When the content was edited, in UNIX seconds.
    pub last_edit: Option<i64>,
    /// When it was moved, in UNIX seconds.
    pub last_moved: Option<i64>,
    /// True for the notice that a topic was resolved or no longer is.
    pub is_resolve_notice: bool,
    /// Flags of users: bits of [`bit`].
    pub flags: Vec<(u32, i64)>,
    /// The receivers, if who is mentioned follows from the text.
    pub receivers: Option<RoaringBitmap>,
    /// If it has links, and images, if the archive says.
    pub has: (Option<bool>, Option<bool>),
    /// True if it linked to files when it was sent or edited. They may have been deleted since.
    pub had_files: bool,
    /// Wildcard mentions, if the receivers' flags are known.
    pub wildcards: Option<(bool, bool)>,
    /// Reactions, the oldest first.
    pub reactions: Vec<Reaction>,
    /// Files that it links to.
    pub attachments: Vec<u32>,
    /// Topics that it links to, if the archive has no HTML: the channel, the topic, and the newest message then.
    pub topics: Vec<(i64, String, Option<i64>)>,
}

/// The parts that messages are rendered with.
#[derive(Default)]
pub struct Renderer {
    /// The callers in whose name messages are rendered, by sender.
    pub callers: HashMap<u32, Caller>,
    /// The ids of groups here, by those of the archive.
    pub groups: HashMap<u32, i64>,
    /// The address of the new server; empty if it is not known.
    pub origin: String,
}

/// A message with its rendering.
pub struct ReadyMessage {
    message: NewMessage,
    rendered: Rendered,
    differs: Option<bool>,
}

/// Renders messages as their senders see the organization, on all processors.
pub fn render_all(
    app: &App,
    renderer: &Renderer,
    mut messages: Vec<NewMessage>,
    differences: &mut Differences,
) -> ImportResult<Vec<ReadyMessage>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(4);
    let length = messages.len().div_ceil(threads).max(1);
    let mut parts = Vec::new();
    while !messages.is_empty() {
        let rest = messages.split_off(messages.len().min(length));
        parts.push(std::mem::replace(&mut messages, rest));
    }
    let parts: Vec<ImportResult<Vec<ReadyMessage>>> = std::thread::scope(|scope| {
        let running: Vec<_> = parts
            .into_iter()
            .map(|part| {
                scope.spawn(|| {
                    app.readers.read_everything(|snapshot| {
                        let now = app.clock.seconds();
                        part.into_iter()
                            .map(|message| {
                                let caller = renderer.callers.get(&message.sender);
                                let caller =
                                    caller.ok_or_else(|| ImportError::new("a sender was not imported"))?;
                                renderer.render(Ctx::new(snapshot, caller, now), message)
                            })
                            .collect()
                    })
                })
            })
            .collect();
        let failed = |_| Err(ImportError::new("a message could not be rendered"));
        running.into_iter().map(|thread| thread.join().unwrap_or_else(failed)).collect()
    });
    let mut all = Vec::new();
    for part in parts {
        all.extend(part?);
    }
    for message in &all {
        if let Some(differs) = message.differs {
            differences.add(message.message.id, differs);
        }
    }
    Ok(all)
}

impl Renderer {
    /// The references in HTML of the archive.
    pub fn references(&self, html: &str) -> Option<Earlier> {
        references(html, &self.groups)
    }

    /// Renders a text as it was rendered before. Of a text that is too much to render, the beginning is shown as it is written.
    pub fn text(&self, ctx: Ctx<'_>, earlier: Option<&Earlier>, content: &str) -> ApiResult<Rendered> {
        let again = |content: &str| render_again(ctx, &self.origin, earlier, content);
        match ok_unless_refused(again(content))? {
            Some(rendered) => Ok(rendered),
            None => again(&fenced(content)),
        }
    }

    fn render(&self, ctx: Ctx<'_>, mut message: NewMessage) -> ImportResult<ReadyMessage> {
        let earlier = message.html.as_deref().and_then(|html| self.references(html));
        let topics = std::mem::take(&mut message.topics);
        let earlier = earlier.unwrap_or_else(|| Earlier { topics, ..Earlier::default() });
        let rendered = self.text(ctx, Some(&earlier), &message.content).map_err(|error| {
            ImportError::new(format!("message {} cannot be rendered: {}", message.id, error.msg()))
        })?;
        for edit in &mut message.edits {
            let html = edit.prev_rendered_content.take();
            let Some(content) = &edit.prev_content else { continue };
            let earlier = html.as_deref().and_then(|html| self.references(html));
            let old = ok_unless_refused(self.text(ctx, earlier.as_ref(), content))?;
            edit.prev_rendered_content = Some(old.map(|old| old.html).unwrap_or_default());
        }
        let differs = message.html.take().map(|html| !html::is_same(&html, &rendered.html));
        Ok(ReadyMessage { message, rendered, differs })
    }
}

/// The beginning of a text as a block of code.
fn fenced(content: &str) -> String {
    framed("text", content, 10_000)
}

/// Inserts a batch of messages, with everything that belongs to them.
pub fn insert_all(tx: &mut Tx<'_>, batch: &[ReadyMessage]) -> ImportResult<()> {
    let mut topics = LinkedTopics::default();
    for message in batch {
        insert(tx, message, &mut topics)?;
    }
    Ok(())
}

/// The topics of a batch.
#[derive(Default)]
struct LinkedTopics {
    /// Rows, by channel and key.
    rows: HashMap<(StreamId, String), TopicId>,
    /// The links in each topic, as JSON.
    links: HashMap<String, Option<String>>,
}

impl LinkedTopics {
    /// The row of a message's topic, which is created if there is none, and the links in the topic, as JSON. Direct messages
    /// have neither.
    fn of(
        &mut self,
        connection: &Connection,
        message: &NewMessage,
    ) -> ImportResult<(Option<TopicId>, Option<String>)> {
        let Some(stream_id) = message.stream else { return Ok((None, None)) };
        let key = (stream_id, Topic::stored(message.topic.clone()).key());
        let topic_id = match self.rows.get(&key) {
            Some(known) => *known,
            None => {
                let topic_id = topic_sql::topic_or_new(connection, stream_id, &key.1)?;
                self.rows.insert(key, topic_id);
                topic_id
            }
        };
        if !self.links.contains_key(&message.topic) {
            let found = topic_links(connection, &message.topic)?;
            let found = if found.is_empty() { None } else { Some(json(&found)?) };
            self.links.insert(message.topic.clone(), found);
        }
        Ok((Some(topic_id), self.links.get(&message.topic).cloned().flatten()))
    }
}

/// The attributes of a message: those that follow from its text, unless the archive says otherwise, and those of its data.
fn attributes(message: &NewMessage, rendered: &Rendered, has_widget: bool, has_topic_links: bool) -> i64 {
    let has_files = message.had_files || !message.attachments.is_empty();
    let mut attributes = attributes_of(rendered, message.stream.is_some(), has_files);
    if let Some((stream, topic)) = message.wildcards {
        attributes &= !(attribute::STREAM_WILDCARD | attribute::TOPIC_WILDCARD);
        attributes |= if stream { attribute::STREAM_WILDCARD } else { 0 };
        attributes |= if topic { attribute::TOPIC_WILDCARD } else { 0 };
    }
    for (known, bit) in [(message.has.0, attribute::HAS_LINK), (message.has.1, attribute::HAS_IMAGE)] {
        if let Some(has) = known {
            attributes = if has { attributes | bit } else { attributes & !bit };
        }
    }
    for (set, bits) in [
        (has_widget, attribute::HAS_SUBMESSAGE),
        (has_topic_links, attribute::HAS_TOPIC_LINKS),
        (!message.reactions.is_empty(), attribute::HAS_REACTION),
        (!message.edits.is_empty(), attribute::IS_EDITED),
        (message.is_resolve_notice, attribute::IS_RESOLVE_NOTICE),
    ] {
        attributes |= if set { bits } else { 0 };
    }
    attributes
}

fn insert(
    tx: &mut Tx<'_>,
    ReadyMessage { message, rendered, .. }: &ReadyMessage,
    topics: &mut LinkedTopics,
) -> ImportResult<()> {
    let id = MessageId::from(message.id);
    let widget = Widget::of(&message.content);
    let (topic_id, topic_links) = topics.of(tx, message)?;
    tx.execute_cached(
        "INSERT INTO message (id, recipient_id, topic_id, subject, sender_id, client_id, timestamp, content,
             html, rendered_version, attributes, last_edit_timestamp, last_moved_timestamp)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        (
            id,
            message.recipient,
            topic_id,
            &message.topic,
            message.sender,
            message.client,
            message.timestamp,
            &message.content,
            messages::stored_html(&message.content, &rendered.html),
            RENDERED_VERSION,
            attributes(message, rendered, widget.is_some(), topic_links.is_some()),
            message.last_edit,
            message.last_moved,
        ),
    )?;
    search::index::add_at_once(tx, id);
    if let Some(links) = topic_links {
        messages::put_topic_links(tx, id, &links)?;
    }
    if let Some(widget) = widget {
        submessages::insert(tx, id, message.sender.into(), WIDGET, &json(&widget)?)?;
    }
    for edit in &message.edits {
        messages::insert_edit(tx, id, edit)?;
    }
    for (number, reaction) in message.reactions.iter().enumerate() {
        let (name, code, kind) = &*reaction.emoji;
        tx.execute_cached(
            "INSERT INTO reaction (message_id, number, user_id, emoji_name, emoji_code, reaction_type)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            (id, number as i64 + 1, reaction.user, name, code, kind),
        )?;
    }
    let mentioned = rendered.mentioned_user_ids.iter().filter_map(|user| u32::try_from(*user).ok());
    for user in mentioned {
        if message.receivers.as_ref().is_some_and(|receivers| receivers.contains(user)) {
            messages::add_flags(tx, user.into(), id, bit::MENTIONED)?;
        }
    }
    for (user, flags) in &message.flags {
        messages::add_flags(tx, (*user).into(), id, *flags)?;
    }
    for attachment in &message.attachments {
        files::claim(tx, (*attachment).into(), id)?;
    }
    Ok(())
}

fn json(value: &impl serde::Serialize) -> ImportResult<String> {
    serde_json::to_string(value).map_err(ImportError::new)
}

/// The stored flags for a mask of an archive: starred, collapsed, mentioned by name or group, alert words, the topic's
/// wildcard, and received later.
pub fn flags_of_mask(mask: i64) -> i64 {
    let bits = [
        (2, bit::STARRED),
        (4, bit::COLLAPSED),
        (8 | 64, bit::MENTIONED),
        (32, bit::TOPIC_WILDCARD_MENTIONED),
        (512, bit::HAS_ALERT_WORD),
        (1024, bit::HISTORICAL),
    ];
    bits.into_iter().filter(|(of_archive, _)| mask & of_archive != 0).fold(0, |flags, (_, bit)| flags | bit)
}
