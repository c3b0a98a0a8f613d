//! The content of a notification: what the browser shows, and where a click leads.

use crate::api::web_push::decide::reason;
use crate::api::web_push::encryption::MAX_PLAINTEXT_LENGTH;
use crate::api::web_push::queue::NotificationRow;
use crate::auth::Ctx;
use crate::domain::access::messages::stream_of;
use crate::domain::access::users::{Accessible, UNKNOWN_USER};
use crate::domain::groups::membership;
use crate::domain::messages::markup::Location;
use crate::domain::messages::plain_text;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::notifications::Trigger;
use crate::domain::{messages, realm, rows, user_settings};
use crate::error::ApiResult;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, GroupId, MessageId, StreamId, UserId};
use regex::Regex;
use roaring::RoaringBitmap;
use serde::Serialize;
use std::sync::LazyLock;

/// The longest text of a message in a notification, in characters, as in published notifications.
const MAX_TEXT_LENGTH: usize = 200;

/// The total length of the tags in `close`, in bytes.
const MAX_CLOSED_LENGTH: usize = 1000;

/// Mentions in HTML, silent ones excluded: by name, with the user's id, and of a group, with its id and name.
static MENTIONED_USER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"<span class="user-mention" data-user-id="(\d+)">"#).ok());
static MENTIONED_GROUP: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"<span class="user-group-mention" data-user-group-id="(\d+)">@?([^<]*)</span>"#).ok()
});

/// The content of a push, for the service worker of the web client.
#[derive(Clone, Debug, Serialize)]
pub struct Payload {
    /// Always `message`.
    r#type: &'static str,
    /// The newest message.
    id: MessageId,
    /// Names the conversation. A notification replaces the one with the same tag.
    tag: String,
    /// The fragment of the conversation's URL at the message.
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
}

impl Payload {
    /// The conversation.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Writes the JSON. Without room for all, the text and the tags are left out.
    pub fn write(&self) -> ApiResult<Vec<u8>> {
        let whole = serde_json::to_vec(self)?;
        if whole.len() <= MAX_PLAINTEXT_LENGTH { Ok(whole) } else { self.write_short() }
    }

    /// Writes the JSON without the text and the tags to close, for push services that refuse longer ones.
    pub fn write_short(&self) -> ApiResult<Vec<u8>> {
        let mut short = Self { body: String::new(), close: Vec::new(), ..self.clone() };
        let written = serde_json::to_vec(&short)?;
        if written.len() <= MAX_PLAINTEXT_LENGTH {
            return Ok(written);
        }
        "New message".clone_into(&mut short.title);
        short.fragment = String::new();
        Ok(serde_json::to_vec(&short)?)
    }
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
        match reason_now(&viewer, MessageId::from(id))? {
            Some(found) => {
                count += 1;
                newest.get_or_insert(found);
            }
            None => {
                outdated.insert(id);
            }
        }
    }
    let Some((message, stream_id, trigger)) = newest else { return Ok(None) };
    let mut close = Vec::new();
    let mut length = 0;
    for other in others.iter().filter(|other| other.is_shown && other.next_try.is_none()) {
        length += other.tag.len();
        if length > MAX_CLOSED_LENGTH {
            break;
        }
        if is_outdated(&viewer, other)? {
            close.push(other.tag.clone());
        }
    }
    let (title, body, icon) =
        if shows_content && realm::settings::MESSAGE_CONTENT_ALLOWED_IN_EMAIL_NOTIFICATIONS.get(&ctx)? {
            texts(ctx, (&message, stream_id), trigger)?
        } else {
            ("New message".to_owned(), String::new(), None)
        };
    let url = Location::of(&ctx, &message)?.url().to_owned();
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
    };
    Ok(Some(Notification { payload, trigger, outdated }))
}

/// A message that the user may read and has not read, with its channel and the reason to notify.
type Found = (MessageRow, Option<StreamId>, Trigger);

fn reason_now(viewer: &MessageViewer<'_>, id: MessageId) -> ApiResult<Option<Found>> {
    let ctx = viewer.ctx();
    let Some(message) = messages::by_id(&ctx, id)? else { return Ok(None) };
    if !viewer.can_read(message.recipient_id, id)? || !viewer.has_received(message.recipient_id, id)? {
        return Ok(None);
    }
    let stream_id = stream_of(&ctx, message.recipient_id)?;
    let reason = reason(&ctx, (&message, stream_id), ctx.caller.user_id, false)?;
    Ok(reason.map(|trigger| (message, stream_id, trigger)))
}

/// True if no message of a notification is left.
fn is_outdated(viewer: &MessageViewer<'_>, row: &NotificationRow) -> ApiResult<bool> {
    for id in row.message_ids.iter().rev() {
        if reason_now(viewer, MessageId::from(id))?.is_some() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Title, body and icon.
fn texts(
    ctx: Ctx<'_>,
    (message, stream_id): (&MessageRow, Option<StreamId>),
    trigger: Trigger,
) -> ApiResult<(String, String, Option<String>)> {
    let is_known = Accessible::to(&ctx, ctx.caller)?.contains(message.sender_id);
    let sender = if is_known { message.sender_full_name.as_str() } else { UNKNOWN_USER };
    let user = rows::user::by_id(&ctx, message.sender_id)?.filter(|_| is_known);
    let icon = user.map(|user| user.avatar.url()).filter(|url| url.starts_with('/'));
    let text = plain_text::of_html(&message.rendered_content, MAX_TEXT_LENGTH);
    if let Some(stream_id) = stream_id {
        let name = rows::channel::by_id(&ctx, stream_id)?.map(|stream| stream.name).unwrap_or_default();
        let topic =
            if message.subject.is_empty() { EMPTY_TOPIC_DISPLAY_NAME } else { message.subject.as_str() };
        let lead = match trigger {
            Trigger::Mention => format!("{sender} mentioned {}:\n", mentioned(ctx, message)?),
            trigger if trigger.is_personal() => format!("{sender} mentioned everyone:\n"),
            _ => format!("{sender}: "),
        };
        return Ok((format!("#{name} > {topic}"), lead + &text, icon));
    }
    let is_hidden = !user_settings::PM_CONTENT_IN_DESKTOP_NOTIFICATIONS.get(&ctx, ctx.caller.user_id)?;
    let people = match Location::of(&ctx, message)? {
        Location::Direct { people, .. } => people,
        Location::Channel { .. } => Vec::new(),
    };
    let text = if is_hidden { format!("New direct message from {sender}") } else { text };
    if people.len() <= 2 {
        return Ok((sender.to_owned(), text, icon));
    }
    let others: Vec<UserId> = people.into_iter().filter(|user_id| *user_id != ctx.caller.user_id).collect();
    let mut names: Vec<String> =
        messages::participants(&ctx, &others)?.into_iter().map(|other| other.full_name).collect();
    names.sort();
    let title = plain_text::cut(&names.join(", "), MAX_TEXT_LENGTH);
    Ok((title, if is_hidden { text } else { format!("{sender}: {text}") }, icon))
}

/// Names what a message mentions of the user: "you", or the smallest of their groups.
fn mentioned(ctx: Ctx<'_>, message: &MessageRow) -> ApiResult<String> {
    let (html, user_id) = (message.rendered_content.as_str(), ctx.caller.user_id);
    let you = || "you".to_owned();
    let (Some(user), Some(group)) = (&*MENTIONED_USER, &*MENTIONED_GROUP) else { return Ok(you()) };
    let own_id = user_id.to_string();
    if user.captures_iter(html).any(|found| found[1] == own_id) {
        return Ok(you());
    }
    let mut smallest = None;
    for found in group.captures_iter(html) {
        let Ok(id) = found[1].parse() else { continue };
        let members = membership::users_in(&ctx, &[GroupId(id)], ctx.now)?;
        let size = members.len();
        let is_member = user_id.bit().is_some_and(|bit| members.contains(bit));
        if is_member && smallest.as_ref().is_none_or(|(least, _)| size < *least) {
            smallest = Some((size, format!("@{}", plain_text::of_html(&found[2], MAX_TEXT_LENGTH))));
        }
    }
    Ok(smallest.map_or_else(you, |(_, name)| name))
}
