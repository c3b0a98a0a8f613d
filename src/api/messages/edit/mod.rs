//! `PATCH /messages/{message_id}`: changes a message's content, and moves messages to another topic or channel.
//!
//! - [`content`]: storing a new content; moves are in [`super::moves`];
//! - [`history`]: `GET /messages/{message_id}/history`.

mod content;
pub mod history;
mod html_diff;

use crate::api::messages::moves;
use crate::api::messages::moves::notices::RequestedNotices;
use crate::api::messages::moves::plan::{Move, MoveTarget};
use crate::api::messages::moves::rules::{RequestedChanges, check_request, resolves_empty_topic};
use crate::api::messages::moves::{notices, plan};
use crate::auth::Ctx;
use crate::domain::files::record::AttachmentRecord;
use crate::domain::messages::audience::Notified;
use crate::domain::messages::destination::read_topic;
use crate::domain::messages::events::{ContentEdit, FlagHolders, MessageEdited, PlaceEdit, PropagateMode};
use crate::domain::messages::flags::bit;
use crate::domain::messages::record::{MessageRow, attribute};
use crate::domain::messages::rules::{EditFacts, mentions};
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::messages::{audience, channel_summary};
use crate::domain::rendering::{on_snapshot, render_for};
use crate::domain::rows::channel::StreamRow;
use crate::domain::{messages, realm};
use crate::events::Routed;
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::store::Tx;
use crate::types::{MessageId, StreamId};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use teamchat_markdown::Rendered;

/// Parameters of `PATCH /messages/{message_id}`.
#[derive(Deserialize)]
pub struct EditParams {
    /// The id of the message to change.
    message_id: MessageId,
    /// The new content in Markdown, cut to 10,000 characters. A blank one becomes `(deleted)`.
    #[serde(default)]
    content: Option<String>,
    /// The SHA-256 digest of the content that the user edited, in hexadecimal. If the message has another content, the
    /// error is `EXPECTATION_MISMATCH`.
    #[serde(default)]
    prev_content_sha256: Option<String>,
    /// The new topic, at most 60 characters; longer ones are cut.
    #[serde(default, alias = "subject")]
    topic: Option<String>,
    /// The id of the new channel.
    #[serde(default)]
    stream_id: Option<StreamId>,
    /// The messages to move: `change_one` (the default) for this one, `change_later` for this one and later ones of its
    /// topic, `change_all` for all of its topic.
    #[serde(default)]
    propagate_mode: PropagateMode,
    /// True if the notification bot posts a notice in the old topic. False by default.
    #[serde(default)]
    send_notification_to_old_thread: bool,
    /// True if the notification bot posts a notice in the new topic. True by default.
    #[serde(default = "crate::types::default_true")]
    send_notification_to_new_thread: bool,
}

/// The reply to `PATCH /messages/{message_id}`.
#[derive(Serialize)]
pub struct EditedMessage {
    /// Files of the caller that no message links to since the edit.
    pub detached_uploads: Vec<AttachmentRecord>,
}

/// `PATCH /messages/{message_id}`: changes the content of a message, or moves messages to another topic or channel, or
/// both.
pub async fn update_message(call: Call<User>, params: EditParams) -> ApiResult<Reply<EditedMessage>> {
    let (now, origin) = (call.app.clock.seconds(), call.info.origin.clone());
    let caller = Caller::clone(&call.caller);
    let text = params.content.clone().unwrap_or_default();
    let (params, rendered) = on_snapshot(&call.app, Some(caller.quota_owner()), &[&text], move |snapshot| {
        check(Ctx::new(snapshot, &caller, now), &params)?;
        // Rendered also if it equals the stored content, which may change before the job.
        let content = params.content.as_deref().map(content::normalize).transpose()?;
        let rendered = content
            .map(|content| render_for(Ctx::new(snapshot, &caller, now), &origin, &content))
            .transpose()?;
        Ok((params, rendered))
    })
    .await?;
    let app = Arc::clone(&call.app);
    let job = move |tx: &mut Tx<'_>, caller: &User| {
        let edit = check(tx.ctx(caller), &params)?;
        if let Some(cost) = edit.mv.as_ref().and_then(|mv| mv.cost) {
            app.rate_limiter.count_moved(caller.quota_owner(), cost, &app.clock)?;
        }
        apply(tx, caller, &edit, rendered.as_ref(), &params)
    };
    let detached_uploads = call.write(job).await?;
    Reply::data(&EditedMessage { detached_uploads })
}

/// A permitted edit.
struct Edit {
    message: MessageRow,
    /// The message's channel.
    stream: Option<StreamRow>,
    /// A new content, normalized.
    content: Option<String>,
    /// The move, if messages change topic or channel.
    mv: Option<Move>,
}

/// Determines the changes of a request, and checks the caller's permissions.
fn check(ctx: Ctx<'_>, params: &EditParams) -> ApiResult<Edit> {
    let (message, stream) = MessageViewer::new(ctx).find_to_change(params.message_id)?;
    if params.content.is_some() {
        let facts = EditFacts {
            editing_allowed: realm::settings::ALLOW_MESSAGE_EDITING.get(&ctx)?,
            limit_seconds: realm::settings::MESSAGE_CONTENT_EDIT_LIMIT_SECONDS.get(&ctx)?,
            now: ctx.now,
        };
        messages::rules::check_may_edit_content(ctx.caller, &message, facts)?;
    }
    let requested = RequestedChanges {
        content: params.content.is_some(),
        topic: params.topic.is_some(),
        stream: params.stream_id.is_some(),
        propagate_mode: params.propagate_mode,
        is_channel_message: stream.is_some(),
        is_widget: message.has(attribute::HAS_SUBMESSAGE),
    };
    check_request(requested)?;
    if params.topic.as_deref().is_some_and(resolves_empty_topic) {
        return Err(ApiError::bad_request("General chat cannot be marked as resolved"));
    }
    let topic = params.topic.as_deref().map(read_topic).transpose()?;
    let topic = topic.filter(|topic| topic.as_str() != message.subject);
    let here = stream.as_ref().map(|stream| stream.stream_id);
    let stream_id = params.stream_id.filter(|stream_id| Some(*stream_id) != here);
    // A topic or channel that stays the same does not count as requested.
    check_request(RequestedChanges { topic: topic.is_some(), stream: stream_id.is_some(), ..requested })?;
    // A request that only moves is checked too.
    if params
        .prev_content_sha256
        .as_ref()
        .is_some_and(|expected| !content::has_digest(&message.content, expected))
    {
        let msg = "'prev_content_sha256' value does not match the expected value.";
        return Err(ApiError::new(400, "EXPECTATION_MISMATCH", msg));
    }
    let content = params.content.as_deref().map(content::normalize).transpose()?;
    let content = content.filter(|content| *content != message.content);
    let mv = match &stream {
        Some(stream) if topic.is_some() || stream_id.is_some() => {
            let target = MoveTarget { topic, stream_id, propagate_mode: params.propagate_mode };
            Some(plan::plan(ctx, (&message, stream), &target)?)
        }
        _ => None,
    };
    Ok(Edit { message, stream, content, mv })
}

/// Applies an edit and emits its events. Returns the caller's files that no message references any more.
fn apply(
    tx: &mut Tx<'_>,
    caller: &Caller,
    edit: &Edit,
    rendered: Option<&Rendered>,
    params: &EditParams,
) -> ApiResult<Vec<AttachmentRecord>> {
    let content = edit.content.as_deref().zip(rendered);
    let mut participants = None;
    if let Some((_, rendered)) = content {
        let name = edit.message.topic();
        let topic = edit.stream.as_ref().map(|stream| (stream.stream_id, &name));
        participants = mentions::check(tx.ctx(caller), topic, rendered)?;
        if let Some(mv) = &edit.mv {
            // Mentions refer to the new topic.
            mentions::check(tx.ctx(caller), Some((mv.to.stream_id, &mv.topic)), rendered)?;
            participants = None;
        }
    }
    if content.is_none() && edit.mv.is_none() {
        return Ok(Vec::new());
    }
    let id = edit.message.id;
    let summaries = edit.mv.as_ref().map(|mv| load_summaries(tx, mv)).transpose()?;
    let skip_history_of = content.map(|_| id);
    let notified = edit.mv.as_ref().map(|mv| moves::apply(tx, caller, mv, skip_history_of)).transpose()?;
    let detached = match content {
        Some((content, rendered)) => {
            content::store(tx, caller, (&edit.message, edit.mv.as_ref()), (content, rendered), participants)?
        }
        None => Vec::new(),
    };
    emit(tx, caller, edit, content, notified)?;
    let Some((mv, (old_summary, new_summary))) = edit.mv.as_ref().zip(summaries) else { return Ok(detached) };
    channel_summary::emit_if_changed(tx, &mv.from, old_summary)?;
    if mv.changes_stream() {
        channel_summary::emit_if_changed(tx, &mv.to, new_summary)?;
    }
    let requested = RequestedNotices {
        in_old_topic: params.send_notification_to_old_thread,
        in_new_topic: params.send_notification_to_new_thread,
        of_resolving: mv.only_resolves() && content.is_none(),
    };
    notices::send(tx, caller, mv, requested)?;
    Ok(detached)
}

/// The summaries of the old and the new channel of a move.
fn load_summaries(tx: &Tx<'_>, mv: &Move) -> ApiResult<(channel_summary::Summary, channel_summary::Summary)> {
    Ok((channel_summary::of(tx, &mv.from)?, channel_summary::of(tx, &mv.to)?))
}

/// Emits an edit: to the users in `notified` the move, with the messages that they know; and to the users who can see the
/// named message its content.
fn emit(
    tx: &mut Tx<'_>,
    caller: &Caller,
    edit: &Edit,
    content: Option<(&str, &Rendered)>,
    notified: Option<Vec<Notified>>,
) -> ApiResult<()> {
    let named = edit.message.id;
    let notified = match notified {
        Some(notified) => notified,
        None => {
            let message = messages::existing(tx, named)?;
            vec![(vec![named], audience::of(tx, &message)?.audience)]
        }
    };
    let stream_now = edit.mv.as_ref().map(|mv| &mv.to).or(edit.stream.as_ref());
    for (ids, audience) in notified {
        // Users who do not know the named message get the first that they know.
        let known = ids.iter().find(|id| **id == named).or(ids.first());
        let Some(id) = known.copied() else { continue };
        let message = messages::existing(tx, id)?;
        // A message can mention thousands.
        let flagged = messages::flags_by_user(tx, id)?;
        let with = |mask: i64| {
            let holders = flagged.iter().filter(|(_, flags)| flags & mask != 0);
            holders.map(|(user_id, _)| *user_id).collect::<Vec<_>>()
        };
        let flags = FlagHolders {
            read: audience::readers(tx, &audience, stream_now, &message)?,
            starred: with(bit::STARRED),
            collapsed: with(bit::COLLAPSED),
            mentioned: with(bit::MENTIONED),
            stream_wildcard: message.has(attribute::STREAM_WILDCARD),
            topic_wildcard: with(bit::TOPIC_WILDCARD_MENTIONED),
            alerted: with(bit::HAS_ALERT_WORD),
        };
        let event = MessageEdited {
            stream_id: edit.stream.as_ref().map(|stream| stream.stream_id),
            stream_name: edit.stream.as_ref().map(|stream| stream.name.clone()),
            place: edit.mv.as_ref().map(move_of),
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

fn move_of(mv: &Move) -> PlaceEdit {
    PlaceEdit {
        new_stream_id: mv.changes_stream().then_some(mv.to.stream_id),
        propagate_mode: mv.propagate_mode,
        orig_subject: mv.old_topic.as_str().to_owned(),
        subject: mv.changes_topic().then(|| mv.topic.as_str().to_owned()),
        topic_links: mv.changes_topic().then(|| mv.topic_links.clone()),
    }
}
