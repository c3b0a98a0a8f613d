//! Rendering Markdown to HTML with the access of its author.
//!
//! The renderer is pure and asks a [`Directory`] for users, channels and files; here it is a database snapshot. Rendering
//! can take long, so requests do it with [`on_snapshot`], and jobs on the writer never do it.

use crate::app::App;
use crate::auth::{Caller, Ctx};
use crate::domain::access::messages::{MessageAccess, newest_of_topic_in};
use crate::domain::access::users::Accessible;
use crate::domain::files::thumbnails;
use crate::domain::groups::system::SystemGroup;
use crate::domain::limits::{
    MAX_LOOKED_UP_MESSAGES, MAX_RENDERED_DESCRIPTION_LENGTH, MAX_RENDERED_LENGTH,
    MAX_RENDERED_LENGTH_OF_MEMBERS,
};
use crate::domain::rows::user::UserRow;
use crate::domain::{access, channels, emoji, files, linkifiers, realm, rows, user_settings, users};
use crate::error::{ApiError, ApiResult};
use crate::store::Snapshot;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, GroupId, StreamId, Topic, UserId, fold};
use rusqlite::OptionalExtension;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;
use std::time::{Duration, Instant};
use teamchat_markdown::{
    CustomEmoji, Directory, LinkedChannel, Linkifier, MentionedGroup, MentionedUser, Rendered, UploadedFile,
    UserQuery, is_cheap, render,
};

/// References of a text that was rendered before, on another server: names, access and topics of that time. They come
/// before those of today.
#[derive(Debug, Default)]
pub struct Earlier {
    /// True if the text had no other references, so that those of today do not count.
    pub is_complete: bool,
    /// Mentioned users, with their names then; active, if they were not mentioned silently.
    pub users: Vec<MentionedUser>,
    /// Mentioned groups, likewise.
    pub groups: Vec<MentionedGroup>,
    /// Linked channels, with their names then.
    pub channels: Vec<LinkedChannel>,
    /// Linked topics: the channel, the topic, and the message of the link.
    pub topics: Vec<(i64, String, Option<i64>)>,
    /// Custom emoji: the name, and the name of the file.
    pub emoji: Vec<(String, String)>,
    /// Path ids of uploaded files with a preview.
    pub files: Vec<String>,
}

/// The organization as one author sees it.
struct Organization<'a> {
    ctx: Ctx<'a>,
    /// The author's access to channels and messages. A text can link to hundreds of them.
    access: MessageAccess<'a>,
    /// The number of messages that may still be looked at to find out which files of others the author may load.
    room: Cell<usize>,
    origin: &'a str,
    /// Set for a text that was rendered before.
    earlier: Option<&'a Earlier>,
    /// Only messages have previews of images, and emoji in place of emoticons.
    is_message: bool,
    time_for_formulas: Duration,
    /// Loaded when a text needs it, as those below.
    code_block_language: OnceCell<String>,
    translates_emoticons: OnceCell<bool>,
    /// Full names that are not ASCII, in lower case.
    other_names: OnceCell<Vec<(UserId, String)>>,
    accessible: OnceCell<Accessible>,
    linkifiers: OnceCell<Arc<[Linkifier]>>,
    /// The first failed statement: the methods of [`Directory`] cannot return it.
    failure: RefCell<Option<ApiError>>,
}

/// Runs `work`, which renders `texts`, on a snapshot. If they may take long, the work runs in the pool for rendering.
/// `user_id` is the caller; work of the server itself is not limited by user.
pub async fn on_snapshot<T: Send + 'static>(
    app: &App,
    user_id: Option<UserId>,
    texts: &[&str],
    work: impl FnOnce(&Snapshot<'_>) -> ApiResult<T> + Send + 'static,
) -> ApiResult<T> {
    // A few texts that are cheap are cheap together.
    let are_cheap = texts.len() <= 8 && texts.iter().all(|text| is_cheap(text));
    app.read_in_if(!are_cheap, &app.pools.rendering, user_id, work).await
}

/// The time in which the texts of one request are rendered. One text has limits of its own.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Bounds the time for rendering several texts in a row.
pub struct TimeLimit(Instant);

impl TimeLimit {
    /// The limit of a request that starts to render.
    pub fn start() -> Self {
        Self::start_with(None)
    }

    /// The limit of a request that starts to render, with another time.
    pub fn start_with(time: Option<Duration>) -> Self {
        Self(Instant::now() + time.unwrap_or(TIME_LIMIT))
    }

    /// Fails with 503 when the time is over. To be called before each text.
    pub fn check(&self) -> ApiResult<()> {
        if Instant::now() < self.0 { Ok(()) } else { Err(ApiError::busy()) }
    }
}

/// Renders a short message without markup, which is the same for all senders and needs no snapshot; `None` for others.
pub async fn render_plain(app: &App, content: &str) -> ApiResult<Option<Rendered>> {
    if !is_cheap(content) {
        return Ok(None);
    }
    let linkifiers = app.kept(|snapshot| linkifiers::compiled::all(snapshot)).await?;
    Ok(teamchat_markdown::render_plain(content, || &linkifiers))
}

/// Renders a message of a sender.
pub fn render_for(ctx: Ctx<'_>, origin: &str, content: &str) -> ApiResult<Rendered> {
    render_message(Organization::new(ctx, origin, None, true), content)
}

/// Renders one of several messages of a sender. When their time is over, formulas are shown as typed.
pub fn render_within(limit: &TimeLimit, ctx: Ctx<'_>, origin: &str, content: &str) -> ApiResult<Rendered> {
    let time_for_formulas = limit.0.saturating_duration_since(Instant::now());
    let organization = Organization { time_for_formulas, ..Organization::new(ctx, origin, None, true) };
    render_message(organization, content)
}

fn render_message(organization: Organization<'_>, content: &str) -> ApiResult<Rendered> {
    let is_of_administrator = organization.ctx.caller.role.is_administrator();
    let limit = if is_of_administrator { MAX_RENDERED_LENGTH } else { MAX_RENDERED_LENGTH_OF_MEMBERS };
    organization.render(content, limit)
}

/// Renders a message as it was rendered before. Without `earlier` it refers to what its sender sees today.
pub fn render_again(
    ctx: Ctx<'_>,
    origin: &str,
    earlier: Option<&Earlier>,
    content: &str,
) -> ApiResult<Rendered> {
    Organization::new(ctx, origin, earlier, true).render(content, MAX_RENDERED_LENGTH)
}

/// Renders a description as it was rendered before.
pub fn render_description_again(
    ctx: Ctx<'_>,
    origin: &str,
    earlier: Option<&Earlier>,
    text: &str,
) -> ApiResult<String> {
    let organization = Organization::new(ctx, origin, earlier, false);
    Ok(organization.render(text, MAX_RENDERED_DESCRIPTION_LENGTH)?.html)
}

/// Renders a description of a channel, a folder or a person: HTML without previews, and emoticons stay text.
pub fn render_description(ctx: Ctx<'_>, origin: &str, text: &str) -> ApiResult<String> {
    render_description_again(ctx, origin, None, text)
}

/// Renders descriptions on a snapshot, as their author sees the organization.
pub async fn render_descriptions(
    app: &App,
    caller: &Caller,
    origin: &str,
    texts: &[String],
) -> ApiResult<Vec<String>> {
    if texts.iter().all(String::is_empty) {
        return Ok(texts.to_vec());
    }
    let (now, origin) = (app.clock.seconds(), origin.to_owned());
    let (caller, sources) = (caller.clone(), texts.to_vec());
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    on_snapshot(app, Some(caller.quota_owner()), &texts, move |snapshot| {
        let limit = TimeLimit::start();
        let render = |text: &String| {
            limit.check()?;
            render_description(Ctx::new(snapshot, &caller, now), &origin, text)
        };
        sources.iter().map(render).collect()
    })
    .await
}

/// Renders one description on a snapshot, as its author sees the organization.
pub async fn render_one_description(
    app: &App,
    caller: &Caller,
    origin: &str,
    text: &str,
) -> ApiResult<String> {
    Ok(render_descriptions(app, caller, origin, &[text.to_owned()]).await?.pop().unwrap_or_default())
}

/// The newest message of a topic that a user can see.
pub fn newest_in_topic(
    access: &MessageAccess<'_>,
    stream_id: StreamId,
    topic: &str,
) -> ApiResult<Option<i64>> {
    let connection = access.connection;
    let Some(stream) = rows::channel::by_id(connection, stream_id)? else { return Ok(None) };
    let key = Topic::stored(topic.to_owned()).key();
    let Some(topic_id) = access::messages::topic(connection, stream_id, &key)? else { return Ok(None) };
    let conversation = access.channel(&stream)?;
    for range in conversation.visible.iter().rev() {
        if let Some(newest) = newest_of_topic_in(connection, topic_id, range)? {
            return Ok(Some(newest.0));
        }
    }
    Ok(None)
}

/// The refusal of a text whose HTML is too long.
fn unable_to_render() -> ApiError {
    ApiError::bad_request("Unable to render message")
}

impl<'a> Organization<'a> {
    fn new(ctx: Ctx<'a>, origin: &'a str, earlier: Option<&'a Earlier>, is_message: bool) -> Self {
        Self {
            ctx,
            access: MessageAccess::new(ctx),
            room: Cell::new(MAX_LOOKED_UP_MESSAGES),
            origin,
            earlier,
            is_message,
            time_for_formulas: Duration::MAX,
            code_block_language: OnceCell::new(),
            translates_emoticons: OnceCell::new(),
            accessible: OnceCell::new(),
            other_names: OnceCell::new(),
            linkifiers: OnceCell::new(),
            failure: RefCell::default(),
        }
    }

    fn render(self, content: &str, limit: usize) -> ApiResult<Rendered> {
        let rendered = render(content, &self);
        match self.failure.into_inner() {
            Some(failure) => Err(failure),
            None if rendered.html.len() > limit => Err(unable_to_render()),
            None => Ok(rendered),
        }
    }

    fn some<T>(&self, found: ApiResult<Option<T>>) -> Option<T> {
        found.unwrap_or_else(|error| {
            self.failure.replace(Some(error));
            None
        })
    }

    fn find_user(&self, wanted: UserQuery<'_>) -> ApiResult<Option<MentionedUser>> {
        if let Some(earlier) = self.earlier {
            let user = earlier.user(wanted);
            if user.is_some() || earlier.is_complete {
                return Ok(user.cloned());
            }
        }
        let user = match wanted {
            UserQuery::Id(id) => rows::user::by_id(&self.ctx, UserId(id))?,
            UserQuery::FullName(name) => self.find_by_name(name)?,
            UserQuery::FullNameAndId(name, id) => rows::user::by_id(&self.ctx, UserId(id))?
                .filter(|user| user.full_name.to_lowercase() == name.to_lowercase()),
        };
        let known = match &user {
            Some(user) => self.accessible()?.contains(user.user_id),
            None => true,
        };
        Ok(user.filter(|_| known).map(|user| MentionedUser {
            user_id: user.user_id.0,
            full_name: user.full_name,
            is_active: user.is_active,
        }))
    }

    /// The accessible user of a name, ignoring case. Of several, the only active one.
    fn find_by_name(&self, name: &str) -> ApiResult<Option<UserRow>> {
        let accessible = self.accessible()?;
        let mut found = users::by_full_name(&self.ctx, accessible, name)?;
        if found.is_empty() && !name.is_ascii() {
            let wanted = name.to_lowercase();
            let names = self.names_with_other_letters()?;
            let matching = names.iter().filter(|(id, known)| *known == wanted && accessible.contains(*id));
            for (user_id, _) in matching.take(2) {
                found.extend(rows::user::by_id(&self.ctx, *user_id)?);
            }
        }
        let alone = match found.as_slice() {
            [_] => true,
            [first, second] => first.is_active && !second.is_active,
            _ => false,
        };
        Ok(if alone { found.drain(..).next() } else { None })
    }

    /// The users whom the author can access.
    fn accessible(&self) -> ApiResult<&Accessible> {
        if let Some(accessible) = self.accessible.get() {
            return Ok(accessible);
        }
        let accessible = Accessible::to(&self.ctx, self.ctx.caller)?;
        Ok(self.accessible.get_or_init(|| accessible))
    }

    /// Names that are not ASCII, in lower case.
    fn names_with_other_letters(&self) -> ApiResult<&[(UserId, String)]> {
        if let Some(names) = self.other_names.get() {
            return Ok(names);
        }
        let mut names = users::with_non_ascii_names(&self.ctx)?;
        for (_, name) in &mut names {
            *name = name.to_lowercase();
        }
        Ok(self.other_names.get_or_init(|| names))
    }

    fn find_group(&self, name: &str) -> ApiResult<Option<MentionedGroup>> {
        if let Some(earlier) = self.earlier {
            let system = SystemGroup::ALL.into_iter().find(|group| group.name() == name);
            let found = earlier.groups.iter().find(|group| match system {
                Some(system) => system.id() == GroupId(group.group_id),
                None => fold(&group.name) == fold(name),
            });
            if found.is_some() || earlier.is_complete {
                return Ok(found.cloned());
            }
        }
        let group = self
            .ctx
            .prepare_cached("SELECT id, name, deactivated FROM user_group WHERE name_key = ?1")?
            .query_row([name.to_lowercase()], |row| {
                let group_id: GroupId = row.get(0)?;
                let name = match SystemGroup::with_id(group_id) {
                    Some(group) => group.display_name().to_owned(),
                    None => row.get(1)?,
                };
                Ok(MentionedGroup { group_id: group_id.0, name, is_active: !row.get::<_, bool>(2)? })
            })
            .optional()?;
        Ok(group)
    }

    fn find_channel(&self, name: &str) -> ApiResult<Option<LinkedChannel>> {
        if let Some(earlier) = self.earlier {
            let channel = earlier.channels.iter().find(|channel| fold(&channel.name) == fold(name));
            if channel.is_some() || earlier.is_complete {
                return Ok(channel.cloned());
            }
        }
        let Some(stream) = channels::by_name(&self.ctx, name)? else { return Ok(None) };
        let known = self.access.channels.can_see(&stream)?;
        Ok(known.then_some(LinkedChannel { stream_id: stream.stream_id.0, name: stream.name }))
    }

    /// A file that the sender may load.
    fn find_file(&self, path_id: &str) -> ApiResult<Option<UploadedFile>> {
        let Some(file) = files::access::by_address(&self.ctx, path_id)? else { return Ok(None) };
        let may_load = match self.earlier {
            Some(earlier) if earlier.is_complete => earlier.files.iter().any(|known| known == path_id),
            _ => {
                let mut room = self.room.get();
                let may_load = files::access::may_load_within(&self.access, &file, &mut room)?;
                self.room.set(room);
                may_load
            }
        };
        Ok(if may_load { thumbnails::shown(&self.ctx, &file)? } else { None })
    }
}

impl Earlier {
    fn user(&self, wanted: UserQuery<'_>) -> Option<&MentionedUser> {
        self.users.iter().find(|user| match wanted {
            UserQuery::Id(id) => user.user_id == id,
            UserQuery::FullName(name) => fold(&user.full_name) == fold(name),
            UserQuery::FullNameAndId(name, id) => user.user_id == id && fold(&user.full_name) == fold(name),
        })
    }
}

impl Directory for Organization<'_> {
    fn user(&self, wanted: UserQuery<'_>) -> Option<MentionedUser> {
        self.some(self.find_user(wanted))
    }

    fn group(&self, name: &str) -> Option<MentionedGroup> {
        self.some(self.find_group(name))
    }

    fn channel(&self, name: &str) -> Option<LinkedChannel> {
        self.some(self.find_channel(name))
    }

    fn newest_message_in_topic(&self, stream_id: i64, topic: &str) -> Option<i64> {
        if let Some(earlier) = self.earlier {
            let known =
                earlier.topics.iter().find(|(id, name, _)| (*id, name.as_str()) == (stream_id, topic));
            if known.is_some() || earlier.is_complete {
                return known.and_then(|(_, _, message_id)| *message_id);
            }
        }
        let newest = newest_in_topic(&self.access, StreamId(stream_id), topic);
        self.some(newest)
    }

    fn custom_emoji(&self, name: &str) -> Option<CustomEmoji> {
        let emoji = match self.earlier {
            Some(earlier) if earlier.is_complete => {
                let (_, file) = earlier.emoji.iter().find(|(known, _)| known == name)?;
                emoji::by_file(&self.ctx, name, file)
            }
            _ => emoji::active_by_name(&self.ctx, name),
        };
        self.some(emoji.map_err(Into::into))
            .map(|emoji| CustomEmoji { emoji_id: emoji.id, source_url: emoji::source_url(&emoji) })
    }

    fn uploaded_file(&self, path_id: &str) -> Option<UploadedFile> {
        self.some(self.find_file(path_id))
    }

    fn linkifiers(&self) -> &[Linkifier] {
        self.linkifiers.get_or_init(|| {
            let linkifiers = linkifiers::compiled::all(&self.ctx);
            self.some(linkifiers.map(Some)).unwrap_or_default()
        })
    }

    fn realm_url(&self) -> &str {
        self.origin
    }

    fn empty_topic_display_name(&self) -> &str {
        EMPTY_TOPIC_DISPLAY_NAME
    }

    fn default_code_block_language(&self) -> &str {
        self.code_block_language.get_or_init(|| {
            let language = realm::settings::DEFAULT_CODE_BLOCK_LANGUAGE.get(&self.ctx);
            self.some(language.map(Some)).unwrap_or_default()
        })
    }

    fn previews_media(&self) -> bool {
        self.is_message && {
            let previews = realm::settings::INLINE_IMAGE_PREVIEW.get(&self.ctx);
            self.some(previews.map(Some)).unwrap_or(false)
        }
    }

    fn translates_emoticons(&self) -> bool {
        *self.translates_emoticons.get_or_init(|| {
            let wanted = user_settings::TRANSLATE_EMOTICONS.get(&self.ctx, self.ctx.caller.user_id);
            self.is_message && self.some(wanted.map(Some)).unwrap_or(false)
        })
    }

    fn time_for_formulas(&self) -> Duration {
        self.time_for_formulas
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_texts_have_a_limit_of_time() {
        TimeLimit::start().check().unwrap();
        let over = TimeLimit(Instant::now());
        assert_eq!(over.check().unwrap_err().status(), 503);
    }
}
