//! `PATCH /channel_folders`.

use crate::api::channel_folders::events;
use crate::domain::channels::folder_sql;
use crate::http::{Administrator, ApiError, ApiResult, Reply};
use crate::store::Tx;
use serde::Deserialize;

/// Parameters of `PATCH /channel_folders`.
#[derive(Deserialize)]
pub struct ReorderParams {
    /// The ids of all folders, as they are to be shown.
    order: Vec<i64>,
}

/// `PATCH /channel_folders`: another order. Ids that are no folder's do no harm.
pub fn reorder_channel_folders(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    params: ReorderParams,
) -> ApiResult<Reply> {
    let mut has_changed = false;
    for folder in folder_sql::all(tx)? {
        let place = params.order.iter().rposition(|id| *id == folder.id);
        let place = place.and_then(|place| i64::try_from(place).ok());
        let place = place.ok_or_else(|| ApiError::bad_request("Invalid order mapping."))?;
        if place != folder.order {
            folder_sql::set_position(tx, folder.id, place)?;
            has_changed = true;
        }
    }
    if has_changed {
        events::reordered(tx)?;
    }
    Ok(Reply::ok())
}
