//! Rendering Markdown to HTML with what the author may see of the organization.
//!
//! The renderer is pure and asks a [`Directory`] for users, channels and files; here it is a database snapshot. Rendering
//! can take long, so requests do it with [`on_snapshot`], and jobs on the writer never do it.

use crate::app::App;
use crate::auth::{CallerKind, Ctx};
use crate::domain::access::messages::{MessageAccess, newest_of_topic_in, topic as find_topic};
use crate::domain::access::user_rows::UserRow;
use crate::domain::access::users::Accessible;
use crate::domain::access::{channel_rows, channels as access, user_rows};
use crate::domain::channels::sql as channels;
use crate::domain::files::access as files;
use crate::domain::files::thumbnails;
use crate::domain::groups::system::SystemGroup;
use crate::domain::limits::{
    MAX_RENDERED_DESCRIPTION_LENGTH, MAX_RENDERED_LENGTH, MAX_RENDERED_LENGTH_OF_MEMBERS,
};
use crate::domain::users::sql as users;
use crate::domain::{emoji, linkifiers, realm, user_settings};
use crate::http::{ApiError, ApiResult, Call, Caller};
use crate::markdown::{
    CustomEmoji, Directory, LinkedChannel, Linkifier, MentionedGroup, MentionedUser, Rendered, UploadedFile,
    UserQuery, is_cheap, render,
};
use crate::store::Snapshot;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, GroupId, StreamId, Topic, UserId};
use rusqlite::{Connection, OptionalExtension};
use std::cell::{OnceCell, RefCell};
use std::ops::Deref;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The organization as one author sees it.
struct Organization<'a> {
    connection: &'a Connection,
    caller: &'a Caller,
    now: i64,
    origin: &'a str,
    /// Only messages have previews of images, and emoji in place of emoticons.
    is_message: bool,
    /// Loaded when a text needs it, as those below.
    code_block_language: OnceCell<String>,
    translates_emoticons: OnceCell<bool>,
    /// Full names that are not ASCII, in lower case.
    other_names: OnceCell<Vec<(UserId, String)>>,
    linkifiers: OnceCell<Rc<[Linkifier]>>,
    /// The first failed statement: the methods of [`Directory`] cannot return it.
    failure: RefCell<Option<ApiError>>,
}

/// Runs `work`, which renders texts, on a snapshot. `texts` are what it renders: if that may take long, the work runs in
/// the pool for rendering. `user_id` is the caller; what the server does by itself is not limited by user.
pub async fn on_snapshot<T: Send + 'static>(
    app: &App,
    user_id: Option<UserId>,
    texts: &[&str],
    work: impl FnOnce(&Snapshot<'_>) -> ApiResult<T> + Send + 'static,
) -> ApiResult<T> {
    // A few texts that are cheap are cheap together.
    if texts.len() <= 8 && texts.iter().all(|text| is_cheap(text)) {
        app.readers.read(work).await
    } else {
        app.read_in(&app.pools.rendering, user_id, work).await
    }
}

/// The time in which the texts of one request are rendered. One text has limits of its own.
const TIME_LIMIT: Duration = Duration::from_secs(5);

/// Bounds the time for rendering several texts in a row.
pub struct TimeLimit(Instant);

impl TimeLimit {
    /// The limit of a request that begins to render.
    pub fn start() -> Self {
        Self(Instant::now() + TIME_LIMIT)
    }

    /// Fails with 503 when the time is over. To be called before each text.
    pub fn check(&self) -> ApiResult<()> {
        if Instant::now() < self.0 { Ok(()) } else { Err(ApiError::busy()) }
    }
}

/// Renders a message of a sender.
pub fn render_for(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    origin: &str,
    content: &str,
) -> ApiResult<Rendered> {
    render_with(connection, caller, now, origin, true, content)
}

/// Renders a description of a channel, a folder or a person: HTML without previews, and emoticons stay text.
pub fn render_description(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    origin: &str,
    text: &str,
) -> ApiResult<String> {
    let html = render_with(connection, caller, now, origin, false, text)?.html;
    if html.len() > MAX_RENDERED_DESCRIPTION_LENGTH { Err(unable_to_render()) } else { Ok(html) }
}

/// Renders descriptions on a snapshot, as their author sees the organization.
pub async fn render_descriptions<C>(call: &Call<C>, texts: &[String]) -> ApiResult<Vec<String>>
where
    C: CallerKind + Deref<Target = Caller>,
{
    if texts.iter().all(String::is_empty) {
        return Ok(texts.to_vec());
    }
    let (now, origin) = (call.app.clock.seconds(), call.info.origin.clone());
    let (caller, sources) = (Caller::clone(&call.caller), texts.to_vec());
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    on_snapshot(&call.app, Some(caller.accountable()), &texts, move |snapshot| {
        let limit = TimeLimit::start();
        let render = |text: &String| {
            limit.check()?;
            render_description(snapshot, &caller, now, &origin, text)
        };
        sources.iter().map(render).collect()
    })
    .await
}

/// Renders one description on a snapshot, as its author sees the organization.
pub async fn render_one_description<C>(call: &Call<C>, text: &str) -> ApiResult<String>
where
    C: CallerKind + Deref<Target = Caller>,
{
    Ok(render_descriptions(call, &[text.to_owned()]).await?.pop().unwrap_or_default())
}

/// The newest message of a topic that a user can see.
pub fn newest_in_topic(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    stream_id: StreamId,
    topic: &str,
) -> ApiResult<Option<i64>> {
    let Some(stream) = channel_rows::by_id(connection, stream_id)? else { return Ok(None) };
    let key = Topic::stored(topic.to_owned()).key();
    let Some(topic_id) = find_topic(connection, stream_id, &key)? else { return Ok(None) };
    let access = MessageAccess::new(connection, caller, now);
    let visible = access.channel(&stream)?.visible.clone();
    for range in visible.iter().rev() {
        if let Some(newest) = newest_of_topic_in(connection, topic_id, range)? {
            return Ok(Some(newest.0));
        }
    }
    Ok(None)
}

fn render_with(
    connection: &Connection,
    caller: &Caller,
    now: i64,
    origin: &str,
    is_message: bool,
    content: &str,
) -> ApiResult<Rendered> {
    let organization = Organization {
        connection,
        caller,
        now,
        origin,
        is_message,
        code_block_language: OnceCell::new(),
        translates_emoticons: OnceCell::new(),
        other_names: OnceCell::new(),
        linkifiers: OnceCell::new(),
        failure: RefCell::default(),
    };
    let rendered = render(content, &organization);
    let limit =
        if caller.role.is_administrator() { MAX_RENDERED_LENGTH } else { MAX_RENDERED_LENGTH_OF_MEMBERS };
    match organization.failure.into_inner() {
        Some(failure) => Err(failure),
        None if rendered.html.len() > limit => Err(unable_to_render()),
        None => Ok(rendered),
    }
}

/// The refusal of a text whose HTML is too long.
fn unable_to_render() -> ApiError {
    ApiError::bad_request("Unable to render message")
}

impl Organization<'_> {
    fn some<T>(&self, found: ApiResult<Option<T>>) -> Option<T> {
        found.unwrap_or_else(|error| {
            self.failure.replace(Some(error));
            None
        })
    }

    fn find_user(&self, wanted: UserQuery<'_>) -> ApiResult<Option<MentionedUser>> {
        let user = match wanted {
            UserQuery::Id(id) => user_rows::by_id(self.connection, UserId(id))?,
            UserQuery::FullName(name) => self.find_by_name(name)?,
            UserQuery::FullNameAndId(name, id) => user_rows::by_id(self.connection, UserId(id))?
                .filter(|user| user.full_name.to_lowercase() == name.to_lowercase()),
        };
        let known = match &user {
            Some(user) => Accessible::to(self.connection, self.caller)?.contains(user.user_id),
            None => true,
        };
        Ok(user.filter(|_| known).map(|user| MentionedUser {
            user_id: user.user_id.0,
            full_name: user.full_name,
            is_active: user.is_active,
        }))
    }

    /// The user of a name, upper and lower case alike. Of several, the only one that is active.
    fn find_by_name(&self, name: &str) -> ApiResult<Option<UserRow>> {
        let mut found = users::by_full_name(self.connection, name)?;
        if found.is_empty() && !name.is_ascii() {
            let wanted = name.to_lowercase();
            let names = self.names_with_other_letters()?;
            let alike = names.iter().filter(|(_, known)| *known == wanted).take(2);
            for (user_id, _) in alike {
                found.extend(user_rows::by_id(self.connection, *user_id)?);
            }
        }
        let alone = match found.as_slice() {
            [_] => true,
            [first, second] => first.is_active && !second.is_active,
            _ => false,
        };
        Ok(if alone { found.drain(..).next() } else { None })
    }

    /// Names that are not ASCII, in lower case.
    fn names_with_other_letters(&self) -> ApiResult<&[(UserId, String)]> {
        if let Some(names) = self.other_names.get() {
            return Ok(names);
        }
        let mut names = users::with_non_ascii_names(self.connection)?;
        for (_, name) in &mut names {
            *name = name.to_lowercase();
        }
        Ok(self.other_names.get_or_init(|| names))
    }

    fn find_group(&self, name: &str) -> ApiResult<Option<MentionedGroup>> {
        let group = self
            .connection
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
        let Some(stream) = channels::by_name(self.connection, name)? else { return Ok(None) };
        let known = access::has_metadata_access(Ctx::new(self.connection, self.caller, self.now), &stream)?;
        Ok(known.then_some(LinkedChannel { stream_id: stream.stream_id.0, name: stream.name }))
    }

    /// A file that the sender may load.
    fn find_file(&self, path_id: &str) -> ApiResult<Option<UploadedFile>> {
        let Some(file) = files::by_address(self.connection, path_id)? else { return Ok(None) };
        let may_load = files::may_load(self.connection, self.caller, self.now, &file)?;
        Ok(if may_load { thumbnails::shown(self.connection, &file)? } else { None })
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
        let newest = newest_in_topic(self.connection, self.caller, self.now, StreamId(stream_id), topic);
        self.some(newest)
    }

    fn custom_emoji(&self, name: &str) -> Option<CustomEmoji> {
        let emoji = emoji::sql::active_by_name(self.connection, name).map_err(Into::into);
        self.some(emoji)
            .map(|emoji| CustomEmoji { emoji_id: emoji.id, source_url: emoji::source_url(&emoji) })
    }

    fn uploaded_file(&self, path_id: &str) -> Option<UploadedFile> {
        self.some(self.find_file(path_id))
    }

    fn linkifiers(&self) -> &[Linkifier] {
        self.linkifiers.get_or_init(|| {
            let linkifiers = linkifiers::compiled::all(self.connection);
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
            let language = realm::settings::DEFAULT_CODE_BLOCK_LANGUAGE.get(self.connection);
            self.some(language.map(Some)).unwrap_or_default()
        })
    }

    fn previews_media(&self) -> bool {
        self.is_message && {
            let previews = realm::settings::INLINE_IMAGE_PREVIEW.get(self.connection);
            self.some(previews.map(Some)).unwrap_or(false)
        }
    }

    fn translates_emoticons(&self) -> bool {
        *self.translates_emoticons.get_or_init(|| {
            let wanted = user_settings::TRANSLATE_EMOTICONS.get(self.connection, self.caller.user_id);
            self.is_message && self.some(wanted.map(Some)).unwrap_or(false)
        })
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
