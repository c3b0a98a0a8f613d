//! `GET /messages` and `GET /messages/{message_id}`.
//!
//! - [`resolve_narrow`]: looks up what the narrow of a request names;
//! - [`pagination`]: the messages around an anchor;
//! - [`matches_narrow`]: `GET /messages/matches_narrow`.

pub mod matches_narrow;
pub mod pagination;
pub mod resolve_narrow;

use crate::api::messages::fetch::pagination::{Anchor, Page, Range};
use crate::api::messages::fetch::resolve_narrow::resolve;
use crate::domain::access::messages::ALL_IDS;
use crate::domain::messages::narrow;
use crate::domain::messages::narrow::Narrow;
use crate::domain::messages::narrow::executor::Query;
use crate::domain::messages::record::MessageRecord;
use crate::domain::messages::serialize::{MessageFormat, into_utf8, write_array, write_one};
use crate::domain::messages::viewer::MessageViewer;
use crate::http::form::Form;
use crate::http::{ApiError, ApiResult, Read, Reply, User};
use crate::types::{MessageId, distinct};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most messages that one request can ask for (spec, "Limits").
pub const MAX_MESSAGES: usize = 5000;

/// A page of messages ends when it has more bytes than this. It has fewer messages then than were asked for.
pub const MAX_PAGE_BYTES: usize = 16 << 20;

/// The most messages that are read on a thread that serves requests, and the longest text of a narrow or of a list of ids.
const MAX_QUICK_MESSAGES: usize = 500;
const MAX_QUICK_NARROW: usize = 500;

/// The longest page that is written on such a thread.
const MAX_QUICK_PAGE_BYTES: usize = 1 << 20;

/// Parameters of `GET /messages` (spec, "get messages").
#[derive(Deserialize)]
pub struct FetchParams {
    /// A message id, `newest`, `oldest` or `first_unread`.
    #[serde(default)]
    anchor: Option<String>,
    /// Whether the anchor itself may be returned.
    #[serde(default)]
    include_anchor: Option<bool>,
    /// How many before it.
    #[serde(default)]
    num_before: Option<i64>,
    /// How many after it.
    #[serde(default)]
    num_after: Option<i64>,
    /// Which messages.
    #[serde(default)]
    narrow: Option<Value>,
    /// Accepted and ignored: URLs of avatars do not depend on it.
    #[serde(default, rename = "client_gravatar")]
    _client_gravatar: Option<bool>,
    /// HTML rather than Markdown.
    #[serde(default)]
    apply_markdown: Option<bool>,
    /// These messages instead of a range.
    #[serde(default)]
    message_ids: Option<Vec<MessageId>>,
    /// The empty topic as an empty string.
    #[serde(default)]
    allow_empty_topic_name: bool,
    /// Deprecated: anchor at the first unread message, whatever `anchor` says.
    #[serde(default)]
    use_first_unread_anchor: Option<bool>,
}

/// Whether `GET /messages` may take long: it has a narrow that may, or asks for many messages.
pub fn is_slow(form: &Form) -> bool {
    let text = |name: &str| form.get(name).unwrap_or_default();
    let count = |name: &str| text(name).trim().parse::<usize>().unwrap_or(0);
    has_slow_narrow(form)
        || count("num_before").saturating_add(count("num_after")) > MAX_QUICK_MESSAGES
        || text("message_ids").len() > MAX_QUICK_NARROW
}

/// Whether the narrow of a request searches or is long. One with escapes may say anything.
pub fn has_slow_narrow(form: &Form) -> bool {
    let narrow = form.get("narrow").unwrap_or_default();
    narrow.len() > MAX_QUICK_NARROW || narrow.contains("search") || narrow.contains('\\')
}

/// The reply to `GET /messages`. It is written piece by piece.
#[derive(Serialize)]
pub struct MessagePage<'a> {
    /// The message at which the range begins; absent for messages that were asked for by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<MessageId>,
    /// Whether the message at the anchor is among the messages.
    found_anchor: bool,
    /// Whether there are no older messages.
    found_oldest: bool,
    /// Whether there are no newer messages.
    found_newest: bool,
    /// Always false: no message is kept from the caller by a plan.
    history_limited: bool,
    /// The oldest first.
    messages: Vec<MessageRecord<'a>>,
}

/// `GET /messages`.
pub fn get_messages(read: &Read<'_, User>, params: FetchParams) -> ApiResult<Reply<MessagePage<'static>>> {
    let viewer = MessageViewer::new(read, read.caller, read.app.clock.seconds());
    let elements = narrow::parse(params.narrow.as_ref())?;
    let narrow = resolve(&viewer, &elements)?;
    let format = MessageFormat {
        apply_markdown: params.apply_markdown.unwrap_or(true),
        allow_empty_topic_name: params.allow_empty_topic_name,
    };
    let mut page = match &params.message_ids {
        Some(ids) => Page::of_selected(selected(&viewer, &narrow, &params, ids)?),
        None => range(&viewer, &narrow, &params)?,
    };
    let max_bytes = if read.is_quick() { MAX_QUICK_PAGE_BYTES } else { MAX_PAGE_BYTES };
    let mut messages = Vec::new();
    loop {
        let written = write_array(&viewer, &page.ids, format, narrow.search(), max_bytes, &mut messages)?;
        if written >= page.ids.len() || messages.len() <= max_bytes {
            break;
        }
        if read.is_quick() {
            return Err(read.give_up());
        }
        // Half of what fitted, since the other messages may be larger.
        page.shorten(written.div_ceil(2))?;
        messages.clear();
    }
    let anchor = page.anchor.map_or_else(String::new, |anchor| format!("\"anchor\":{anchor},"));
    let mut members = format!(
        "{anchor}\"found_anchor\":{},\"found_oldest\":{},\"found_newest\":{},\"history_limited\":false,\"messages\":",
        page.found_anchor, page.found_oldest, page.found_newest
    )
    .into_bytes();
    members.append(&mut messages);
    Ok(Reply::members(into_utf8(members)?))
}

/// The requested messages that exist, that the viewer may read, and that match the narrow; ascending.
fn selected(
    viewer: &MessageViewer<'_>,
    narrow: &Narrow,
    params: &FetchParams,
    ids: &[MessageId],
) -> ApiResult<Vec<MessageId>> {
    let is_range = params.anchor.is_some()
        || params.include_anchor.is_some()
        || params.use_first_unread_anchor.is_some()
        || params.num_before.is_some()
        || params.num_after.is_some();
    if is_range {
        // The published error names all of them, whichever were passed.
        return Err(ApiError::incompatible(&[
            "num_before",
            "num_after",
            "anchor",
            "message_ids",
            "include_anchor",
            "use_first_unread_anchor",
        ]));
    }
    check_number(ids.len())?;
    if let Some(index) = ids.iter().position(|id| id.0 < 0) {
        return Err(ApiError::bad_request(format!("message_ids[{index}] is too small")));
    }
    let ids = distinct(ids.to_vec());
    Query::of_readable(viewer, narrow, &ids)?.take(Some(*ALL_IDS.start()), ids.len())
}

/// The messages around an anchor.
fn range(viewer: &MessageViewer<'_>, narrow: &Narrow, params: &FetchParams) -> ApiResult<Page> {
    let anchor = Anchor::read(params.anchor.as_deref(), params.use_first_unread_anchor == Some(true))?;
    let count = |name: &str, number: Option<i64>| match number {
        None => Err(ApiError::missing(name)),
        Some(number) => pagination::count(name, number),
    };
    let range = Range {
        anchor,
        include_anchor: params.include_anchor.unwrap_or(true),
        num_before: count("num_before", params.num_before)?,
        num_after: count("num_after", params.num_after)?,
    };
    check_number(range.num_before.saturating_add(range.num_after))?;
    range.page(viewer, narrow)
}

/// Refuses more messages in one request than [`MAX_MESSAGES`].
pub fn check_number(count: usize) -> ApiResult<()> {
    if count > MAX_MESSAGES {
        let msg = format!("Too many messages requested (maximum {MAX_MESSAGES}).");
        return Err(ApiError::bad_request(msg));
    }
    Ok(())
}

/// Parameters of `GET /messages/{message_id}`.
#[derive(Deserialize)]
pub struct OneParams {
    /// Which message.
    message_id: MessageId,
    /// HTML rather than Markdown.
    #[serde(default)]
    apply_markdown: Option<bool>,
    /// The empty topic as an empty string.
    #[serde(default)]
    allow_empty_topic_name: bool,
}

/// The reply to `GET /messages/{message_id}`. It is written piece by piece.
#[derive(Serialize)]
pub struct OneMessage<'a> {
    /// Markdown, whatever `apply_markdown` says.
    raw_content: &'a str,
    /// The same as in lists of messages.
    message: MessageRecord<'a>,
}

/// `GET /messages/{message_id}`: one message, and its Markdown.
pub fn get_message(read: &Read<'_, User>, params: OneParams) -> ApiResult<Reply<OneMessage<'static>>> {
    let viewer = MessageViewer::new(read, read.caller, read.app.clock.seconds());
    let message = viewer.find(params.message_id)?;
    let format = MessageFormat {
        apply_markdown: params.apply_markdown.unwrap_or(true),
        allow_empty_topic_name: params.allow_empty_topic_name,
    };
    let written = write_one(&viewer, message.id, format)?;
    let raw = serde_json::to_string(&message.content)?;
    Ok(Reply::members(format!("\"raw_content\":{raw},\"message\":{written}")))
}
