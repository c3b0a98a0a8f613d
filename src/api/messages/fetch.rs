//! `GET /messages` and `GET /messages/{message_id}`.

use crate::api::messages::page;
use crate::api::messages::page::{Anchor, Page, Range};
use crate::api::messages::resolve::resolve;
use crate::domain::messages::access::{ALL_IDS, Sight};
use crate::domain::messages::narrow;
use crate::domain::messages::narrow::Narrow;
use crate::domain::messages::plan::Plan;
use crate::domain::messages::serialize::{Form, in_utf8, write_found, write_messages};
use crate::http::{ApiError, ApiResult, Read, Reply, User};
use crate::types::MessageId;
use serde::Deserialize;
use serde_json::Value;

/// The most messages that one request can ask for (spec, "Limits").
pub const MAX_MESSAGES: usize = 5000;

/// Parameters of `GET /messages` (spec, "get messages").
#[derive(Deserialize)]
pub struct FetchParams {
    /// A message id, `newest`, `oldest` or `first_unread`.
    #[serde(default)]
    anchor: Option<String>,
    /// Whether the anchor itself may be answered.
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
    /// Accepted; our image addresses do not depend on it.
    #[serde(default, rename = "client_gravatar")]
    _client_gravatar: Option<bool>,
    /// HTML rather than Markdown.
    #[serde(default)]
    apply_markdown: Option<bool>,
    /// These messages, in place of a range.
    #[serde(default)]
    message_ids: Option<Vec<MessageId>>,
    /// The empty topic as an empty text.
    #[serde(default)]
    allow_empty_topic_name: bool,
    /// Deprecated: anchor at the first unread message, whatever `anchor` says.
    #[serde(default)]
    use_first_unread_anchor: Option<bool>,
}

/// `GET /messages`.
pub fn get_messages(read: &Read<'_, User>, params: FetchParams) -> ApiResult<Reply> {
    let sight = Sight::new(read, read.caller, read.app.clock.seconds());
    let elements = narrow::parse(params.narrow.as_ref())?;
    let narrow = resolve(&sight, &elements)?;
    let form = Form {
        apply_markdown: params.apply_markdown.unwrap_or(true),
        allow_empty_topic_name: params.allow_empty_topic_name,
    };
    let page = match &params.message_ids {
        Some(ids) => Page::of_chosen(chosen(&sight, &narrow, &params, ids)?),
        None => range(&sight, &narrow, &params)?,
    };
    let anchor = page.anchor.map_or_else(String::new, |anchor| format!("\"anchor\":{anchor},"));
    let mut members = format!(
        "{anchor}\"found_anchor\":{},\"found_oldest\":{},\"found_newest\":{},\"history_limited\":false,\"messages\":",
        page.found_anchor, page.found_oldest, page.found_newest
    )
    .into_bytes();
    write_found(&sight, &page.ids, form, narrow.search(), &mut members)?;
    Ok(Reply::members(in_utf8(members)?))
}

/// The wanted ids that exist, that the viewer may read, and that match the narrow; ascending.
fn chosen(
    sight: &Sight<'_>,
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
        // The published text names all of them, whichever were passed.
        return Err(ApiError::incompatible(&[
            "num_before",
            "num_after",
            "anchor",
            "message_ids",
            "include_anchor",
            "use_first_unread_anchor",
        ]));
    }
    if ids.len() > MAX_MESSAGES {
        return Err(too_many());
    }
    if let Some(index) = ids.iter().position(|id| id.0 < 0) {
        return Err(ApiError::bad_request(format!("message_ids[{index}] is too small")));
    }
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    Plan::for_readable(sight, narrow, &ids).take(Some(*ALL_IDS.start()), ids.len())
}

/// The messages around an anchor.
fn range(sight: &Sight<'_>, narrow: &Narrow, params: &FetchParams) -> ApiResult<Page> {
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
    if range.num_before.saturating_add(range.num_after) > MAX_MESSAGES {
        return Err(too_many());
    }
    range.page(sight, narrow)
}

fn too_many() -> ApiError {
    ApiError::bad_request(format!("Too many messages requested (maximum {MAX_MESSAGES})."))
}

/// Parameters of `GET /messages/{message_id}`.
#[derive(Deserialize)]
pub struct OneParams {
    /// Which message.
    message_id: MessageId,
    /// HTML rather than Markdown.
    #[serde(default)]
    apply_markdown: Option<bool>,
    /// The empty topic as an empty text.
    #[serde(default)]
    allow_empty_topic_name: bool,
}

/// `GET /messages/{message_id}`: one message, and its Markdown.
pub fn get_message(read: &Read<'_, User>, params: OneParams) -> ApiResult<Reply> {
    let sight = Sight::new(read, read.caller, read.app.clock.seconds());
    let message = sight.find(params.message_id)?;
    let form = Form {
        apply_markdown: params.apply_markdown.unwrap_or(true),
        allow_empty_topic_name: params.allow_empty_topic_name,
    };
    let written = write_messages(&sight, &[message.id], form)?;
    let written = written.trim_start_matches('[').trim_end_matches(']');
    let raw = serde_json::to_string(&message.content)?;
    Ok(Reply::members(format!("\"raw_content\":{raw},\"message\":{written}")))
}
