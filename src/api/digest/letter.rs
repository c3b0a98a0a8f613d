//! The digest of one person.

use crate::api::digest::activity::{Activity, TopicActivity};
use crate::auth::Ctx;
use crate::domain::access::channels::has_metadata_access;
use crate::domain::access::users::Accessible;
use crate::domain::mail::{Body, Kind, Letter};
use crate::domain::messages::mail_content::{self, Surroundings};
use crate::domain::messages::markup::Location;
use crate::domain::messages::record::MessageRow;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::notifications::mailed;
use crate::domain::realm::settings::MESSAGE_CONTENT_ALLOWED_IN_EMAIL_NOTIFICATIONS;
use crate::domain::user_settings::{ENABLE_DIGEST_EMAILS, MESSAGE_CONTENT_IN_EMAIL_NOTIFICATIONS};
use crate::domain::{mail, messages, realm, rows, subscriptions, user_settings};
use crate::error::ApiResult;
use crate::types::{Language, MessageId, StreamId, UserId, fill};
use rusqlite::Connection;
use std::collections::{HashMap, HashSet};
use teamchat_markdown::encode_fragment;

/// The most topics of a digest, of which some are those with the most senders, and the rest those with the most messages.
const TOPICS: usize = 4;
const TOPICS_BY_SENDERS: usize = 2;

/// The messages that are shown of a topic.
const MESSAGES: usize = 2;

/// The most new channels that are named.
const CHANNELS: usize = 20;

/// Composes the digest of a person. `None` if there is nothing to write, or if they do not want it, or if messages are not shown
/// in email.
pub fn compose(
    connection: &Connection,
    user_id: UserId,
    activity: &Activity,
    now: i64,
) -> ApiResult<Option<Letter>> {
    let Some(setup) = mail::setup(connection)? else { return Ok(None) };
    let Some(user) = rows::user::by_id(connection, user_id)?.filter(|user| user.is_active) else {
        return Ok(None);
    };
    if !ENABLE_DIGEST_EMAILS.get(connection, user_id)?
        || !MESSAGE_CONTENT_ALLOWED_IN_EMAIL_NOTIFICATIONS.get(connection)?
        || !MESSAGE_CONTENT_IN_EMAIL_NOTIFICATIONS.get(connection, user_id)?
    {
        return Ok(None);
    }
    let caller = rows::user::caller(connection, user_id)?;
    let ctx = Ctx::new(connection, &caller, now);
    let language = user_settings::language_of(connection, user_id)?;
    let organization: String = realm::settings::NAME.get(connection)?;
    let writer = Writer {
        viewer: MessageViewer::new(ctx),
        accessible: Accessible::to(connection, &caller)?,
        url: setup.url.clone(),
        language,
    };
    let lead = language.t("This happened in {organization} while you were away.");
    let mut body = Body::new().paragraph(&fill(lead, &[("organization", &organization)]));
    let mut is_empty = true;
    let mut shown = Vec::new();
    for topic in writer.topics(activity)? {
        let (messages, more) = writer.messages(topic, activity.first)?;
        let Some(first) = messages.first() else { continue };
        body = writer.add_topic(body, topic, first, &messages, more)?;
        shown.extend(messages.iter().map(|message| message.id));
        is_empty = false;
    }
    let channels = writer.new_channels(activity)?;
    if !channels.is_empty() {
        body = body.paragraph(language.t("New channels:"));
        is_empty = false;
    }
    for (stream_id, name) in channels {
        let fragment = encode_fragment(&name.replace(' ', "-"));
        body =
            body.link(&format!("#{name}"), &format!("{}/#narrow/channel/{stream_id}-{fragment}", setup.url));
    }
    if is_empty {
        return Ok(None);
    }
    let settings = format!("{}/#settings/notifications", setup.url);
    let body = body.link(language.t("Notification settings"), &settings);
    let subject = fill(language.t("Digest for {organization}"), &[("organization", &organization)]);
    let basis = mailed::basis(connection, user_id, Vec::new(), shown, now)?;
    Ok(basis.map(|basis| Letter::to_user(Kind::Digest, &user, language, subject, body).based_on(basis)))
}

/// Writes for one reader.
struct Writer<'a> {
    viewer: MessageViewer<'a>,
    accessible: Accessible,
    url: String,
    language: Language,
}

impl Writer<'_> {
    /// The topics to write about: of channels that are not muted, and to which the reader was subscribed all the time.
    fn topics<'t>(&self, activity: &'t Activity) -> ApiResult<Vec<&'t TopicActivity>> {
        let ctx = self.viewer.ctx();
        let own = subscriptions::list_active(&ctx, ctx.caller.user_id)?;
        let own: HashSet<StreamId> =
            own.into_iter().filter(|own| !own.is_muted).map(|own| own.stream_id).collect();
        let mut was_subscribed: HashMap<StreamId, bool> = HashMap::new();
        let mut topics = Vec::new();
        for topic in &activity.topics {
            if !own.contains(&topic.stream_id) || self.viewer.muting()?.is_muted(topic.stream_id, &topic.key)
            {
                continue;
            }
            let was_there = match was_subscribed.get(&topic.stream_id) {
                Some(known) => *known,
                None => self.was_subscribed(topic.stream_id, activity.first)?,
            };
            was_subscribed.insert(topic.stream_id, was_there);
            if was_there {
                topics.push(topic);
            }
        }
        topics.sort_by_key(|topic| (-topic.senders, -topic.messages, topic.topic_id));
        let mut rest = topics.split_off(topics.len().min(TOPICS_BY_SENDERS));
        rest.sort_by_key(|topic| (-topic.messages, topic.topic_id));
        rest.truncate(TOPICS - TOPICS_BY_SENDERS);
        topics.append(&mut rest);
        Ok(topics)
    }

    /// True if the reader is subscribed since before a message.
    fn was_subscribed(&self, stream_id: StreamId, first: MessageId) -> ApiResult<bool> {
        let ctx = self.viewer.ctx();
        let mut statement = ctx.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM subscription_span WHERE user_id = ?1 AND stream_id = ?2
                 AND from_message_id <= ?3 AND until_message_id IS NULL)",
        )?;
        Ok(statement.query_row((ctx.caller.user_id, stream_id, first), |row| row.get(0))?)
    }

    /// The first messages of people in a topic that the reader may read, but of those whom the reader has muted, and the number of
    /// the others.
    fn messages(&self, topic: &TopicActivity, first: MessageId) -> ApiResult<(Vec<MessageRow>, i64)> {
        let ctx = self.viewer.ctx();
        let ids = ctx
            .connection
            .prepare_cached(
                "SELECT id FROM message INDEXED BY message_topic CROSS JOIN user ON user_id = sender_id
                 WHERE topic_id = ?1 AND id >= ?2 AND bot_type IS NULL
                     AND sender_id NOT IN (SELECT muted_user_id FROM muted_user WHERE user_id = ?3)
                 ORDER BY id",
            )?
            .query_map((topic.topic_id, first, ctx.caller.user_id), |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<MessageId>>>()?;
        let (mut rows, mut more) = (Vec::new(), 0);
        for id in ids {
            if !self.viewer.can_read(topic.recipient_id, id)? {
                continue;
            }
            if rows.len() < MESSAGES {
                rows.extend(messages::by_id(&ctx, id)?);
            } else {
                more += 1;
            }
        }
        Ok((rows, more))
    }

    fn add_topic(
        &self,
        body: Body,
        topic: &TopicActivity,
        first: &MessageRow,
        messages: &[MessageRow],
        more: i64,
    ) -> ApiResult<Body> {
        let ctx = self.viewer.ctx();
        let stream = rows::channel::by_id(&ctx, topic.stream_id)?;
        let channel = stream.map(|stream| stream.name).unwrap_or_default();
        let name = if first.subject.is_empty() { self.language.t("general chat") } else { &first.subject };
        let url = format!("{}{}", self.url, Location::of(&ctx, first)?.conversation_url());
        let mut body = body.heading(&format!("#{channel} > {name}"), &url);
        let note = self.language.t("open the chat to read the hidden text");
        let around = Surroundings { url: &self.url, spoiler_note: note };
        for message in messages {
            let sender = message.sender_name(&self.accessible);
            let text = format!("{sender}:\n{}", mail_content::text(&message.content, around));
            body = body.part(&text, &mail_content::html(&message.rendered_content, Some(sender), around));
        }
        if more > 0 {
            let text = self.language.counted("{count} more message", "{count} more messages", more);
            body = body.paragraph(&fill(text, &[("count", &more.to_string())]));
        }
        Ok(body)
    }

    /// The new channels that anybody may join, of which guests see those that are web-public.
    fn new_channels(&self, activity: &Activity) -> ApiResult<Vec<(StreamId, String)>> {
        let ctx = self.viewer.ctx();
        let mut found = Vec::new();
        for stream_id in &activity.new_channels {
            let Some(stream) = rows::channel::by_id(&ctx, *stream_id)? else { continue };
            let is_open = if ctx.caller.is_guest() { stream.is_web_public } else { stream.is_public() };
            if is_open && has_metadata_access(ctx, &stream)? && found.len() < CHANNELS {
                found.push((*stream_id, stream.name));
            }
        }
        Ok(found)
    }
}
