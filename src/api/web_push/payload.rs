//! The content of a notification: what it says, and for browsers where a click leads.

use crate::api::web_push::encryption::MAX_PLAINTEXT_LENGTH;
use crate::api::web_push::queue::NotificationRow;
use crate::auth::Ctx;
use crate::domain::access::users::Accessible;
use crate::domain::messages::markup::Location;
use crate::domain::messages::plain_text;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::notifications::deciding::Notifiable;
use crate::domain::notifications::mentions::smallest_group;
use crate::domain::notifications::{PUSH, Trigger};
use crate::domain::{messages, realm, rows, user_settings};
use crate::error::ApiResult;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, GroupId, Language, MessageId, StreamId, UserId, fill, hex};
use roaring::RoaringBitmap;
use serde::Serialize;
use sha2::{Digest, Sha256};

/// The longest text of a message in a notification, in characters, as in published notifications.
pub const MAX_TEXT_LENGTH: usize = 200;

/// The total length of the tags in `close`, in bytes.
const MAX_CLOSED_LENGTH: usize = 1000;

/// The content of a push, for the service worker of the web client.
#[derive(Clone, Debug, Serialize)]
pub struct Payload {
    /// Always `message`.
    r#type: &'static str,
    /// The newest message.
    id: MessageId,
    /// Names the conversation. A notification replaces the one with the same tag.
    tag: String,
    /// The fragment of the conversation's URL with the message.
    fragment: String,
    /// The conversation, or the sender.
    title: String,
    /// The newest message.
    body: String,
    /// The path of the sender's image; null if there is none to show.
    icon: Option<String>,
    /// Number of messages that it is about.
    count: u64,
    /// When the newest message was sent, in UNIX seconds.
    time: i64,
    /// The user who is notified.
    user_id: UserId,
    /// The conversations that have been read since: their notifications are to be closed.
    pub close: Vec<String>,
    /// The language of the user.
    #[serde(skip)]
    language: Language,
}

impl Payload {
    /// The conversation, by which notifications are grouped.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Writes the JSON. Without room for all, the text and the tags are left out.
    pub fn write(&self) -> ApiResult<Vec<u8>> {
        let whole = serde_json::to_vec(self)?;
        if whole.len() <= MAX_PLAINTEXT_LENGTH { Ok(whole) } else { self.write_short() }
    }

    /// Writes the JSON without the text and the tags to close, for push services that refuse longer ones. Without room for the rest,
    /// names and the fragment are left out, and then a digest replaces the tag: that of a direct conversation has the ids of all people.
    pub fn write_short(&self) -> ApiResult<Vec<u8>> {
        let mut short = Self { body: String::new(), close: Vec::new(), ..self.clone() };
        let written = serde_json::to_vec(&short)?;
        if written.len() <= MAX_PLAINTEXT_LENGTH {
            return Ok(written);
        }
        text_without_content(self.language).clone_into(&mut short.title);
        short.fragment = String::new();
        let written = serde_json::to_vec(&short)?;
        if written.len() <= MAX_PLAINTEXT_LENGTH {
            return Ok(written);
        }
        short.tag = hex(&Sha256::digest(&self.tag));
        Ok(serde_json::to_vec(&short)?)
    }
}

/// The text in place of a message that is not shown. In browsers it is the title, in place of names.
pub fn text_without_content(language: Language) -> &'static str {
    language.t("New message")
}

/// A notification that is ready to be sent.
#[derive(Debug)]
pub struct Notification {
    /// Its content.
    pub payload: Payload,
    /// Why the user is notified of the newest message.
    pub trigger: Trigger,
    /// Messages of the row that are read, deleted or not accessible any more.
    pub outdated: RoaringBitmap,
}

/// Composes the notification of a row for its user, with current access, read state and settings. `others` are the other rows of
/// the subscription. `None` if there is nothing to notify of.
pub fn compose(
    ctx: Ctx<'_>,
    row: &NotificationRow,
    others: &[NotificationRow],
    shows_content: bool,
) -> ApiResult<Option<Notification>> {
    let viewer = MessageViewer::new(ctx);
    let (mut newest, mut outdated, mut count) = (None, RoaringBitmap::new(), 0);
    for id in row.message_ids.iter().rev() {
        match Notifiable::load(&viewer, &PUSH, MessageId::from(id))? {
            Some(found) => {
                count += 1;
                newest.get_or_insert(found);
            }
            None => {
                outdated.insert(id);
            }
        }
    }
    let Some(newest) = newest else { return Ok(None) };
    let mut close = Vec::new();
    let mut length = 0;
    for other in others.iter().filter(|other| other.is_shown && other.next_try.is_none()) {
        if length + other.tag.len() <= MAX_CLOSED_LENGTH && is_outdated(&viewer, other)? {
            length += other.tag.len();
            close.push(other.tag.clone());
        }
    }
    let language = user_settings::language_of(&ctx, ctx.caller.user_id)?;
    let (title, body, icon) =
        if shows_content && realm::settings::MESSAGE_CONTENT_ALLOWED_IN_EMAIL_NOTIFICATIONS.get(&ctx)? {
            texts(ctx, language, &newest)?
        } else {
            (text_without_content(language).to_owned(), String::new(), None)
        };
    let Notifiable { message, trigger, .. } = newest;
    let url = Location::of(&ctx, &message)?.conversation_url();
    let payload = Payload {
        r#type: "message",
        id: message.id,
        tag: row.tag.clone(),
        fragment: url.trim_start_matches("/#").to_owned(),
        title,
        body,
        icon,
        count,
        time: message.timestamp,
        user_id: ctx.caller.user_id,
        close,
        language,
    };
    Ok(Some(Notification { payload, trigger, outdated }))
}

/// True if no message of a notification is left.
fn is_outdated(viewer: &MessageViewer<'_>, row: &NotificationRow) -> ApiResult<bool> {
    for id in row.message_ids.iter().rev() {
        if Notifiable::load(viewer, &PUSH, MessageId::from(id))?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The description of a message in notifications, of browsers and phones.
pub struct Description {
    /// The sender's name.
    pub sender: String,
    /// True if the user may know the sender.
    pub is_sender_known: bool,
    /// The URL of the sender's image, or its path.
    pub avatar: Option<String>,
    /// The sender and the reason, `Ada mentioned you:` or `Ada:`, in the user's language; empty in a conversation of two.
    pub lead: String,
    /// The content of the message as plain text, cut to the length of a notification.
    pub text: String,
    /// The group through which the user is mentioned, if it is not by name.
    pub group: Option<(GroupId, String)>,
    pub conversation: Conversation,
}

/// The conversation of a message.
pub enum Conversation {
    /// Channel and topic.
    Topic {
        /// The id of the channel.
        stream_id: StreamId,
        /// The name of the channel.
        name: String,
        /// The topic, as it is shown.
        topic: String,
    },
    /// All participants, ascending by id.
    Direct(Vec<UserId>),
}

impl Description {
    /// Describes a message to the caller, who is notified of it, in their language.
    pub fn of(ctx: Ctx<'_>, language: Language, notified: &Notifiable) -> ApiResult<Self> {
        let Notifiable { message, stream_id, trigger } = notified;
        let accessible = Accessible::to(&ctx, ctx.caller)?;
        let is_sender_known = accessible.contains(message.sender_id);
        let sender = message.sender_name(&accessible);
        let user = rows::user::by_id(&ctx, message.sender_id)?.filter(|_| is_sender_known);
        let group = match trigger {
            Trigger::Mention => mentioned_group(ctx, message)?,
            _ => None,
        };
        let conversation = if let Some(stream_id) = *stream_id {
            let name = rows::channel::by_id(&ctx, stream_id)?.map(|stream| stream.name).unwrap_or_default();
            let topic = if message.subject.is_empty() {
                language.t(EMPTY_TOPIC_DISPLAY_NAME).to_owned()
            } else {
                message.subject.clone()
            };
            Conversation::Topic { stream_id, name, topic }
        } else {
            Conversation::Direct(match Location::of(&ctx, message)? {
                Location::Direct { people, .. } => people,
                Location::Channel { .. } => Vec::new(),
            })
        };
        let lead = match (&conversation, trigger, &group) {
            (Conversation::Direct(people), ..) if people.len() <= 2 => String::new(),
            (Conversation::Topic { .. }, Trigger::Mention, Some((_, name))) => {
                fill(language.t("{sender} mentioned @{group}:"), &[("sender", sender), ("group", name)])
            }
            (Conversation::Topic { .. }, Trigger::Mention, None) => {
                fill(language.t("{sender} mentioned you:"), &[("sender", sender)])
            }
            (Conversation::Topic { .. }, trigger, _) if trigger.is_personal() => {
                fill(language.t("{sender} mentioned everyone:"), &[("sender", sender)])
            }
            _ => format!("{sender}:"),
        };
        Ok(Self {
            sender: sender.to_owned(),
            is_sender_known,
            avatar: user.map(|user| user.avatar.url()),
            lead,
            text: plain_text::of_html(&message.rendered_content, MAX_TEXT_LENGTH),
            group,
            conversation,
        })
    }
}

/// The names of participants, sorted.
pub fn names(ctx: Ctx<'_>, people: &[UserId]) -> ApiResult<String> {
    let mut names: Vec<String> =
        messages::participants(&ctx, people)?.into_iter().map(|person| person.full_name).collect();
    names.sort();
    Ok(plain_text::cut(&names.join(", "), MAX_TEXT_LENGTH))
}

/// Title, body and icon for a browser.
fn texts(
    ctx: Ctx<'_>,
    language: Language,
    notified: &Notifiable,
) -> ApiResult<(String, String, Option<String>)> {
    let described = Description::of(ctx, language, notified)?;
    let Description { sender, avatar, lead, text, conversation, .. } = described;
    let icon = avatar.filter(|url| url.starts_with('/'));
    let people = match conversation {
        Conversation::Topic { name, topic, .. } => {
            let space = if notified.trigger.is_personal() { '\n' } else { ' ' };
            return Ok((format!("#{name} > {topic}"), format!("{lead}{space}{text}"), icon));
        }
        Conversation::Direct(people) => people,
    };
    let is_hidden = !user_settings::PM_CONTENT_IN_DESKTOP_NOTIFICATIONS.get(&ctx, ctx.caller.user_id)?;
    let text = if is_hidden {
        fill(language.t("New direct message from {sender}"), &[("sender", &sender)])
    } else if lead.is_empty() {
        text
    } else {
        format!("{lead} {text}")
    };
    if people.len() <= 2 {
        return Ok((sender, text, icon));
    }
    let others: Vec<UserId> = people.into_iter().filter(|user_id| *user_id != ctx.caller.user_id).collect();
    Ok((names(ctx, &others)?, text, icon))
}

/// The smallest group of the user that a message mentions, unless it mentions the user by name.
fn mentioned_group(ctx: Ctx<'_>, message: &MessageRow) -> ApiResult<Option<(GroupId, String)>> {
    let group = smallest_group(&ctx, &message.rendered_content, ctx.caller.user_id, ctx.now)?;
    Ok(group.map(|group| (group.id, group.name)))
}
