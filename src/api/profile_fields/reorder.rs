//! `PATCH /realm/profile_fields`.

use crate::domain::profile_fields::sql;
use crate::domain::profile_values::events;
use crate::http::{Administrator, ApiError, ApiResult, Reply};
use crate::store::Tx;
use serde::Deserialize;

/// Parameters of `PATCH /realm/profile_fields`.
#[derive(Deserialize)]
pub struct ReorderParams {
    /// The ids of all fields, as they are to be shown.
    order: Vec<i64>,
}

/// `PATCH /realm/profile_fields`: another order. Ids that are no field's do no harm.
pub fn reorder_profile_fields(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    params: ReorderParams,
) -> ApiResult<Reply> {
    let mut has_changed = false;
    for field in sql::all(tx)? {
        let place = params.order.iter().rposition(|id| *id == field.id);
        let place = place.and_then(|place| i64::try_from(place).ok());
        let place = place.ok_or_else(|| ApiError::bad_request("Invalid order mapping."))?;
        if place != field.order {
            sql::set_position(tx, field.id, place)?;
            has_changed = true;
        }
    }
    if has_changed {
        events::fields_changed(tx)?;
    }
    Ok(Reply::ok())
}
