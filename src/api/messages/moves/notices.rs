//! The notification bot's messages about moves and resolved topics.

use crate::api::messages::moves::plan::Move;
use crate::api::messages::moves::rules::Resolving;
use crate::domain::access::channel_viewers::ChannelViewers;
use crate::domain::access::messages::MessageAccess;
use crate::domain::groups::roles::UserFilter;
use crate::domain::messages::destination::Destination;
use crate::domain::messages::record::attribute;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{delete, topic_sql};
use crate::domain::notices::{name_of, send_and_read};
use crate::domain::realm::common_language;
use crate::domain::rendering::newest_in_topic;
use crate::domain::rows::channel::StreamRow;
use crate::domain::subscriptions::members;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::{access, messages, user_settings, user_topics};
use crate::http::{ApiResult, Caller};
use crate::store::Tx;
use crate::types::{EMPTY_TOPIC_DISPLAY_NAME, Language, UserId};
use roaring::RoaringBitmap;
use teamchat_markdown::{Words, message_url};

/// Seconds within which unresolving a topic deletes the notice that it was resolved.
const UNDO_SECONDS: i64 = 60;

/// Notices that a request asks for.
#[derive(Clone, Copy, Debug)]
pub struct RequestedNotices {
    /// True if a notice goes to the old topic: `send_notification_to_old_thread`.
    pub in_old_topic: bool,
    /// True if a notice goes to the new topic: `send_notification_to_new_thread`.
    pub in_new_topic: bool,
    /// True if the request only resolves or unresolves a topic, which then gets a notice.
    pub of_resolving: bool,
}

/// Sends the requested notices of a move, after the messages have moved. They are read for the caller.
pub fn send(tx: &mut Tx<'_>, caller: &Caller, mv: &Move, requested: RequestedNotices) -> ApiResult<()> {
    let user = name_of(tx, caller)?;
    if let Some(resolving) = mv.resolving.filter(|_| requested.of_resolving)
        && !delete_recent_notice(tx, caller, mv)?
    {
        send_resolved(tx, caller, mv, resolving, &user)?;
    }
    let language = common_language(tx)?;
    if requested.in_new_topic && !mv.only_resolves() {
        let is_whole_and_alone = mv.is_whole_topic && is_alone_in_topic(tx, caller, mv)?;
        let from = topic_link(tx, caller, (&mv.from, mv.old_topic.as_str()), &mv.to)?;
        let content = in_new_topic(language, mv, is_whole_and_alone, from, &user);
        send_and_read(tx, new_location(mv), content.into(), vec![caller.user_id])?;
    }
    if requested.in_old_topic {
        let destination = Destination::Channel(Box::new(mv.from.clone()), mv.old_topic.clone());
        let to = topic_link(tx, caller, (&mv.to, mv.topic.as_str()), &mv.from)?;
        send_and_read(tx, destination, in_old_topic(language, mv, to, &user).into(), vec![caller.user_id])?;
    }
    Ok(())
}

fn send_resolved(
    tx: &mut Tx<'_>,
    caller: &Caller,
    mv: &Move,
    resolving: Resolving,
    user: &Words,
) -> ApiResult<()> {
    let language = common_language(tx)?;
    let text = match resolving {
        Resolving::Resolved => language.t("{user} has marked this topic as resolved."),
        Resolving::Unresolved => language.t("{user} has marked this topic as unresolved."),
    };
    let content = Words::filled(text, &[("user", user.clone())]).into();
    let mut readers = readers_of_resolve_notice(tx, mv)?;
    readers.push(caller.user_id);
    let id = send_and_read(tx, new_location(mv), content, readers)?;
    Ok(messages::add_attributes(tx, id, attribute::IS_RESOLVE_NOTICE)?)
}

/// A link to a topic, with the newest message there that the caller can see, for a notice in another channel. A channel
/// is not named if some readers of the notice cannot see it: a private one, for guests any other, and for visitors any that
/// is not web-public.
fn topic_link(
    tx: &Tx<'_>,
    caller: &Caller,
    (stream, topic): (&StreamRow, &str),
    shown_in: &StreamRow,
) -> ApiResult<Words> {
    if stream.stream_id != shown_in.stream_id {
        let mut viewers = ChannelViewers::load(tx, UserFilter::Everyone, tx.now())?;
        let readers = viewers.users_who_can_see(tx, shown_in)?;
        let is_hidden_from_visitors = shown_in.is_web_public && !stream.is_web_public;
        if is_hidden_from_visitors || !readers.is_subset(&viewers.users_who_can_see(tx, stream)?) {
            return Ok(Words::new(common_language(tx)?.t("another channel")));
        }
    }
    let newest = newest_in_topic(&MessageAccess::new(tx.ctx(caller)), stream.stream_id, topic)?;
    let empty = common_language(tx)?.t(EMPTY_TOPIC_DISPLAY_NAME);
    Ok(Words::default().topic((stream.stream_id.0, &stream.name), topic, newest, empty))
}

fn in_new_topic(language: Language, mv: &Move, is_whole_and_alone: bool, from: Words, user: &Words) -> Words {
    let count = i64::try_from(mv.ids.len()).unwrap_or(i64::MAX);
    let url = message_url(mv.to.stream_id.0, &mv.to.name, mv.topic.as_str(), mv.named.0);
    let message = Words::default().link(language.t("A message"), url.trim_start_matches('/'));
    let text = match count {
        _ if is_whole_and_alone => language.t("This topic was moved here from {place} by {user}."),
        1 => language.t("{message} was moved here from {place} by {user}."),
        _ => language.counted(
            "{count} messages were moved here from {place} by {user}.",
            "{count} messages were moved here from {place} by {user}.",
            count,
        ),
    };
    let count = Words::default().number(count);
    let parameters = [("message", message), ("count", count), ("place", from), ("user", user.clone())];
    Words::filled(text, &parameters)
}

fn in_old_topic(language: Language, mv: &Move, to: Words, user: &Words) -> Words {
    let count = i64::try_from(mv.ids.len()).unwrap_or(i64::MAX);
    let text = if mv.is_whole_topic {
        language.t("This topic was moved to {place} by {user}.")
    } else {
        language.counted(
            "A message was moved from this topic to {place} by {user}.",
            "{count} messages were moved from this topic to {place} by {user}.",
            count,
        )
    };
    Words::filled(text, &[("count", Words::default().number(count)), ("place", to), ("user", user.clone())])
}

/// The subscribers for whom the notice of a resolved topic counts as read (`resolved_topic_notice_auto_read_policy`).
fn readers_of_resolve_notice(tx: &mut Tx<'_>, mv: &Move) -> ApiResult<Vec<UserId>> {
    let policies = user_topics::of_topic(tx, mv.to.stream_id, &mv.topic.key())?;
    let followers: RoaringBitmap = policies
        .into_iter()
        .filter(|(_, policy)| *policy == VisibilityPolicy::Followed)
        .filter_map(|(user_id, _)| user_id.bit())
        .collect();
    let mut readers = members::audience(tx, mv.to.stream_id)?.bitmap().clone();
    let mut unread = RoaringBitmap::new();
    let mut without_value = followers.clone();
    let setting = user_settings::RESOLVED_TOPIC_NOTICE_AUTO_READ_POLICY;
    for (user_id, stored) in user_settings::list_of_users(tx, &readers, setting.name())? {
        let Some(user) = user_id.bit() else { continue };
        without_value.remove(user);
        let policy: String = setting.parse(Some(stored))?;
        if policy == "never" || policy == "except_followed" && followers.contains(user) {
            unread.insert(user);
        }
    }
    // The default is `except_followed`.
    readers -= unread | without_value;
    Ok(readers.into_iter().map(UserId::from).collect())
}

fn new_location(mv: &Move) -> Destination {
    Destination::Channel(Box::new(mv.to.clone()), mv.topic.clone())
}

/// True if the caller can see no other message in the new topic. Notices must not reveal others.
fn is_alone_in_topic(tx: &Tx<'_>, caller: &Caller, mv: &Move) -> ApiResult<bool> {
    let Some(topic_id) = access::messages::topic(tx, mv.to.stream_id, &mv.topic.key())? else {
        return Ok(true);
    };
    let view = MessageViewer::new(tx.ctx(caller)).channel(&mv.to)?;
    Ok(!topic_sql::has_others(tx, topic_id, &view.visible, &mv.id_set())?)
}

/// Deletes the notice at the end of the topic if it is recent, and returns whether it did.
fn delete_recent_notice(tx: &mut Tx<'_>, caller: &Caller, mv: &Move) -> ApiResult<bool> {
    let Some(topic_id) = access::messages::topic(tx, mv.to.stream_id, &mv.topic.key())? else {
        return Ok(false);
    };
    let Some(last) = messages::newest_of_topic(tx, topic_id)? else { return Ok(false) };
    let Some(message) = messages::by_id(tx, last)? else { return Ok(false) };
    if !message.has(attribute::IS_RESOLVE_NOTICE) || tx.now() - message.timestamp > UNDO_SECONDS {
        return Ok(false);
    }
    delete::from_channel(tx, &mv.to, mv.topic.as_str(), &[last], Some(caller.user_id))?;
    Ok(true)
}
