//! The content of an edited message: normalizing and storing it, with everything that follows from it.

use crate::api::messages::moves::plan::Move;
use crate::domain::access::messages::stream_of;
use crate::domain::alert_words::alerted;
use crate::domain::files::record::AttachmentRecord;
use crate::domain::files::references;
use crate::domain::messages;
use crate::domain::messages::create::{attributes_of, mentioned};
use crate::domain::messages::flags::bit;
use crate::domain::messages::record::{EditRecord, MessageRow, attribute};
use crate::domain::messages::{audience, notification_queue, phones, topic_sql};
use crate::domain::search::{index, purge};
use crate::domain::user_topics::auto_follow;
use crate::http::{ApiResult, Caller};
use crate::store::Tx;
use crate::types::{MessageId, UserId};
use roaring::RoaringBitmap;
use sha2::{Digest, Sha256};
use teamchat_markdown::Rendered;

/// The content of a message whose content was removed.
const DELETED: &str = "(deleted)";

/// Normalizes a new content. An empty one becomes a note.
pub fn normalize(text: &str) -> ApiResult<String> {
    if text.trim().is_empty() { Ok(DELETED.to_owned()) } else { messages::rules::content(text) }
}

/// True if a hexadecimal SHA-256 digest is that of a content.
pub fn has_digest(content: &str, expected: &str) -> bool {
    let digest = Sha256::digest(content.as_bytes());
    let digits = digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16));
    expected.to_ascii_lowercase().chars().eq(digits)
}

/// Stores a new content with its history, search index, file references, and the flags that follow from it. If the
/// message moves, its rows have moved. `participants` are those of its topic, if they are known. Returns the caller's
/// files that no message references any more.
pub fn store(
    tx: &mut Tx<'_>,
    caller: &Caller,
    (before, mv): (&MessageRow, Option<&Move>),
    (content, rendered): (&str, &Rendered),
    participants: Option<Vec<UserId>>,
) -> ApiResult<Vec<AttachmentRecord>> {
    let (id, now) = (before.id, tx.now());
    let moved = mv.map(|mv| mv.record(caller.user_id, now, &before.subject));
    let record = EditRecord {
        prev_content: Some(before.content.clone()),
        prev_rendered_content: Some(before.rendered_content.clone()),
        ..moved.unwrap_or_else(|| EditRecord::new(caller.user_id, now))
    };
    messages::insert_edit(tx, id, &record)?;
    let is_channel = before.topic_id.is_some();
    let files = references::change(tx, caller, before.sender_id, id, &rendered.attachment_path_ids)?;
    let attributes = attribute::IS_EDITED | attributes_of(rendered, is_channel, files.has_attachment);
    purge::retire_content(tx, id, content)?;
    messages::update_content(tx, id, content, &rendered.html, attributes, now)?;
    index::renew(tx, id);
    let message = messages::existing(tx, id)?;
    let audience = audience::of(tx, &message)?.audience;
    // Users who were mentioned before may have changed their policy since.
    let before_mentioned = messages::users_with_flag(tx, id, bit::MENTIONED)?;
    let mut mentioned = mentioned(tx, rendered, &audience)?;
    let mut lost = replace_flag(tx, id, bit::MENTIONED, &mentioned)?;
    mentioned.retain(|user_id| before_mentioned.binary_search(user_id).is_err());
    if let Some(stream_id) = stream_of(tx, message.recipient_id)? {
        auto_follow::after_mention(tx, &mentioned, stream_id, &message.topic())?;
        if before.has(attribute::STREAM_WILDCARD) && !rendered.mentions_stream_wildcard {
            phones::channel_messages_withdrawn(tx, stream_id, &[id])?;
        }
    }
    let mut topic_wildcard = match message.topic_id {
        Some(topic_id) if rendered.mentions_topic_wildcard => match participants {
            Some(known) => known,
            None => topic_sql::participants(tx, topic_id)?,
        },
        _ => Vec::new(),
    };
    topic_wildcard.retain(|user_id| audience.contains(*user_id));
    let before_in_topic = messages::users_with_flag(tx, id, bit::TOPIC_WILDCARD_MENTIONED)?;
    lost.extend(replace_flag(tx, id, bit::TOPIC_WILDCARD_MENTIONED, &topic_wildcard)?);
    phones::messages_withdrawn(tx, &lost, &[id])?;
    let alerted = alerted(tx, &rendered.alertable, &audience)?;
    replace_flag(tx, id, bit::HAS_ALERT_WORD, &alerted)?;
    // A wildcard mention of the channel was known to all.
    if is_channel && !before.has(attribute::STREAM_WILDCARD) {
        let known_to = before_mentioned.iter().chain(&before_in_topic).filter_map(|user_id| user_id.bit());
        notification_queue::message_edited(tx, id, caller.user_id, &known_to.collect())?;
    }
    Ok(files.detached)
}

/// Sets a flag on a message for these users, and clears it for others, which are returned.
fn replace_flag(tx: &Tx<'_>, id: MessageId, flag: i64, user_ids: &[UserId]) -> ApiResult<Vec<UserId>> {
    let mut have = messages::users_with_flag(tx, id, flag)?;
    let wanted: RoaringBitmap = user_ids.iter().filter_map(|user_id| user_id.bit()).collect();
    for user_id in user_ids {
        if have.binary_search(user_id).is_err() {
            messages::add_flags(tx, *user_id, id, flag)?;
        }
    }
    have.retain(|user_id| !user_id.is_in(&wanted));
    for user_id in &have {
        let flags = messages::flags_of(tx, *user_id, id)?;
        messages::put_flags(tx, *user_id, id, flags & !flag)?;
    }
    Ok(have)
}
