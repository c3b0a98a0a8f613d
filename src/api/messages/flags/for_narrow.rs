//! `POST /messages/flags/narrow`: adds or removes one of the caller's flags on the messages around an anchor that match
//! a narrow (feature level 155).

use crate::api::messages::fetch::MAX_MESSAGES;
use crate::api::messages::flags::{EditableFlag, FlagChange, change_all, is_add};
use crate::auth::Ctx;
use crate::domain::messages::viewer::MessageViewer;
use crate::domain::narrow;
use crate::domain::narrow::Operator;
use crate::domain::narrow::page;
use crate::domain::narrow::page::{Anchor, Range};
use crate::domain::narrow::resolve::resolve;
use crate::domain::search::index;
use crate::http::{ApiResult, Call, Caller, Reply, User};
use crate::store::Snapshot;
use crate::types::{MessageId, StreamId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Parameters of `POST /messages/flags/narrow`.
#[derive(Deserialize)]
pub struct FlagsForNarrowParams {
    /// The position in the list of messages: a message id, `newest`, `oldest` or `first_unread`.
    anchor: String,
    /// True, the default, if the message with the id `anchor` may change.
    #[serde(default)]
    include_anchor: Option<bool>,
    /// Maximum number of messages before the anchor. A range of more than 5000 messages is cut.
    num_before: i64,
    /// Maximum number of messages after the anchor. A range of more than 5000 messages is cut.
    num_after: i64,
    /// The filter: a list of terms as in `GET /messages`.
    narrow: Value,
    /// `add` or `remove`.
    op: String,
    /// The flag to add or remove: `read`, `starred` or `collapsed`.
    flag: String,
}

/// The reply to `POST /messages/flags/narrow`.
#[derive(Serialize)]
pub struct FlagsForNarrow {
    /// The number of messages in the range.
    processed_count: usize,
    /// The number of messages that changed.
    updated_count: usize,
    /// The id of the oldest message in the range; null if there are none.
    first_processed_id: Option<MessageId>,
    /// The id of the newest message in the range; null if there are none.
    last_processed_id: Option<MessageId>,
    /// True if no older messages match the narrow.
    found_oldest: bool,
    /// True if no newer messages match the narrow.
    found_newest: bool,
    /// Only when `read` is removed: the ids of the channels whose messages were ignored because the caller is not
    /// subscribed.
    #[serde(skip_serializing_if = "Option::is_none")]
    ignored_because_not_subscribed_channels: Option<Vec<StreamId>>,
}

/// `POST /messages/flags/narrow`: changes a flag of the caller on the messages of a narrow, at most 5000 in a request.
/// Clients repeat it until both ends are found. The search runs on a snapshot, and messages that the caller can no
/// longer read when they are changed are skipped.
pub async fn update_flags_for_narrow(
    call: Call<User>,
    params: FlagsForNarrowParams,
) -> ApiResult<Reply<FlagsForNarrow>> {
    let anchor = Anchor::read(Some(&params.anchor), false)?;
    let num_before = page::count("num_before", params.num_before)?;
    let num_after = page::count("num_after", params.num_after)?;
    let elements = narrow::parse(Some(&params.narrow))?;
    // The longer side is cut, or both if both are too long.
    let num_before = num_before.min(MAX_MESSAGES.saturating_sub(num_after).max(MAX_MESSAGES / 2));
    let num_after = num_after.min(MAX_MESSAGES - num_before);
    let include_anchor = params.include_anchor.unwrap_or(true);
    let range = Range { anchor, include_anchor, num_before, num_after };
    if elements.iter().any(|element| element.operator == Operator::Search) {
        index::catch_up(&call.app).await?;
    }
    let (caller, now) = (Caller::clone(&call.caller), call.app.clock.seconds());
    let find = move |snapshot: &Snapshot<'_>| {
        let viewer = MessageViewer::new(Ctx::new(snapshot, &caller, now));
        range.page(&viewer, &resolve(&viewer, &elements)?)
    };
    let page = call.app.read_in(&call.app.pools.slow_reads, Some(call.caller.quota_owner()), find).await?;
    let change = FlagChange { add: is_add(&params.op)?, flag: EditableFlag::from_client(&params.flag)? };
    let changed = change_all(&call.app, &call.caller, change, page.ids, true).await?;
    Reply::data(&FlagsForNarrow {
        processed_count: changed.readable.len(),
        updated_count: changed.ids.len(),
        first_processed_id: changed.readable.first().copied(),
        last_processed_id: changed.readable.last().copied(),
        found_oldest: page.found_oldest,
        found_newest: page.found_newest,
        ignored_because_not_subscribed_channels: changed.ignored,
    })
}
