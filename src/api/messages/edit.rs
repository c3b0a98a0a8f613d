//! `PATCH /messages/{message_id}`: changes a message's content.

use super::directory::render_for;
use super::events::{ContentEdit, FlagHolders, MessageEdited};
use super::flags::bit;
use super::message::{EditRecord, MessageRow, attribute};
use super::rules::{self, EditFacts};
use super::send::{attributes_of, mentioned};
use super::sight::Sight;
use super::{receivers, sql};
use crate::api::realm;
use crate::http::{ApiError, ApiResult, Call, Caller, Reply, User};
use crate::markdown::Rendered;
use crate::store::Tx;
use crate::types::{MessageId, UserId};
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
}

/// `PATCH /messages/{message_id}`.
pub async fn update_message(call: Call<User>, params: EditParams) -> ApiResult<Reply> {
    let Some(content) = &params.content else { return Err(ApiError::bad_request("Nothing to change")) };
    let now = call.app.clock.seconds();
    let draft = call
        .app
        .readers
        .read(|snapshot| {
            Sight::new(snapshot, &call.caller, now).find(params.message_id)?;
            let content =
                if content.trim().is_empty() { DELETED.to_owned() } else { rules::content(content)? };
            let rendered = render_for(snapshot, &call.caller, now, &call.info.origin, &content)?;
            Ok::<_, ApiError>(Draft { content, rendered, expected: params.prev_content_sha256 })
        })
        .await?;
    call.write(move |tx, caller| edit(tx, caller, params.message_id, &draft)).await?;
    // Files that no message holds any more; messages do not hold files yet that could be let go.
    Reply::field("detached_uploads", &[(); 0])
}

/// A new content, ready to be written.
struct Draft {
    content: String,
    rendered: Rendered,
    expected: Option<String>,
}

fn edit(tx: &mut Tx<'_>, caller: &Caller, id: MessageId, draft: &Draft) -> ApiResult<()> {
    let message = Sight::new(tx, caller, tx.now()).find(id)?;
    let facts = EditFacts {
        editing_allowed: realm::settings::get(tx, "allow_message_editing")?,
        limit_seconds: realm::settings::get(tx, "message_content_edit_limit_seconds")?,
        now: tx.now(),
    };
    rules::may_edit_content(caller, &message, facts)?;
    if draft.expected.as_ref().is_some_and(|expected| !is_digest_of(expected, &message.content)) {
        let msg = "'prev_content_sha256' value does not match the expected value.";
        return Err(ApiError::new(400, "EXPECTATION_MISMATCH", msg));
    }
    if draft.content == message.content {
        return Ok(());
    }
    write(tx, caller, &message, draft)
}

fn is_digest_of(expected: &str, content: &str) -> bool {
    let digest = Sha256::digest(content.as_bytes());
    let digits = digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16));
    expected.to_ascii_lowercase().chars().eq(digits)
}

fn write(tx: &mut Tx<'_>, caller: &Caller, message: &MessageRow, draft: &Draft) -> ApiResult<()> {
    let (id, now, rendered) = (message.id, tx.now(), &draft.rendered);
    let receivers = receivers::of(tx, message)?;
    let is_channel = receivers.stream.is_some();
    let edit = EditRecord {
        user_id: Some(caller.user_id),
        timestamp: now,
        prev_content: Some(message.content.clone()),
        prev_rendered_content: Some(message.rendered_content.clone()),
        prev_topic: None,
        topic: None,
        prev_stream: None,
        stream: None,
    };
    sql::insert_edit(tx, id, &edit)?;
    let kept = message.attributes & (attribute::HAS_REACTION | attribute::HAS_SUBMESSAGE);
    let attributes = kept | attribute::IS_EDITED | attributes_of(rendered, is_channel);
    sql::update_content(tx, id, &draft.content, &rendered.html, attributes, now)?;
    sql::put_words(tx, id, &draft.content, &message.subject)?;
    let mentioned = mentioned(tx, rendered, &receivers.audience)?;
    let topic_wildcard = match message.topic_id {
        Some(topic_id) if rendered.mentions_topic_wildcard => sql::topic_participants(tx, topic_id)?,
        _ => Vec::new(),
    };
    replace_flag(tx, id, bit::MENTIONED, &mentioned)?;
    replace_flag(tx, id, bit::TOPIC_WILDCARD_MENTIONED, &topic_wildcard)?;
    let flags = FlagHolders {
        read: &receivers::readers(tx, &receivers, message)?,
        starred: &sql::users_with_flag(tx, id, bit::STARRED)?,
        collapsed: &sql::users_with_flag(tx, id, bit::COLLAPSED)?,
        mentioned: &mentioned,
        stream_wildcard: attributes & attribute::STREAM_WILDCARD != 0,
        topic_wildcard: &topic_wildcard,
        alerted: &sql::users_with_flag(tx, id, bit::HAS_ALERT_WORD)?,
    };
    let event = MessageEdited {
        stream_id: receivers.stream.as_ref().map(|stream| stream.stream_id),
        stream_name: receivers.stream.as_ref().map(|stream| stream.name.as_str()),
        content: Some(ContentEdit {
            orig_content: &message.content,
            orig_rendered_content: &message.rendered_content,
            content: &draft.content,
            rendered_content: &rendered.html,
            is_me_message: rendered.is_me_message,
        }),
        flags,
        ..MessageEdited::new(id, std::slice::from_ref(&id), caller.user_id, now)
    };
    tx.emit(&event, receivers.audience);
    Ok(())
}

/// Makes these users, and no others, have a flag on a message.
fn replace_flag(tx: &Tx<'_>, id: MessageId, flag: i64, user_ids: &[UserId]) -> ApiResult<()> {
    for user_id in sql::users_with_flag(tx, id, flag)? {
        if !user_ids.contains(&user_id) {
            let flags = sql::flags(tx, user_id, id)?;
            sql::put_flags(tx, user_id, id, flags & !flag)?;
        }
    }
    for user_id in user_ids {
        sql::add_flags(tx, *user_id, id, flag)?;
    }
    Ok(())
}
