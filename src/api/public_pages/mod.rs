//! Web-public channels as plain pages, for readers and search engines without scripts: `/public`, and `robots.txt`.
//!
//! A page shows what visitors may read, the same to all readers, so that it can be cached and linked. Its own words are in the
//! language of the organization. The link of a topic begins with the id of its oldest message, by which it is found after it
//! was renamed, resolved or moved. Search engines are asked to stay away unless the operator wants them
//! (`--search-engines on`): that is no setting of the organization, so the published interface has no more members, and who
//! makes a server findable also answers for its name and its robots.txt.

mod view;

use crate::api::resource::Resource;
use crate::auth::Ctx;
use crate::domain::access::channels::Viewer;
use crate::domain::access::messages::{ALL_IDS, newest_of_topic_in};
use crate::domain::access::users::{Accessible, UNKNOWN_AVATAR_URL, UNKNOWN_USER};
use crate::domain::access::visitors;
use crate::domain::limits::MAX_SHOWN_TOPICS;
use crate::domain::messages::foreign_media::as_links;
use crate::domain::messages::row_reader::for_each_row;
use crate::domain::messages::topic_sql;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::rows::channel::StreamRow;
use crate::domain::{channels, images, messages, realm, rows};
use crate::http::params::NoParams;
use crate::http::{
    ANYONE, Anyone, ApiError, ApiResult, Caller, OtherReply, Read, Reply, Route, VISITOR, Visitor, page,
};
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, Language, MessageId, StreamId, TopicId};
use hyper::Method;
use rusqlite::Connection;
use serde::Deserialize;
use view::{Entry, Page, Post};

pub const RESOURCE: Resource = Resource { name: "public_pages", routes, ..Resource::EMPTY };

/// Messages of a page.
const PAGE: usize = 50;

/// The longest name in a link, in characters.
const MAX_SLUG: usize = 60;

fn routes() -> Vec<Route> {
    vec![
        Route::read(Method::GET, "/robots.txt", ANYONE, robots).outside(),
        Route::read(Method::GET, view::ROOT, VISITOR, list_channels).outside(),
        Route::read(Method::GET, "/public/{channel}", VISITOR, list_topics).outside().slow(),
        Route::read(Method::GET, "/public/{channel}/{topic}", VISITOR, show_topic).outside(),
    ]
}

/// `GET /robots.txt`.
fn robots(read: &Read<'_, Anyone>, _params: NoParams) -> ApiResult<Reply> {
    let is_found = read.app.options.search_engines && visitors::are_admitted(read)?;
    let pages =
        if is_found { "Allow: /public$\nAllow: /public/\nAllow: /user_uploads/thumbnail/\n" } else { "" };
    let body = format!("User-agent: *\n{pages}Disallow: /\n").into();
    let headers = vec![("Cache-Control", "no-cache".to_owned())];
    Ok(Reply::other(OtherReply { status: 200, content_type: "text/plain; charset=utf-8", headers, body }))
}

/// Parameters of `GET /public/{channel}`.
#[derive(Deserialize)]
pub struct ChannelParams {
    /// The channel's id, and a name that does not matter.
    channel: String,
}

/// Parameters of `GET /public/{channel}/{topic}`.
#[derive(Deserialize)]
pub struct TopicParams {
    /// The channel's id, and a name that does not matter.
    channel: String,
    /// The id of a message of the topic, and a name that does not matter.
    topic: String,
    /// The first message of the page; the topic's first when absent.
    from: Option<MessageId>,
}

/// `GET /public`: the channels.
fn list_channels(read: &Read<'_, Visitor>, _params: NoParams) -> ApiResult<Reply> {
    if !visitors::are_admitted(read)? {
        return Err(missing(read));
    }
    let viewer = Viewer::new(ctx(read));
    let mut entries = Vec::new();
    for channel in channels::all(read)? {
        if viewer.can_read(&channel)? {
            let about = channel.description.clone();
            entries.push(Entry { link: link_of(&channel), name: channel.name, about });
        }
    }
    let title = organization(read)?;
    respond(read, &Page { path: view::ROOT.to_owned(), title, entries, ..Page::default() })
}

/// `GET /public/{channel}`: the topics of a channel, the newest first.
fn list_topics(read: &Read<'_, Visitor>, params: ChannelParams) -> ApiResult<Reply> {
    let channel = find_channel(read, &params.channel)?;
    let path = link_of(&channel);
    if path != format!("{}/{}", view::ROOT, params.channel) {
        return Ok(moved(&path));
    }
    let mut topics = Vec::new();
    for topic_id in topic_sql::topics_of(read, channel.stream_id)? {
        topics.extend(newest_of_topic_in(read, topic_id, &ALL_IDS)?.map(|newest| (newest, topic_id)));
    }
    topics.sort_unstable_by_key(|(newest, _)| std::cmp::Reverse(*newest));
    topics.truncate(MAX_SHOWN_TOPICS);
    let language = realm::common_language(read)?;
    let mut entries = Vec::new();
    for (newest, topic_id) in topics {
        let name = topic_name(&messages::subject_of(read, newest)?, language);
        if let Some(link) = link_of_topic(read, &path, topic_id, &name)? {
            entries.push(Entry { link, name, about: String::new() });
        }
    }
    let above = vec![(view::ROOT.to_owned(), organization(read)?)];
    respond(read, &Page { path, title: channel.name, above, entries, ..Page::default() })
}

/// `GET /public/{channel}/{topic}`: messages of a topic.
fn show_topic(read: &Read<'_, Visitor>, params: TopicParams) -> ApiResult<Reply> {
    let ctx = ctx(read);
    let viewer = MessageViewer::new(ctx);
    let id = leading_number(&params.topic).map(MessageId).ok_or_else(|| missing(read))?;
    let message = viewer.find(id).map_err(|error| as_missing(read, error))?;
    let conversation = viewer.conversation(message.recipient_id)?;
    let (channel, topic_id) =
        conversation.stream.as_ref().zip(message.topic_id).ok_or_else(|| missing(read))?;
    let name = topic_name(&message.subject, realm::common_language(read)?);
    let channel_path = link_of(channel);
    let path = link_of_topic(read, &channel_path, topic_id, &name)?.ok_or_else(|| missing(read))?;
    let page_at = |id: MessageId| format!("{path}?from={id}");
    if path != format!("{}/{}/{}", view::ROOT, params.channel, params.topic) {
        return Ok(moved(&params.from.map_or_else(|| path.clone(), page_at)));
    }
    let from = params.from.and_then(MessageId::bit).unwrap_or(*ALL_IDS.start());
    let mut ids = topic_sql::ids(read, topic_id, &vec![from..=*ALL_IDS.end()], PAGE + 1)?;
    let next = if ids.len() > PAGE { ids.pop() } else { None };
    let before = from.checked_sub(1).map(|last| vec![*ALL_IDS.start()..=last]).unwrap_or_default();
    let previous = topic_sql::newest_ids(read, topic_id, &before, PAGE)?.first().copied();
    if ids.is_empty() {
        return Err(missing(read));
    }
    let above = vec![(view::ROOT.to_owned(), organization(read)?), (channel_path, channel.name.clone())];
    let page = Page {
        path: if previous.is_some() { page_at(ids[0]) } else { path.clone() },
        title: name,
        above,
        posts: posts(ctx, &ids)?,
        previous: previous.map(page_at),
        next: next.map(page_at),
        chat: Some(format!("/#narrow/channel/{}-x/topic/x/with/{}", channel.stream_id, message.id)),
        ..Page::default()
    };
    respond(read, &page)
}

/// Messages as visitors see them.
fn posts(ctx: Ctx<'_>, ids: &[MessageId]) -> ApiResult<Vec<Post>> {
    let accessible = Accessible::to(&ctx, ctx.caller)?;
    let mut posts = Vec::with_capacity(ids.len());
    for_each_row(&ctx, ids, |row| -> ApiResult<()> {
        let head = row.head()?;
        let sender = rows::user::by_id(&ctx, head.sender_id)?;
        let sender = sender.filter(|sender| accessible.contains(sender.user_id));
        let avatar_url = match &sender {
            Some(sender) => sender.avatar.url(),
            None => UNKNOWN_AVATAR_URL.to_owned(),
        };
        posts.push(Post {
            id: head.id,
            sender: sender.map_or_else(|| UNKNOWN_USER.to_owned(), |sender| sender.full_name),
            avatar_url,
            time: head.timestamp,
            html: as_links(row.rendered_content()?),
        });
        Ok(())
    })?;
    Ok(posts)
}

/// The snapshot as visitors see it.
fn ctx<'a>(read: &'a Read<'_, Visitor>) -> Ctx<'a> {
    Ctx::new(read, &Caller::VISITOR, read.app.clock.seconds())
}

fn find_channel(read: &Read<'_, Visitor>, part: &str) -> ApiResult<StreamRow> {
    let id = leading_number(part).map(StreamId).ok_or_else(|| missing(read))?;
    let channel = rows::channel::by_id(read, id)?.ok_or_else(|| missing(read))?;
    if Viewer::new(ctx(read)).can_read(&channel)? { Ok(channel) } else { Err(missing(read)) }
}

/// The number at the start of a part of a path.
fn leading_number(part: &str) -> Option<i64> {
    part.split('-').next()?.parse().ok()
}

/// A part of a path: a number, and a name for readers.
fn slug(number: i64, name: &str) -> String {
    let letters = name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '-' });
    let words: String = letters.take(MAX_SLUG).collect();
    let words: Vec<&str> = words.split('-').filter(|word| !word.is_empty()).collect();
    if words.is_empty() { number.to_string() } else { format!("{number}-{}", words.join("-")) }
}

/// A topic as the page shows it: the empty one has a name in the language of the page.
fn topic_name(topic: &str, language: Language) -> String {
    let name = if topic.is_empty() { language.t(EMPTY_TOPIC_DISPLAY_NAME) } else { topic };
    name.to_owned()
}

fn link_of(channel: &StreamRow) -> String {
    format!("{}/{}", view::ROOT, slug(channel.stream_id.0, &channel.name))
}

/// The link of a topic; `None` if it has no messages.
fn link_of_topic(
    connection: &Connection,
    channel_path: &str,
    topic_id: TopicId,
    name: &str,
) -> ApiResult<Option<String>> {
    let oldest = topic_sql::ids(connection, topic_id, &vec![ALL_IDS], 1)?.first().copied();
    Ok(oldest.map(|oldest| format!("{channel_path}/{}", slug(oldest.0, name))))
}

fn organization(connection: &Connection) -> ApiResult<String> {
    realm::settings::NAME.get(connection)
}

/// The refusal of a page that does not exist, or that visitors may not see.
fn missing(connection: &Connection) -> ApiError {
    match realm::common_language(connection) {
        Ok(language) => ApiError::not_found().with_page(page::not_found(language)),
        Err(error) => error,
    }
}

fn as_missing(connection: &Connection, error: ApiError) -> ApiError {
    if error.status() < 500 { missing(connection) } else { error }
}

/// The answer for an older link.
fn moved(path: &str) -> Reply {
    let headers = vec![("Location", view::encoded(path)), ("Cache-Control", "no-cache".to_owned())];
    Reply::other(OtherReply { status: 301, content_type: page::HTML, headers, body: bytes::Bytes::new() })
}

fn respond(read: &Read<'_, Visitor>, page: &Page) -> ApiResult<Reply> {
    let language = realm::common_language(read)?;
    let is_found = read.app.options.search_engines;
    let icon = images::realm::RealmImage::Icon.url(&realm::settings::all(read)?);
    let body = view::write(page, language, &read.info.origin, &icon, is_found).into();
    let headers = view::headers(is_found);
    Ok(Reply::other(OtherReply { status: 200, content_type: page::HTML, headers, body }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_readable_and_found_by_their_number() {
        for (name, expected) in [
            ("general", "7-general"),
            ("✔ What's next? / now", "7-What-s-next-now"),
            ("Größe & Maß", "7-Größe-Maß"),
            ("???", "7"),
        ] {
            let slug = slug(7, name);
            assert_eq!(slug, expected);
            assert_eq!(leading_number(&slug), Some(7));
        }
        assert_eq!(leading_number("x-7"), None);
        assert_eq!(leading_number(""), None);
    }
}
