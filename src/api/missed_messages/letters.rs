//! Emails about missed messages: one for each conversation, with what its reader may read and has not read at this moment.

use crate::api::missed_messages::texts::{Mentioned, Reason, Subject};
use crate::auth::{Caller, Ctx};
use crate::domain::access::messages::{clip, direct_user_ids};
use crate::domain::access::users::{Accessible, UNKNOWN_USER};
use crate::domain::mail::{Body, Kind, Letter, Setup};
use crate::domain::messages::mail_content::{self, Surroundings};
use crate::domain::messages::markup::Location;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::topic_sql;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::missed_messages::Batch;
use crate::domain::notifications::deciding::Notifiable;
use crate::domain::notifications::mentions::{MentionedGroup, smallest_group};
use crate::domain::notifications::{MAIL, Trigger, mailed};
use crate::domain::realm::settings::MESSAGE_CONTENT_ALLOWED_IN_EMAIL_NOTIFICATIONS;
use crate::domain::rows::user::UserRow;
use crate::domain::user_settings::{
    MESSAGE_CONTENT_IN_EMAIL_NOTIFICATIONS, REALM_NAME_IN_EMAIL_NOTIFICATIONS_POLICY,
};
use crate::domain::{mail, messages, missed_messages, muted_users, realm, rows, user_settings};
use crate::error::ApiResult;
use crate::types::{Language, MessageId, RecipientId, StreamId, Topic, UserId, fill};
use rusqlite::Connection;
use std::collections::{HashMap, VecDeque};

/// The most conversations of a batch that have an email of their own. The others share one.
const MAX_LETTERS: usize = 50;

/// The longest content of an email, Markdown and HTML together, in bytes. Messages that exceed it are counted.
const MAX_CONTENT: usize = 200_000;

/// Seconds before a mention, and the most messages of this time, that are shown with it.
const CONTEXT_SECONDS: i64 = 15 * 60;
const CONTEXT_MESSAGES: usize = 10;

/// The content of a message whose content was removed.
const DELETED: &str = "(deleted)";

/// `realm_name_in_email_notifications_policy`: subjects always name the organization. The automatic policy is for people with
/// accounts in several organizations, of which this server has one.
const ALWAYS_NAMED: i64 = 2;

/// A conversation, as emails divide messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Conversation {
    /// A topic by its key.
    Topic(StreamId, String),
    /// A direct conversation of several people.
    Group(RecipientId),
    /// A direct conversation of two people, by the sender.
    Direct(RecipientId, UserId),
    /// All for which there is no email.
    Rest,
}

/// The missed messages of a conversation.
#[derive(Clone, Debug)]
pub struct Bucket {
    conversation: Conversation,
    /// The messages, ascending.
    pub message_ids: Vec<MessageId>,
}

/// The content of a batch at its time.
#[derive(Debug, Default)]
pub struct Survey {
    /// The conversations, by their newest messages.
    pub buckets: VecDeque<Bucket>,
    /// Messages that are read, deleted or not to be mailed any more.
    pub outdated: Vec<MessageId>,
}

/// Divides the messages of a batch.
pub fn survey(connection: &Connection, batch: Batch, now: i64) -> ApiResult<Survey> {
    let all = missed_messages::messages_of(connection, batch.id)?;
    let Some((_, caller)) = reader(connection, batch.user_id)? else {
        return Ok(Survey { buckets: VecDeque::new(), outdated: all });
    };
    let viewer = MessageViewer::new(Ctx::new(connection, &caller, now));
    let mut found = Survey::default();
    let mut conversations: HashMap<Conversation, Vec<MessageId>> = HashMap::new();
    for id in all {
        match missed(&viewer, id)? {
            Some(missed) => conversations.entry(conversation_of(connection, &missed)?).or_default().push(id),
            None => found.outdated.push(id),
        }
    }
    let bucket = |(conversation, message_ids)| Bucket { conversation, message_ids };
    let mut buckets: Vec<Bucket> = conversations.into_iter().map(bucket).collect();
    buckets.sort_by_key(|bucket| bucket.message_ids.last().copied());
    if buckets.len() > MAX_LETTERS {
        let oldest = buckets.drain(..buckets.len() - MAX_LETTERS);
        let mut message_ids: Vec<MessageId> = oldest.flat_map(|bucket| bucket.message_ids).collect();
        message_ids.sort_unstable();
        found.buckets.push_back(Bucket { conversation: Conversation::Rest, message_ids });
    }
    found.buckets.extend(buckets);
    Ok(found)
}

fn conversation_of(connection: &Connection, missed: &Notifiable) -> ApiResult<Conversation> {
    let message = &missed.message;
    if let Some(stream_id) = missed.stream_id {
        return Ok(Conversation::Topic(stream_id, message.topic().key()));
    }
    let people = direct_user_ids(connection, message.recipient_id)?.unwrap_or_default();
    Ok(if people.len() > 2 {
        Conversation::Group(message.recipient_id)
    } else {
        Conversation::Direct(message.recipient_id, message.sender_id)
    })
}

/// The reader of emails; `None` if there is no mail for them at this moment: `enable_offline_email_notifications` is the switch
/// for all mail about messages.
fn reader(connection: &Connection, user_id: UserId) -> ApiResult<Option<(UserRow, Caller)>> {
    let user = rows::user::by_id(connection, user_id)?.filter(|user| user.is_active && !user.is_bot());
    let Some(user) = user else { return Ok(None) };
    if realm::is_deactivated(connection)? || !MAIL.personal.get(connection, user_id)? {
        return Ok(None);
    }
    let caller = rows::user::caller(connection, user_id)?;
    Ok(Some((user, caller)))
}

fn missed(viewer: &MessageViewer<'_>, id: MessageId) -> ApiResult<Option<Notifiable>> {
    Ok(Notifiable::load(viewer, &MAIL, id)?.filter(|missed| missed.message.content != DELETED))
}

/// An email that is ready but for the address at which it is answered.
#[derive(Debug)]
pub struct Composed {
    /// Complete but for the address at which it is answered.
    pub letter: Letter,
    /// The message whose conversation an answer goes to; `None` if the email cannot be answered.
    pub answered: Option<MessageId>,
}

/// Composes the email about a conversation. `None` if there is nothing to write any more. `receives_mail` is true if answers by
/// mail are read.
pub fn compose(
    connection: &Connection,
    user_id: UserId,
    bucket: &Bucket,
    now: i64,
    receives_mail: bool,
) -> ApiResult<Option<Composed>> {
    let Some((user, caller)) = reader(connection, user_id)? else { return Ok(None) };
    let Some(setup) = mail::setup(connection)? else { return Ok(None) };
    let ctx = Ctx::new(connection, &caller, now);
    let language = user_settings::language_of(connection, user_id)?;
    let writer = Writer {
        viewer: MessageViewer::new(ctx),
        accessible: Accessible::to(connection, &caller)?,
        setup,
        language,
        organization: realm::settings::NAME.get(connection)?,
        has_content: MESSAGE_CONTENT_ALLOWED_IN_EMAIL_NOTIFICATIONS.get(connection)?
            && MESSAGE_CONTENT_IN_EMAIL_NOTIFICATIONS.get(connection, user_id)?,
        // An email about several conversations has none for answers.
        is_answered: receives_mail && bucket.conversation != Conversation::Rest,
    };
    let Some(written) = writer.write(bucket)? else { return Ok(None) };
    let Written { subject, body, newest, time, thread, missed, context } = written;
    let Some(basis) = mailed::basis(connection, user_id, missed, context, now)? else { return Ok(None) };
    let mut subject = subject.write(language);
    if REALM_NAME_IN_EMAIL_NOTIFICATIONS_POLICY.get(connection, user_id)? == ALWAYS_NAMED {
        subject = format!("{subject} [{}]", writer.organization);
    }
    let from_name = fill(language.t("{name} notifications"), &[("name", &writer.setup.host())]);
    let letter = Letter::to_user(Kind::MissedMessages, &user, language, subject, body).from_name(from_name);
    let letter = letter.dated(time).in_thread(thread).based_on(basis);
    Ok(Some(Composed { letter, answered: writer.is_answered.then_some(newest) }))
}

/// An email without its frame.
struct Written {
    subject: Subject,
    body: Body,
    newest: MessageId,
    /// When the newest message was sent, in UNIX seconds.
    time: i64,
    /// Names the conversation among those of the reader.
    thread: String,
    /// The messages that it is about.
    missed: Vec<MessageId>,
    /// Other messages that it shows.
    context: Vec<MessageId>,
}

/// Writes emails for one reader.
struct Writer<'a> {
    viewer: MessageViewer<'a>,
    accessible: Accessible,
    setup: Setup,
    language: Language,
    organization: String,
    has_content: bool,
    is_answered: bool,
}

/// The messages of an email, as far as there is room for them.
#[derive(Default)]
struct Contents {
    body: Body,
    length: usize,
    /// The sender of the last message that is shown.
    last_sender: Option<UserId>,
    /// Missed messages that are not shown.
    more: i64,
}

impl Writer<'_> {
    fn write(&self, bucket: &Bucket) -> ApiResult<Option<Written>> {
        let ctx = self.viewer.ctx();
        let mut contents = Contents::default();
        let mut first: Option<Notifiable> = None;
        let (mut missed_ids, mut context) = (Vec::new(), Vec::new());
        let (mut newest, mut time, mut count, mut trigger) = (MessageId(0), 0, 0, Trigger::Channel);
        // The smallest group that is mentioned; `None` inside if the reader is mentioned by name.
        let mut mentioned: Option<Option<MentionedGroup>> = None;
        for id in &bucket.message_ids {
            let Some(missed) = missed(&self.viewer, *id)? else { continue };
            missed_ids.push(*id);
            (newest, time) = (*id, missed.message.timestamp);
            (count, trigger) = (count + 1, trigger.min(missed.trigger));
            if missed.trigger == Trigger::Mention && contents.more == 0 && mentioned != Some(None) {
                let html = &missed.message.rendered_content;
                let group = smallest_group(&ctx, html, ctx.caller.user_id, ctx.now)?;
                mentioned = Some(match (mentioned.flatten(), group) {
                    (Some(one), Some(other)) => Some(if other.size < one.size { other } else { one }),
                    (None, group) => group,
                    (Some(_), None) => None,
                });
            }
            if first.is_none() && self.shows(bucket) && missed.trigger.is_mention() {
                for earlier in self.context(&missed.message)? {
                    context.push(earlier.id);
                    self.show(&mut contents, bucket, &earlier);
                }
            }
            if self.shows(bucket) && !self.show(&mut contents, bucket, &missed.message) {
                contents.more += 1;
            }
            first.get_or_insert(missed);
        }
        let Some(Notifiable { message, .. }) = first else { return Ok(None) };
        let subject = self.subject(bucket, &message)?;
        let mut body = contents.body;
        if !self.shows(bucket) {
            body = body.paragraph(&self.hidden(bucket, count)?);
        } else if contents.more > 0 {
            let text = self.language.counted("{count} more message", "{count} more messages", contents.more);
            body = body.paragraph(&fill(text, &[("count", &contents.more.to_string())]));
        }
        let mentioned = match mentioned {
            Some(Some(group)) => Mentioned::Group(group.name),
            _ => Mentioned::User,
        };
        let reason = Reason { trigger, mentioned: &mentioned, subject: &subject };
        let url = if self.shows(bucket) {
            format!("{}{}", self.setup.url, Location::of(&ctx, &message)?.conversation_url())
        } else {
            self.setup.url.clone()
        };
        let body = body.link(self.language.t("Open the conversation"), &url);
        let body = reason.write(self.language).into_iter().fold(body, |body, text| body.small(&text));
        let settings = format!("{}/#settings/notifications", self.setup.url);
        let answers = if self.is_answered {
            self.language.t("You can reply to this email. Your reply is posted in the conversation.")
        } else {
            self.language.t("Replies to this email are not read. Please reply in the chat.")
        };
        let body = body.small(answers).link(self.language.t("Notification settings"), &settings);
        let thread = thread_of(bucket);
        Ok(Some(Written { subject, body, newest, time, thread, missed: missed_ids, context }))
    }

    /// True if an email has the texts and names of its conversation.
    fn shows(&self, bucket: &Bucket) -> bool {
        self.has_content && bucket.conversation != Conversation::Rest
    }

    /// The sentence in place of messages.
    fn hidden(&self, bucket: &Bucket, count: i64) -> ApiResult<String> {
        let ctx = self.viewer.ctx();
        let language = self.language;
        Ok(if !MESSAGE_CONTENT_ALLOWED_IN_EMAIL_NOTIFICATIONS.get(&ctx)? {
            language.t("You have new messages. This organization hides their content in email.").to_owned()
        } else if bucket.conversation == Conversation::Rest && self.has_content {
            let text = language.counted(
                "{count} new message in other conversations",
                "{count} new messages in other conversations",
                count,
            );
            fill(text, &[("count", &count.to_string())])
        } else {
            language.t("You have new messages. Your settings hide their content in email.").to_owned()
        })
    }

    /// Adds a message to an email, if there is room.
    fn show(&self, contents: &mut Contents, bucket: &Bucket, message: &MessageRow) -> bool {
        let length = message.content.len() + message.rendered_content.len();
        // A message is in every email.
        if contents.length > 0 && contents.length + length > MAX_CONTENT {
            return false;
        }
        contents.length += length;
        let note = self.language.t("open the chat to read the hidden text");
        let around = Surroundings { url: &self.setup.url, spoiler_note: note };
        let is_named = !matches!(bucket.conversation, Conversation::Direct(..));
        let begins = is_named && contents.last_sender != Some(message.sender_id);
        let sender = message.sender_name(&self.accessible);
        let mut text = mail_content::text(&message.content, around);
        if begins {
            text = format!("{sender}:\n{text}");
        }
        let html = mail_content::html(&message.rendered_content, begins.then_some(sender), around);
        contents.body = std::mem::take(&mut contents.body).part(&text, &html);
        contents.last_sender = Some(message.sender_id);
        true
    }

    /// The messages shortly before a message in its topic, but those of people whom the reader has muted.
    fn context(&self, message: &MessageRow) -> ApiResult<Vec<MessageRow>> {
        let ctx = self.viewer.ctx();
        let (Some(topic_id), Some(bit)) = (message.topic_id, message.id.bit()) else { return Ok(Vec::new()) };
        let conversation = self.viewer.conversation(message.recipient_id)?;
        let earlier = clip(&conversation.visible, 1..=bit.saturating_sub(1));
        let muted = muted_users::list_muted_by(&ctx, ctx.caller.user_id)?;
        let is_shown = |row: &MessageRow| {
            row.timestamp >= message.timestamp - CONTEXT_SECONDS && !muted.contains(&row.sender_id)
        };
        let mut rows = Vec::new();
        for id in topic_sql::newest_ids(&ctx, topic_id, &earlier, CONTEXT_MESSAGES)? {
            rows.extend(messages::by_id(&ctx, id)?.filter(is_shown));
        }
        Ok(rows)
    }

    fn subject(&self, bucket: &Bucket, message: &MessageRow) -> ApiResult<Subject> {
        let ctx = self.viewer.ctx();
        if !self.shows(bucket) {
            return Ok(Subject::Hidden);
        }
        Ok(match &bucket.conversation {
            Conversation::Topic(stream_id, _) => {
                let stream = rows::channel::by_id(&ctx, *stream_id)?;
                let channel = stream.map(|stream| stream.name).unwrap_or_default();
                Subject::Topic { channel, topic: message.topic() }
            }
            Conversation::Direct(..) => Subject::Direct(message.sender_name(&self.accessible).to_owned()),
            _ => {
                let mut others = direct_user_ids(&ctx, message.recipient_id)?.unwrap_or_default();
                others.retain(|user_id| *user_id != ctx.caller.user_id);
                let people = messages::participants(&ctx, &others)?.into_iter();
                let name = |known: bool, name: String| if known { name } else { UNKNOWN_USER.to_owned() };
                let names = people.map(|one| name(self.accessible.contains(one.id), one.full_name));
                Subject::Group(names.collect())
            }
        })
    }
}

/// The name of a conversation among those of a reader: the same for all emails about it, also when the topic is resolved.
fn thread_of(bucket: &Bucket) -> String {
    match &bucket.conversation {
        Conversation::Topic(stream_id, key) => {
            format!("channel/{stream_id}/{}", key.strip_prefix(Topic::RESOLVED_PREFIX).unwrap_or(key))
        }
        Conversation::Group(recipient_id) | Conversation::Direct(recipient_id, _) => {
            format!("dm/{recipient_id}")
        }
        Conversation::Rest => "rest".to_owned(),
    }
}
