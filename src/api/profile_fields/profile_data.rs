//! `PATCH` and `DELETE /users/me/profile_data`: what the caller says.

use crate::domain::profile_values::change;
use crate::domain::profile_values::change::ValueChange;
use crate::http::{ApiError, ApiResult, Caller, Reply, User};
use crate::store::Tx;
use serde::Deserialize;

/// Parameters of `PATCH /users/me/profile_data`.
#[derive(Deserialize)]
pub struct UpdateParams {
    /// Fields and their values from now on.
    data: Vec<ValueChange>,
}

/// `PATCH /users/me/profile_data`: sets the caller's own values.
pub fn update_profile_data(tx: &mut Tx<'_>, caller: &User, params: UpdateParams) -> ApiResult<Reply> {
    refuse_bots(caller)?;
    change::set(tx, caller, caller.user_id, &params.data)?;
    Ok(Reply::ok())
}

/// Parameters of `DELETE /users/me/profile_data`.
#[derive(Deserialize)]
pub struct RemoveParams {
    /// Which fields.
    data: Vec<i64>,
}

/// `DELETE /users/me/profile_data`: takes the caller's own values away.
pub fn remove_profile_data(tx: &mut Tx<'_>, caller: &User, params: RemoveParams) -> ApiResult<Reply> {
    refuse_bots(caller)?;
    change::remove(tx, caller, caller.user_id, &params.data)?;
    Ok(Reply::ok())
}

fn refuse_bots(caller: &Caller) -> ApiResult<()> {
    if caller.is_bot() {
        return Err(ApiError::bad_request("This endpoint does not accept bot requests."));
    }
    Ok(())
}
