//! `DELETE /realm/profile_fields/{field_id}`.

use crate::domain::profile_fields::sql;
use crate::domain::profile_values::events;
use crate::http::{Administrator, ApiResult, Reply};
use crate::store::Tx;
use serde::Deserialize;

/// Parameters of `DELETE /realm/profile_fields/{field_id}`.
#[derive(Deserialize)]
pub struct DeleteParams {
    /// Which field.
    field_id: i64,
}

/// `DELETE /realm/profile_fields/{field_id}`: the field is gone, and with it what people said.
pub fn delete_profile_field(
    tx: &mut Tx<'_>,
    _caller: &Administrator,
    params: DeleteParams,
) -> ApiResult<Reply> {
    let field = sql::find(tx, params.field_id)?;
    sql::delete(tx, field.id)?;
    events::fields_changed(tx)?;
    Ok(Reply::ok())
}
