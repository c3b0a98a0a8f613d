//! `GET /messages` and `GET /messages/{message_id}`.

use super::feed::Direction;
use super::narrow::{self, Narrow, Term, Test};
use super::plan::Plan;
use super::sight::{ALL_IDS, Sight};
use super::write::{Form, write_messages};
use crate::http::{ApiError, ApiResult, Read, Reply, User};
use crate::types::MessageId;
use serde::Deserialize;
use serde_json::Value;

/// The most messages that one request can ask for (spec, "Limits").
const MAX_MESSAGES: i64 = 5000;

/// The anchor that is newer than every message; clients test for this number.
const NEWEST: i64 = 10_000_000_000_000_000;

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
    let narrow = narrow::resolve(read, read.caller, &elements)?;
    let form = Form {
        apply_markdown: params.apply_markdown.unwrap_or(true),
        allow_empty_topic_name: params.allow_empty_topic_name,
    };
    let page = match &params.message_ids {
        Some(ids) => Page { ids: chosen(&sight, &narrow, &params, ids)?, ..Page::default() },
        None => range(&sight, &narrow, &params)?,
    };
    let messages = write_messages(&sight, &page.ids, form)?;
    let anchor = page.anchor.map_or_else(String::new, |anchor| format!("\"anchor\":{anchor},"));
    Ok(Reply::members(format!(
        "{anchor}\"found_anchor\":{},\"found_oldest\":{},\"found_newest\":{},\"history_limited\":false,\
         \"messages\":{messages}",
        page.found_anchor, page.found_oldest, page.found_newest
    )))
}

/// What a request found.
#[derive(Default)]
struct Page {
    /// Ascending.
    ids: Vec<MessageId>,
    anchor: Option<i64>,
    found_anchor: bool,
    found_oldest: bool,
    found_newest: bool,
}

/// The wanted ids that exist, that the viewer may read, and that match the narrow; ascending.
fn chosen(
    sight: &Sight<'_>,
    narrow: &Narrow,
    params: &FetchParams,
    ids: &[MessageId],
) -> ApiResult<Vec<MessageId>> {
    let excluded = [
        ("anchor", params.anchor.is_some()),
        ("include_anchor", params.include_anchor.is_some()),
        ("use_first_unread_anchor", params.use_first_unread_anchor.is_some()),
        ("num_before", params.num_before.is_some()),
        ("num_after", params.num_after.is_some()),
    ];
    let mut given: Vec<&str> = excluded.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    if !given.is_empty() {
        given.push("message_ids");
        return Err(ApiError::incompatible(&given));
    }
    if ids.len() as i64 > MAX_MESSAGES {
        return Err(too_many());
    }
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let mut found = Vec::with_capacity(ids.len());
    for id in ids {
        if matches(sight, narrow, id)? {
            found.push(id);
        }
    }
    Ok(found)
}

/// Whether one message matches a narrow and may be read.
pub fn matches(sight: &Sight<'_>, narrow: &Narrow, id: MessageId) -> ApiResult<bool> {
    Ok(!Plan::for_known(sight, narrow, id).take(id.bit(), 1)?.is_empty())
}

/// The messages around an anchor.
fn range(sight: &Sight<'_>, narrow: &Narrow, params: &FetchParams) -> ApiResult<Page> {
    let anchor = anchor(sight, narrow, params)?;
    let count = |name: &str, number: Option<i64>| match number {
        None => Err(ApiError::missing(name)),
        Some(number) if number < 0 => Err(ApiError::bad_request(format!("{name} is too small"))),
        Some(number) => Ok(number),
    };
    let num_before = count("num_before", params.num_before)?;
    let num_after = count("num_after", params.num_after)?;
    let include_anchor = params.include_anchor.unwrap_or(true);
    if num_before.saturating_add(num_after) > MAX_MESSAGES {
        return Err(too_many());
    }
    if !include_anchor && num_before > 0 && num_after > 0 {
        return Err(ApiError::bad_request("The anchor can only be excluded at an end of the range"));
    }
    let mut page = Page { anchor: Some(anchor), ..Page::default() };
    // Ids beyond the largest that a message can have are all the same place: behind the newest.
    let place = u32::try_from(anchor).unwrap_or(u32::MAX).min(ALL_IDS.end() + 1);
    if num_before > 0 {
        let start = Direction::Down.past(place).filter(|id| *id > 0);
        page.ids = Plan::new(sight, narrow, Direction::Down, num_before as usize)?
            .take(start, num_before as usize)?;
        page.ids.reverse();
    }
    page.found_oldest = anchor == 0 || (page.ids.len() as i64) < num_before;
    let mut after = Vec::new();
    if include_anchor || num_after > 0 {
        let limit = num_after as usize + 1;
        after = Plan::new(sight, narrow, Direction::Up, limit)?.take(Some(place), limit)?;
        page.found_anchor = after.first().is_some_and(|id| id.0 == anchor);
        let at_anchor = usize::from(page.found_anchor);
        after.truncate(num_after as usize + at_anchor);
        page.found_newest = anchor >= NEWEST || ((after.len() - at_anchor) as i64) < num_after;
        if page.found_anchor && !include_anchor {
            after.remove(0);
            page.found_anchor = false;
        }
    } else {
        page.found_newest = anchor >= NEWEST;
    }
    page.ids.append(&mut after);
    Ok(page)
}

/// The anchor as a number.
fn anchor(sight: &Sight<'_>, narrow: &Narrow, params: &FetchParams) -> ApiResult<i64> {
    // Clients of older servers send both; then this one counts.
    if params.use_first_unread_anchor == Some(true) {
        return first_unread(sight, narrow);
    }
    let Some(text) = &params.anchor else { return Err(ApiError::bad_request("Missing 'anchor' argument.")) };
    match text.trim_matches('"') {
        "newest" => Ok(NEWEST),
        "oldest" => Ok(0),
        "first_unread" => first_unread(sight, narrow),
        text => {
            let number: i128 = text.parse().map_err(|_| ApiError::bad_request("Invalid anchor"))?;
            Ok(i64::try_from(number.clamp(0, i128::from(NEWEST))).unwrap_or(NEWEST))
        }
    }
}

/// The oldest unread message that matches and is not muted; behind the newest if there is none.
fn first_unread(sight: &Sight<'_>, narrow: &Narrow) -> ApiResult<i64> {
    let mut unread = narrow.clone();
    unread.terms.push(Term { test: Test::Unread, negated: false });
    if narrow.channel().is_none() {
        unread.terms.push(Term { test: Test::Home, negated: false });
    }
    let first = Plan::new(sight, &unread, Direction::Up, 1)?.take(Some(*ALL_IDS.start()), 1)?;
    Ok(first.first().map_or(NEWEST, |id| id.0))
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
