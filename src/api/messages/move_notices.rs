//! What the notification bot says of moves and of resolved topics.

use crate::api::messages::move_rules::Resolving;
use crate::api::messages::moving::Move;
use crate::domain::messages::access::Sight;
use crate::domain::messages::destination::Address;
use crate::domain::messages::quote::topic_link;
use crate::domain::messages::record::attribute;
use crate::domain::messages::{removal, sql, topic_sql};
use crate::domain::notices::{name_of, send_and_read};
use crate::domain::subscriptions::members;
use crate::domain::user_settings;
use crate::domain::user_topics::policy::VisibilityPolicy;
use crate::domain::user_topics::sql as user_topics;
use crate::http::{ApiResult, Caller};
use crate::markdown::message_url;
use crate::store::Tx;
use crate::types::UserId;
use roaring::RoaringBitmap;

/// Whoever takes back the mark of a resolved topic so soon, in seconds, takes back the notice too.
const UNDO_SECONDS: i64 = 60;

/// Which places are to hear of a move.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// `send_notification_to_old_thread`.
    pub in_old_topic: bool,
    /// `send_notification_to_new_thread`.
    pub in_new_topic: bool,
    /// Whether resolving the topic is all that the request does: only then its topic hears of that.
    pub of_resolving: bool,
}

/// Says what a move was, where that is wanted. To be called when the messages have moved. To the caller it is no news.
pub fn send(tx: &mut Tx<'_>, caller: &Caller, mv: &Move, wanted: Wanted) -> ApiResult<()> {
    let user = name_of(tx, caller)?;
    if let Some(resolving) = mv.resolving.filter(|_| wanted.of_resolving)
        && !undo(tx, caller, mv)?
    {
        say_resolved(tx, caller, mv, resolving, &user)?;
    }
    if wanted.in_new_topic && !mv.only_resolves() {
        let content = in_new_topic(mv, mv.is_whole_topic && is_alone(tx, caller, mv)?, &user);
        send_and_read(tx, new_place(mv), content, vec![caller.user_id])?;
    }
    if wanted.in_old_topic {
        let place = Address::Channel(Box::new(mv.from.clone()), mv.old_topic.clone());
        send_and_read(tx, place, in_old_topic(mv, &user), vec![caller.user_id])?;
    }
    Ok(())
}

fn say_resolved(
    tx: &mut Tx<'_>,
    caller: &Caller,
    mv: &Move,
    resolving: Resolving,
    user: &str,
) -> ApiResult<()> {
    let word = match resolving {
        Resolving::Resolved => "resolved",
        Resolving::Unresolved => "unresolved",
    };
    let content = format!("{user} has marked this topic as {word}.");
    let mut known_to = who_need_not_read(tx, mv)?;
    known_to.push(caller.user_id);
    let id = send_and_read(tx, new_place(mv), content, known_to)?;
    Ok(sql::add_attributes(tx, id, attribute::IS_RESOLVE_NOTICE)?)
}

fn in_new_topic(mv: &Move, is_whole_and_alone: bool, user: &str) -> String {
    let from = topic_link(&mv.from, mv.old_topic.as_str());
    if is_whole_and_alone {
        return format!("This topic was moved here from {from} by {user}.");
    }
    match mv.ids.len() {
        1 => {
            let url = message_url(mv.to.stream_id.0, &mv.to.name, mv.topic.as_str(), mv.named.0);
            format!("[A message]({}) was moved here from {from} by {user}.", url.trim_start_matches('/'))
        }
        count => format!("{count} messages were moved here from {from} by {user}."),
    }
}

fn in_old_topic(mv: &Move, user: &str) -> String {
    let to = topic_link(&mv.to, mv.topic.as_str());
    if mv.is_whole_topic {
        return format!("This topic was moved to {to} by {user}.");
    }
    match mv.ids.len() {
        1 => format!("A message was moved from this topic to {to} by {user}."),
        count => format!("{count} messages were moved from this topic to {to} by {user}."),
    }
}

/// The subscribers to whom a notice of a resolved topic is no news (`resolved_topic_notice_auto_read_policy`).
fn who_need_not_read(tx: &mut Tx<'_>, mv: &Move) -> ApiResult<Vec<UserId>> {
    let policies = user_topics::of_topic(tx, mv.to.stream_id, &mv.topic.key())?;
    let followers: RoaringBitmap = policies
        .into_iter()
        .filter(|(_, policy)| *policy == VisibilityPolicy::Followed)
        .filter_map(|(user_id, _)| user_id.bit())
        .collect();
    let subscribers = members::audience(tx, mv.to.stream_id)?;
    let mut known_to = Vec::new();
    for bit in subscribers.bitmap() {
        let user_id = UserId::from(bit);
        let policy: String = user_settings::RESOLVED_TOPIC_NOTICE_AUTO_READ_POLICY.get(tx, user_id)?;
        let is_news = match policy.as_str() {
            "never" => true,
            "except_followed" => followers.contains(bit),
            _ => false,
        };
        if !is_news {
            known_to.push(user_id);
        }
    }
    Ok(known_to)
}

fn new_place(mv: &Move) -> Address {
    Address::Channel(Box::new(mv.to.clone()), mv.topic.clone())
}

/// Whether the caller sees nothing in the new topic but what they moved there. What they do not see must not show.
fn is_alone(tx: &Tx<'_>, caller: &Caller, mv: &Move) -> ApiResult<bool> {
    let Some(topic_id) = sql::topic(tx, mv.to.stream_id, &mv.topic.key())? else { return Ok(true) };
    let view = Sight::new(tx, caller, tx.now()).view_of_stream(&mv.to)?;
    Ok(!topic_sql::has_others(tx, topic_id, &view.visible, &mv.id_set())?)
}

/// Deletes the notice that stands last in the topic, if it is young: the caller undoes what it tells of.
fn undo(tx: &mut Tx<'_>, caller: &Caller, mv: &Move) -> ApiResult<bool> {
    let Some(topic_id) = sql::topic(tx, mv.to.stream_id, &mv.topic.key())? else { return Ok(false) };
    let Some(last) = sql::newest_of_topic(tx, topic_id)? else { return Ok(false) };
    let Some(message) = sql::by_id(tx, last)? else { return Ok(false) };
    if !message.has(attribute::IS_RESOLVE_NOTICE) || tx.now() - message.timestamp > UNDO_SECONDS {
        return Ok(false);
    }
    removal::remove_from_channel(tx, &mv.to, mv.topic.as_str(), &[last], Some(caller.user_id))?;
    Ok(true)
}
