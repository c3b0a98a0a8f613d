//! `POST /messages/flags/narrow`: adds or removes one of the caller's flags on the messages around an anchor that match
//! a narrow (feature level 155).

use crate::api::messages::fetch::MAX_MESSAGES;
use crate::api::messages::fetch::pagination;
use crate::api::messages::fetch::pagination::{Anchor, Range};
use crate::api::messages::fetch::resolve_narrow::resolve;
use crate::api::messages::flags::{EditableFlag, change, is_add};
use crate::domain::messages::narrow;
use crate::domain::messages::viewer::MessageViewer;
use crate::http::{ApiResult, Reply, User};
use crate::store::Tx;
use serde::Deserialize;
use serde_json::{Value, json};

/// Parameters of `POST /messages/flags/narrow`.
#[derive(Deserialize)]
pub struct FlagsForNarrowParams {
    /// A message id, `newest`, `oldest` or `first_unread`.
    anchor: String,
    /// Whether the flag of the anchor itself may change.
    #[serde(default)]
    include_anchor: Option<bool>,
    /// How many before it.
    num_before: i64,
    /// How many after it.
    num_after: i64,
    /// Which messages.
    narrow: Value,
    /// `add` or `remove`.
    op: String,
    /// Which flag.
    flag: String,
}

/// `POST /messages/flags/narrow`. At most 5,000 messages at a time; clients repeat the request until both ends are
/// found.
pub fn update_flags_for_narrow(
    tx: &mut Tx<'_>,
    caller: &User,
    params: FlagsForNarrowParams,
) -> ApiResult<Reply> {
    let anchor = Anchor::read(Some(&params.anchor), false)?;
    let num_before = pagination::count("num_before", params.num_before)?;
    let num_after = pagination::count("num_after", params.num_after)?;
    let elements = narrow::parse(Some(&params.narrow))?;
    // The longer side is cut, or both if both are too long.
    let num_before = num_before.min(MAX_MESSAGES.saturating_sub(num_after).max(MAX_MESSAGES / 2));
    let num_after = num_after.min(MAX_MESSAGES - num_before);
    let include_anchor = params.include_anchor.unwrap_or(true);
    let range = Range { anchor, include_anchor, num_before, num_after };
    let page = {
        let viewer = MessageViewer::new(tx, caller, tx.now());
        let narrow = resolve(&viewer, &elements)?;
        range.page(&viewer, &narrow)?
    };
    let add = is_add(&params.op)?;
    let flag = EditableFlag::from_client(&params.flag)?;
    let changed = change(tx, caller, flag, add, &page.ids)?;
    let mut reply = json!({
        "processed_count": page.ids.len(),
        "updated_count": changed.ids.len(),
        "first_processed_id": page.ids.first(),
        "last_processed_id": page.ids.last(),
        "found_oldest": page.found_oldest,
        "found_newest": page.found_newest,
    });
    if let Some(ignored) = changed.ignored {
        reply["ignored_because_not_subscribed_channels"] = json!(ignored);
    }
    Reply::data(&reply)
}
