//! `PATCH /messages/{message_id}`: changes a message's content, and moves messages to another topic or channel.

use crate::api::messages::move_notices::Wanted;
use crate::api::messages::move_rules::{Asked, check_asked, resolves_empty_topic};
use crate::api::messages::moving::{Destination, Move};
use crate::api::messages::{move_notices, moved, moving};
use crate::domain::access::channel_rows::StreamRow;
use crate::domain::alert_words::alerted;
use crate::domain::files::record::AttachmentRecord;
use crate::domain::messages::access::Sight;
use crate::domain::messages::create::{attributes_of, mentioned};
use crate::domain::messages::destination::read_topic;
use crate::domain::messages::events::{ContentEdit, FlagHolders, MessageEdited, PlaceEdit, PropagateMode};
use crate::domain::messages::flags::bit;
use crate::domain::messages::receivers::Told;
use crate::domain::messages::record::{EditRecord, MessageRow, attribute};
use crate::domain::messages::render_context::render_for;
use crate::domain::messages::rules::EditFacts;
use crate::domain::messages::search::index;
use crate::domain::messages::{
    channel_summary, file_references, mention_rules, receivers, rules, sql, topic_sql,
};
use crate::domain::realm;
use crate::domain::user_topics::auto_follow;
use crate::events::Routed;
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::markdown::Rendered;
use crate::store::Tx;
use crate::types::{MessageId, StreamId, UserId};
use roaring::RoaringBitmap;
use rusqlite::Connection;
use serde::Deserialize;
use sha2::{Digest, Sha256};

/// What stands in place of a content that was edited away.
const DELETED: &str = "(deleted)";

/// Parameters of `PATCH /messages/{message_id}`.
#[derive(Deserialize)]
pub struct EditParams {
    /// Which message.
    message_id: MessageId,
    /// Markdown.
    #[serde(default)]
    content: Option<String>,
    /// SHA-256 of the content that the editor saw, in hexadecimal digits: another edit in between is refused.
    #[serde(default)]
    prev_content_sha256: Option<String>,
    /// Another topic.
    #[serde(default, alias = "subject")]
    topic: Option<String>,
    /// Another channel.
    #[serde(default)]
    stream_id: Option<StreamId>,
    /// Which messages go along: `change_one`, `change_later` or `change_all`.
    #[serde(default)]
    propagate_mode: PropagateMode,
    /// Whether the old topic hears where the messages went.
    #[serde(default)]
    send_notification_to_old_thread: bool,
    /// Whether the new topic hears where they came from.
    #[serde(default = "yes")]
    send_notification_to_new_thread: bool,
}

fn yes() -> bool {
    true
}

/// `PATCH /messages/{message_id}`.
pub async fn update_message(call: Call<User>, params: EditParams) -> ApiResult<Reply> {
    let now = call.app.clock.seconds();
    let origin = call.info.origin.clone();
    let rendered = call
        .app
        .readers
        .read(|snapshot| {
            let edit = check(snapshot, &call.caller, now, &params)?;
            let content = edit.content.as_deref();
            content.map(|content| render_for(snapshot, &call.caller, now, &origin, content)).transpose()
        })
        .await?;
    let job = move |tx: &mut Tx<'_>, caller: &User| {
        let edit = check(tx, caller, tx.now(), &params)?;
        // It was rendered before, unless the content became another one only now.
        let rendered = match (&edit.content, rendered) {
            (Some(content), None) => Some(render_for(tx, caller, tx.now(), &origin, content)?),
            (_, rendered) => rendered,
        };
        apply(tx, caller, &edit, rendered.as_ref(), &params)
    };
    let detached_uploads = call.write(job).await?;
    Reply::field("detached_uploads", &detached_uploads)
}

/// An edit that the caller may make.
struct Edit {
    message: MessageRow,
    /// The message's channel.
    stream: Option<StreamRow>,
    /// A new content, ready to be written.
    content: Option<String>,
    /// Where messages go.
    mv: Option<Move>,
}

/// Finds out what a request would change, and whether the caller may.
fn check(connection: &Connection, caller: &Caller, now: i64, params: &EditParams) -> ApiResult<Edit> {
    let (message, stream) = Sight::new(connection, caller, now).find_to_change(params.message_id)?;
    if params.content.is_some() {
        let facts = EditFacts {
            editing_allowed: realm::settings::ALLOW_MESSAGE_EDITING.get(connection)?,
            limit_seconds: realm::settings::MESSAGE_CONTENT_EDIT_LIMIT_SECONDS.get(connection)?,
            now,
        };
        rules::may_edit_content(caller, &message, facts)?;
    }
    let asked = Asked {
        content: params.content.is_some(),
        topic: params.topic.is_some(),
        stream: params.stream_id.is_some(),
        propagate_mode: params.propagate_mode,
        is_channel_message: stream.is_some(),
        is_widget: message.has(attribute::HAS_SUBMESSAGE),
    };
    check_asked(asked)?;
    if params.topic.as_deref().is_some_and(resolves_empty_topic) {
        return Err(ApiError::bad_request("General chat cannot be marked as resolved"));
    }
    let topic = match &params.topic {
        Some(text) => Some(read_topic(text)?).filter(|topic| topic.as_str() != message.subject),
        None => None,
    };
    let here = stream.as_ref().map(|stream| stream.stream_id);
    let stream_id = params.stream_id.filter(|stream_id| Some(*stream_id) != here);
    // What stays as it is was not asked for.
    check_asked(Asked { topic: topic.is_some(), stream: stream_id.is_some(), ..asked })?;
    // Also of a request that only moves: whoever sends the digest relies on what they saw.
    if params.prev_content_sha256.as_ref().is_some_and(|expected| !is_digest_of(expected, &message.content)) {
        let msg = "'prev_content_sha256' value does not match the expected value.";
        return Err(ApiError::new(400, "EXPECTATION_MISMATCH", msg));
    }
    let content = match &params.content {
        Some(text) => Some(new_content(text)?).filter(|content| *content != message.content),
        None => None,
    };
    let mv = match &stream {
        Some(stream) if topic.is_some() || stream_id.is_some() => {
            let destination = Destination { topic, stream_id, propagate_mode: params.propagate_mode };
            Some(moving::plan(connection, caller, now, (&message, stream), &destination)?)
        }
        _ => None,
    };
    Ok(Edit { message, stream, content, mv })
}

/// The content to be written. One that was taken away leaves a word in its place.
fn new_content(text: &str) -> ApiResult<String> {
    if text.trim().is_empty() { Ok(DELETED.to_owned()) } else { rules::content(text) }
}

fn is_digest_of(expected: &str, content: &str) -> bool {
    let digest = Sha256::digest(content.as_bytes());
    let digits = digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16));
    expected.to_ascii_lowercase().chars().eq(digits)
}

/// Writes an edit and tells everybody. Answers the caller's files that nothing links to any more.
fn apply(
    tx: &mut Tx<'_>,
    caller: &Caller,
    edit: &Edit,
    rendered: Option<&Rendered>,
    params: &EditParams,
) -> ApiResult<Vec<AttachmentRecord>> {
    let content = edit.content.as_deref().zip(rendered);
    let mut took_part = None;
    if let Some((_, rendered)) = content {
        // Where the message is before it moves.
        let topic = edit.message.topic();
        let place = edit.stream.as_ref().map(|stream| (stream.stream_id, &topic));
        took_part =
            mention_rules::check(tx, caller, tx.now(), place, rendered)?.filter(|_| edit.mv.is_none());
    }
    if content.is_none() && edit.mv.is_none() {
        return Ok(Vec::new());
    }
    let id = edit.message.id;
    let first = edit.mv.as_ref().map(|mv| summaries(tx, mv)).transpose()?;
    let told = match &edit.mv {
        Some(mv) => Some(moved::carry_out(tx, caller, mv, content.map(|_| id))?),
        None => None,
    };
    let detached = match content {
        Some((content, rendered)) => write_content(tx, caller, edit, (content, rendered), took_part)?,
        None => Vec::new(),
    };
    emit(tx, caller, edit, content, told)?;
    let Some((mv, (first_in_old, first_in_new))) = edit.mv.as_ref().zip(first) else { return Ok(detached) };
    channel_summary::tell_if_changed(tx, &mv.from, first_in_old)?;
    if mv.changes_stream() {
        channel_summary::tell_if_changed(tx, &mv.to, first_in_new)?;
    }
    let wanted = Wanted {
        in_old_topic: params.send_notification_to_old_thread,
        in_new_topic: params.send_notification_to_new_thread,
        of_resolving: mv.only_resolves() && content.is_none(),
    };
    move_notices::send(tx, caller, mv, wanted)?;
    Ok(detached)
}

/// What the records of the channels of a move tell of their messages.
fn summaries(tx: &Tx<'_>, mv: &Move) -> ApiResult<(channel_summary::Summary, channel_summary::Summary)> {
    Ok((channel_summary::of(tx, &mv.from)?, channel_summary::of(tx, &mv.to)?))
}

/// Writes a new content with its history, its words, the files it links to and the flags that follow from it. The
/// message has moved already. `took_part` is who took part in its topic, if that is known. Answers the caller's files
/// that nothing links to any more.
fn write_content(
    tx: &mut Tx<'_>,
    caller: &Caller,
    edit: &Edit,
    (content, rendered): (&str, &Rendered),
    took_part: Option<Vec<UserId>>,
) -> ApiResult<Vec<AttachmentRecord>> {
    let (before, id, now) = (&edit.message, edit.message.id, tx.now());
    let moved = edit.mv.as_ref().map(|mv| mv.record(caller.user_id, now, &before.subject));
    let record = EditRecord {
        prev_content: Some(before.content.clone()),
        prev_rendered_content: Some(before.rendered_content.clone()),
        ..moved.unwrap_or_else(|| EditRecord::new(caller.user_id, now))
    };
    sql::insert_edit(tx, id, &record)?;
    let is_channel = edit.stream.is_some();
    let files = file_references::change(tx, caller, before.sender_id, id, &rendered.attachment_path_ids)?;
    let attributes = attribute::IS_EDITED | attributes_of(rendered, is_channel, files.has_attachment);
    sql::update_content(tx, id, content, &rendered.html, attributes, now)?;
    index::renew(tx, id);
    let message = sql::by_id(tx, id)?
        .ok_or_else(|| ApiError::internal("the message that is being edited has no row"))?;
    let audience = receivers::of(tx, &message)?.audience;
    // Who was mentioned before has decided about the topic since.
    let before_mentioned = sql::users_with_flag(tx, id, bit::MENTIONED)?;
    let mut mentioned = mentioned(tx, rendered, &audience)?;
    replace_flag(tx, id, bit::MENTIONED, &mentioned)?;
    mentioned.retain(|user_id| before_mentioned.binary_search(user_id).is_err());
    if let Some(stream_id) = sql::stream_of(tx, message.recipient_id)? {
        auto_follow::after_mention(tx, &mentioned, stream_id, &message.topic())?;
    }
    let mut topic_wildcard = match message.topic_id {
        Some(topic_id) if rendered.mentions_topic_wildcard => match took_part {
            Some(known) => known,
            None => topic_sql::participants(tx, topic_id)?,
        },
        _ => Vec::new(),
    };
    topic_wildcard.retain(|user_id| audience.contains(*user_id));
    replace_flag(tx, id, bit::TOPIC_WILDCARD_MENTIONED, &topic_wildcard)?;
    let alerted = alerted(tx, &rendered.text, &audience)?;
    replace_flag(tx, id, bit::HAS_ALERT_WORD, &alerted)?;
    Ok(files.detached)
}

/// Makes these users, and no others, have a flag on a message.
fn replace_flag(tx: &Tx<'_>, id: MessageId, flag: i64, user_ids: &[UserId]) -> ApiResult<()> {
    let have = sql::users_with_flag(tx, id, flag)?;
    let wanted: RoaringBitmap = user_ids.iter().filter_map(|user_id| user_id.bit()).collect();
    for user_id in &have {
        if !user_id.bit().is_some_and(|bit| wanted.contains(bit)) {
            let flags = sql::flags(tx, *user_id, id)?;
            sql::put_flags(tx, *user_id, id, flags & !flag)?;
        }
    }
    for user_id in user_ids {
        if have.binary_search(user_id).is_err() {
            sql::add_flags(tx, *user_id, id, flag)?;
        }
    }
    Ok(())
}

/// Tells of an edit: those in `told` of the move, each of the messages that they know of, and those who can see the
/// message that was named of its content.
fn emit(
    tx: &mut Tx<'_>,
    caller: &Caller,
    edit: &Edit,
    content: Option<(&str, &Rendered)>,
    told: Option<Vec<Told>>,
) -> ApiResult<()> {
    let named = edit.message.id;
    let told = match told {
        Some(told) => told,
        None => {
            let message = sql::by_id(tx, named)?
                .ok_or_else(|| ApiError::internal("the message that is being edited has no row"))?;
            vec![(vec![named], receivers::of(tx, &message)?.audience)]
        }
    };
    let stream_now = edit.mv.as_ref().map(|mv| &mv.to).or(edit.stream.as_ref());
    for (ids, audience) in told {
        // To those who do not know of the message that was named, the first that they know is as good.
        let known = ids.iter().find(|id| **id == named).or(ids.first());
        let Some(id) = known.copied() else { continue };
        let message = sql::by_id(tx, id)?
            .ok_or_else(|| ApiError::internal("the message that is being edited has no row"))?;
        let flags = FlagHolders {
            read: receivers::readers(tx, &audience, stream_now, &message)?,
            starred: sql::users_with_flag(tx, id, bit::STARRED)?,
            collapsed: sql::users_with_flag(tx, id, bit::COLLAPSED)?,
            mentioned: sql::users_with_flag(tx, id, bit::MENTIONED)?,
            stream_wildcard: message.has(attribute::STREAM_WILDCARD),
            topic_wildcard: sql::users_with_flag(tx, id, bit::TOPIC_WILDCARD_MENTIONED)?,
            alerted: sql::users_with_flag(tx, id, bit::HAS_ALERT_WORD)?,
        };
        let event = MessageEdited {
            stream_id: edit.stream.as_ref().map(|stream| stream.stream_id),
            stream_name: edit.stream.as_ref().map(|stream| stream.name.clone()),
            place: edit.mv.as_ref().map(place_of),
            content: content.filter(|_| id == named).map(|(content, rendered)| ContentEdit {
                orig_content: edit.message.content.clone(),
                orig_rendered_content: edit.message.rendered_content.clone(),
                content: content.to_owned(),
                rendered_content: rendered.html.clone(),
                is_me_message: rendered.is_me_message,
            }),
            ..MessageEdited::new(id, ids, caller.user_id, tx.now())
        };
        tx.emit(Routed { event, routing: flags }, audience);
    }
    Ok(())
}

fn place_of(mv: &Move) -> PlaceEdit {
    PlaceEdit {
        new_stream_id: mv.changes_stream().then_some(mv.to.stream_id),
        propagate_mode: mv.propagate_mode,
        orig_subject: mv.old_topic.as_str().to_owned(),
        subject: mv.changes_topic().then(|| mv.topic.as_str().to_owned()),
        topic_links: mv.changes_topic().then(|| mv.topic_links.clone()),
    }
}
