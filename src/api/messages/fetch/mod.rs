//! `GET /messages` and `GET /messages/{message_id}`; [`matches_narrow`] is `GET /messages/matches_narrow`.

pub mod matches_narrow;

use crate::app::App;
use crate::domain::access::messages::ALL_IDS;
use crate::domain::access::visitors;
use crate::domain::messages::record::MessageRecord;
use crate::domain::messages::serialize::{MessageFormat, into_utf8, write_array, write_one};
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::narrow;
use crate::domain::narrow::executor::Query;
use crate::domain::narrow::page;
use crate::domain::narrow::page::{Anchor, Page, Range};
use crate::domain::narrow::resolve::resolve;
use crate::domain::narrow::{Narrow, Operator};
use crate::domain::search::index;
use crate::http::form::Form;
use crate::http::{ApiError, ApiResult, Read, Reply, Visitor};
use crate::types::{MessageId, distinct};
use futures_util::future::{BoxFuture, ready};
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
    /// The position in the list of messages: a message id, `newest`, `oldest` or `first_unread`. Required unless
    /// `message_ids` is given.
    #[serde(default)]
    anchor: Option<String>,
    /// True, the default, if the message with the id `anchor` may be returned.
    #[serde(default)]
    include_anchor: Option<bool>,
    /// Maximum number of messages before the anchor. Required unless `message_ids` is given.
    #[serde(default)]
    num_before: Option<i64>,
    /// Maximum number of messages after the anchor, at most 5000 with those before. Required unless `message_ids` is
    /// given.
    #[serde(default)]
    num_after: Option<i64>,
    /// The filter: a list of at most 100 terms that all have to match. A term is an object with `operator`, `operand`
    /// and optionally `negated`, or a list of operator and operand. By default all messages of the caller.
    #[serde(default)]
    narrow: Option<Value>,
    /// Accepted and ignored: URLs of avatars do not depend on it.
    #[serde(default, rename = "client_gravatar")]
    _client_gravatar: Option<bool>,
    /// True, the default, if `content` is HTML; false for Markdown.
    #[serde(default)]
    apply_markdown: Option<bool>,
    /// The ids of messages to return, at most 5000, instead of a range. Excludes `anchor` and the parameters of ranges.
    #[serde(default)]
    message_ids: Option<Vec<MessageId>>,
    /// True to return the empty topic as an empty string, false to return its display name. False by default.
    #[serde(default)]
    allow_empty_topic_name: bool,
    /// Deprecated: use the `anchor` `first_unread`. Takes precedence over `anchor`.
    #[serde(default)]
    use_first_unread_anchor: Option<bool>,
}

/// True if `GET /messages` may be slow: it has a slow narrow, or requests many messages.
pub fn is_slow(form: &Form) -> bool {
    let text = |name: &str| form.get(name).unwrap_or_default();
    let count = |name: &str| text(name).trim().parse::<usize>().unwrap_or(0);
    has_slow_narrow(form)
        || count("num_before").saturating_add(count("num_after")) > MAX_QUICK_MESSAGES
        || text("message_ids").len() > MAX_QUICK_NARROW
}

/// True if the narrow of a request searches or is long.
pub fn has_slow_narrow(form: &Form) -> bool {
    form.get("narrow").is_some_and(|narrow| narrow.len() > MAX_QUICK_NARROW || may_search(narrow))
}

/// True if a narrow may search: it has the operator, or escapes.
fn may_search(narrow: &str) -> bool {
    narrow.contains("search") || narrow.contains('\\')
}

/// Has all words indexed before a search.
pub fn before_search<'a>(app: &'a App, form: &'a Form) -> BoxFuture<'a, ApiResult<()>> {
    match form.get("narrow") {
        Some(narrow) if may_search(narrow) => Box::pin(index::catch_up(app)),
        _ => Box::pin(ready(Ok(()))),
    }
}

/// The reply to `GET /messages`.
#[derive(Serialize)]
pub struct MessagePage<'a> {
    /// The id of the message at which the range begins; absent if the request has `message_ids`.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor: Option<MessageId>,
    /// True if the message with the id `anchor` is in the list.
    found_anchor: bool,
    /// True if no older messages match.
    found_oldest: bool,
    /// True if no newer messages match.
    found_newest: bool,
    /// Always false: the server does not limit the history.
    history_limited: bool,
    /// The messages, the oldest first.
    messages: Vec<MessageRecord<'a>>,
}

/// `GET /messages`: lists messages that match a narrow, around an anchor or by their ids. Visitors read web-public
/// channels only, and get shorter pages.
pub fn get_messages(read: &Read<'_, Visitor>, params: FetchParams) -> ApiResult<Reply<MessagePage<'static>>> {
    let viewer = MessageViewer::new(read.ctx());
    let mut elements = narrow::parse(params.narrow.as_ref())?;
    if read.caller.is_visitor() {
        visitors::check(read, read.caller)?;
        elements = narrow::of_visitor(elements)?;
        let searches = elements.iter().any(|element| element.operator == Operator::Search);
        if searches && read.app.options.rate_limit {
            read.app.rate_limiter.count_visitor_search(read.info.peer, &read.app.clock)?;
        }
    }
    let narrow = resolve(&viewer, &elements)?;
    let format = MessageFormat {
        apply_markdown: params.apply_markdown.unwrap_or(true),
        allow_empty_topic_name: params.allow_empty_topic_name,
    };
    let mut page = match &params.message_ids {
        Some(ids) => Page::of_selected(selected(&viewer, &narrow, &params, ids)?),
        None => range(&viewer, &narrow, &params)?,
    };
    let is_short = read.is_quick() || read.caller.is_visitor();
    let max_bytes = if is_short { MAX_QUICK_PAGE_BYTES } else { MAX_PAGE_BYTES };
    let mut members = Vec::new();
    loop {
        let anchor = page.anchor.map_or_else(String::new, |anchor| format!("\"anchor\":{anchor},"));
        let head = format!(
            "{anchor}\"found_anchor\":{},\"found_oldest\":{},\"found_newest\":{},\"history_limited\":false,\"messages\":",
            page.found_anchor, page.found_oldest, page.found_newest
        );
        members.extend_from_slice(head.as_bytes());
        let written = write_array(
            &viewer,
            read.snapshot(),
            &page.ids,
            format,
            narrow.search(),
            max_bytes,
            &mut members,
        )?;
        if written >= page.ids.len() || members.len() - head.len() <= max_bytes {
            break;
        }
        if read.is_quick() {
            return Err(read.abort_quick_read());
        }
        // Half of the messages that fit, because the others may be larger.
        page.shorten(written.div_ceil(2))?;
        members.clear();
    }
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
        Some(number) => page::count(name, number),
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
    /// The id of the message.
    message_id: MessageId,
    /// True, the default, if `content` is HTML; false for Markdown.
    #[serde(default)]
    apply_markdown: Option<bool>,
    /// True to return the empty topic as an empty string, false to return its display name. False by default.
    #[serde(default)]
    allow_empty_topic_name: bool,
}

/// The reply to `GET /messages/{message_id}`.
#[derive(Serialize)]
pub struct OneMessage<'a> {
    /// The content in Markdown, whatever `apply_markdown` is.
    raw_content: &'a str,
    /// The message, as in `GET /messages`.
    message: MessageRecord<'a>,
}

/// `GET /messages/{message_id}`: returns one message. Visitors get the same error for a message that does not exist and
/// one that they may not read.
pub fn get_message(read: &Read<'_, Visitor>, params: OneParams) -> ApiResult<Reply<OneMessage<'static>>> {
    let viewer = MessageViewer::new(read.ctx());
    let message = viewer.find(params.message_id).map_err(|error| match error.status() {
        400 if read.caller.is_visitor() => ApiError::not_logged_in(),
        _ => error,
    })?;
    let format = MessageFormat {
        apply_markdown: params.apply_markdown.unwrap_or(true),
        allow_empty_topic_name: params.allow_empty_topic_name,
    };
    let written = write_one(&viewer, message.id, format)?;
    let raw = serde_json::to_string(&message.content)?;
    Ok(Reply::members(format!("\"raw_content\":{raw},\"message\":{written}")))
}
